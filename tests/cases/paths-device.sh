#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: RDMA devices go under load and come back, on both sides at once
# uses: ulp
# timeout: 120
# variant: secure always_invalidate=Y
# variant: plain always_invalidate=N

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh

# Nothing is loaded again in between: client and server find the device.
one_goes()
{
	local path

	path=$(path_of dev "10.0.$1.1" "10.0.$1.1")
	begin_clock
	del_rxe "$1"
	within 5000 "removal of rxe$1"
	assert state_is "$path" disconnected
	goes_on dev
	add_rxe "$1"
	wait_for 20 state_is "$path" connected
	assert_eq "$(cat "$path/hca_name")" "rxe$1" "device"
	goes_on dev
}

both_go()
{
	stop_requests dev
	assert_eq "$(value link_down $clt/dev/state)" 0 "link_down"
	start_requests dev abort=1 depth=32 threads=2 dir=any con=any \
		size=1..20000
	goes_on dev
	del_rxe 0
	del_rxe 1
	wait_for 10 has link_down 1 $clt/dev/state
	wait_for_sessions 1 1
	assert_eq "$(total_inflight dev)" 0 "in flight without a path"
	add_rxe 1
	wait_for 20 has link_up 1 $clt/dev/state
	goes_on dev
	add_rxe 0
	wait_for 20 state_is "$(path_of dev 10.0.0.1 10.0.0.1)" connected
	stop_requests dev
}

run()
{
	local i

	start_links 2
	load rtrs-server always_invalidate="$always_invalidate" \
		sess_queue_depth=64
	load rtrs-test-server
	load rtrs-test-client
	listen $port
	open_session dev path=ip:10.0.1.1 delay=1 attempts=-1
	start_requests dev depth=32 threads=2 dir=any con=any size=1..20000
	for i in 1 0 1; do
		one_goes $i
	done
	both_go
	close_session dev
	open_session new path=ip:10.0.1.1
	requests new count=50 depth=8
	close_session new
	wait_for_sessions 3 3
	assert_server
}
