#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: verified requests on sessions with poll queues that are polled
# uses: ulp
# timeout: 60
# variant: one queues=1 always_invalidate=Y
# variant: four queues=4 always_invalidate=N

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

# Any number may be polled, whether there is such a queue or not.
run()
{
	local last

	last=$(sed 's/.*-//' /sys/devices/system/cpu/possible)
	start_ulps always_invalidate="$always_invalidate"
	open_session poll queues="$queues"
	requests poll poll=0..$((last + queues + 1)) count="$(scaled 200)" \
		depth=16 size=1..65536 dir=any
	note "polled: $(result poll polled)"
	requests poll poll=$((last + 1))..$((last + queues)) depth=512 \
		threads=4 count="$(scaled 1000)" mode=any err=0..1 dir=any
	note "polled: $(result poll polled)"
	note "nobody polls"
	requests poll count="$(scaled 200)" depth=32 con=any
	close_session poll
	assert_server $port
}
