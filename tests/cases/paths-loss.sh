#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: link 1 loses packets, no request fails and the path is there after
# vms: 2
# uses: ulp
# timeout: 150
# allow-log: mr->lkey .*not free
# variant: 0.2-percent when=check-long fault="loss 0.2%" seconds=60
# variant: 1-percent when=check-long fault="loss 1%" seconds=15
# variant: 1-percent-peer when=check-long fault="loss 1%" seconds=15 modules="client=peer server=peer"
#
# rxe repeats local operations with what it sends again, and then some queue
# pairs die or fall silent; requests move to the other path then.

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh

begin_fault()
{
	# shellcheck disable=SC2086 # words
	tc qdisc replace dev eth1 root netem limit 1000 $fault
}

end_fault()
{
	tc -s qdisc show dev eth1 >/run/qdisc
	tc qdisc replace dev eth1 root pfifo limit 1000
}

dropped()
{
	sed -n 's/.*dropped \([0-9]*\).*/\1/p' /run/qdisc | head -n 1
}

server()
{
	modprobe sch_netem
	start_links 2
	load rtrs-server sess_queue_depth=64
	heartbeat 500 3
	load rtrs-test-server
	listen $port
	tell listening yes
	obey
	wait_for_sessions 1 1
	assert_server
}

# Both paths are used all the time that they are there.
client()
{
	local path end

	ask listening
	modprobe sch_netem
	start_links 2
	load rtrs-test-client
	heartbeat 500 3
	open_session loss path=ip:10.0.1.1 delay=1 attempts=-1
	path=$(path_of loss 10.0.1.2 10.0.1.1)
	echo rr >$clt_sysfs/loss/mpath_policy
	start_requests loss depth=8 threads=2 dir=any con=any size=1..20000
	goes_on loss
	cat $clt/loss/pause
	begin_fault
	remote begin_fault
	end=$(($(uptime_cs) + seconds * 100))
	while [ "$(uptime_cs)" -lt $end ]; do
		goes_on loss
	done
	end_fault
	metric requests "$(result loss confirmed)"
	metric longest_ms "$(cat $clt/loss/pause)"
	metric lost_packets "$(dropped)"
	metric paths_lost "$(cut -d ' ' -f 1 "$path/stats/reconnects")"
	remote end_fault
	wait_for 60 state_is "$path" connected
	goes_on loss
	stop_requests loss
	assert_eq "$(total_inflight loss)" 0 "in flight when idle"
	assert_eq "$(value link_down $clt/loss/state)" 0 "link_down"
	close_session loss
	remote_end
}
