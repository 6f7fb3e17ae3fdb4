#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: the RDMA device goes away under load
# uses: ulp
# timeout: 100
# variant: secure always_invalidate=Y
# variant: plain always_invalidate=N

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

run()
{
	start_ulps always_invalidate="$always_invalidate"
	open_session ld
	start_requests ld abort=1 depth=64 threads=2 dir=any con=any mode=any delay=0..2000
	wait_for 30 at_least confirmed 300 $clt/ld/result
	note "under load"
	rdma link del rxe0
	wait_for 20 at_least link_down 1 $clt/ld/state
	stop_requests ld
	close_session ld
	assert_server
	rdma link add rxe0 type rxe netdev d0
	wait_for 10 rxe_is_up
	open_session again
	requests again count=50 depth=8
	close_session again
	note "an operation that the ULP sits on does not keep the device"
	open_session sit
	start_requests sit abort=1 depth=4 mode=never
	wait_for 20 at_least pending 4 $srv/$port/stats
	rdma link del rxe0
	wait_for 20 at_least link_down 1 $clt/sit/state
	stop_requests sit
	close_session sit
	stop_listening
	rdma link add rxe0 type rxe netdev d0
}
