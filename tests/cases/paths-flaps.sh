#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: two links lose their paths in turn, no request fails or waits for long
# vms: 2
# uses: ulp
# when: check-long
# timeout: 240
# allow-log: mr->lkey .*not free
# variant: secure flaps=11 always_invalidate=Y
# variant: secure-long when=check-long timeout=2400 flaps=200 always_invalidate=Y
# variant: plain-long when=check-long timeout=2400 flaps=200 always_invalidate=N
#
# Each kind once on link 1, then kinds and links at random. A path that hears
# nothing repeats what it has sent, and rxe repeats local operations with it.

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh
# shellcheck source=tests/lib/flaps.sh
. /tests/lib/flaps.sh

session=flaps

server()
{
	start_links 2
	load rtrs-server sess_queue_depth=64 \
		always_invalidate="$always_invalidate"
	heartbeat 500 3
	load rtrs-test-server
	listen $port
	tell listening yes
	obey
	wait_for_sessions 1 1
	assert_server
}

pause()
{
	goes_on $session
	cat $clt/$session/pause
}

client()
{
	local kind

	ask listening
	start_links 2
	load rtrs-test-client
	heartbeat 500 3
	start_random
	open_session $session path=ip:10.0.1.1 delay=1 attempts=-1
	start_requests $session depth=16 threads=2 dir=any con=any \
		size=1..20000 offset=0..4095
	goes_on $session
	pause
	for kind in $kinds; do
		flap "$kind" 1
		note "$kind: pause $(pause) ms"
	done
	flaps "$(scaled "$flaps")" pause
	stop_requests $session
	note "$(result $session confirmed) requests"
	assert_eq "$(total_inflight $session)" 0 "in flight when idle"
	assert_eq "$(value link_down $clt/$session/state)" 0 "link_down"
	close_session $session
	remote_end
}
