#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: sessions of the test ULPs are opened and closed 100 times
# uses: ulp
# timeout: 120

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

run()
{
	local before i=0 rounds

	rounds=$(scaled 100)
	start_ulps always_invalidate=Y
	before=$(resources)
	while [ $i -lt "$rounds" ]; do
		open_session "c$((i % 3))" queues=$((i % 2)) pdu=$((i % 5))
		[ $((i % 10)) != 9 ] || requests "c$((i % 3))" count=10 depth=3
		close_session "c$((i % 3))"
		i=$((i + 1))
	done
	wait_for_sessions "$rounds" "$rounds"
	assert_eq "$(resources)" "$before" "RDMA objects"
	assert_server $port
}
