#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: nearly every answer waits for room in the send queue
# uses: ulp
# timeout: 150
# variant: secure always_invalidate=Y
# variant: plain always_invalidate=N

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

run()
{
	local slots

	start_ulps always_invalidate="$always_invalidate"
	for slots in 5 7 16; do
		echo $slots >/sys/kernel/debug/rtrs-server/max_send_slots
		open_session sl$slots
		requests sl$slots size=1..20000 offset=0..4095 depth=512 threads=4 \
			count=1500 dir=any con=any mode=any delay=0..500 err=0..1
		close_session sl$slots
	done
	note "closing with a backlog"
	open_session cl
	start_requests cl abort=1 depth=256 threads=2 dir=any con=any mode=any
	wait_for 30 at_least confirmed 300 $clt/cl/result
	put "$(server_path cl)/disconnect" 1
	wait_for 20 at_least link_down 1 $clt/cl/state
	stop_requests cl
	close_session cl
	assert_server
}
