#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: packets take as long as two heartbeats, and the path stays up
# vms: 2
# uses: ulp
# timeout: 90
# variant: client side=client
# variant: server side=server
#
# The delay is below the time after which rxe sends again, about half a second.
# With so little on its way at a time, the send queues grow longer than the
# peer may be silent; but they move.

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh

# Any other change loses packets, or overtakes some.
prepare_delay()
{
	modprobe sch_netem
	start_rxe
	tc qdisc replace dev eth0 root netem limit 10000
}

begin_delay()
{
	tc qdisc change dev eth0 root netem limit 10000 delay 200ms
}

server()
{
	prepare_delay
	load rtrs-server always_invalidate=N sess_queue_depth=64
	heartbeat 100 5
	load rtrs-test-server
	listen $port
	tell listening yes
	obey
	assert_server
}

client()
{
	local end

	ask listening
	prepare_delay
	load rtrs-test-client
	heartbeat 100 5
	open_session delay attempts=0
	start_requests delay depth=32 threads=2 dir=any con=any size=1..60000
	goes_on delay
	case $side in
	client) begin_delay ;;
	server) remote begin_delay ;;
	esac
	end=$(($(uptime_cs) + 1500))
	while [ "$(uptime_cs)" -lt $end ]; do
		goes_on delay
	done
	metric longest_ms "$(cat $clt/delay/pause)"
	stop_requests delay
	assert_eq "$(value link_down $clt/delay/state)" 0 "link_down"
	close_session delay
	remote_end
}
