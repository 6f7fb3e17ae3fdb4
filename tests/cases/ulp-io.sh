#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: verified reads and writes of every size and shape
# uses: ulp
# timeout: 120
# variant: secure always_invalidate=Y mtu=1500
# variant: plain always_invalidate=N mtu=1500
# variant: secure-jumbo always_invalidate=Y mtu=9000
# variant: plain-jumbo always_invalidate=N mtu=9000

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

# Each power of two and the largest of all, one at a time.
every_size()
{
	local size=512

	while [ $size -lt "$max" ]; do
		requests io size=$size depth=1 count="$(scaled 16)" offset=0..4095
		size=$((size * 2))
	done
	requests io size="$max" depth=1 count="$(scaled 16)"
	requests io size="$max" depth=32 count="$(scaled 100)"
}

run()
{
	local max segs

	start_ulps always_invalidate="$always_invalidate"
	open_session io pdu=24
	max=$(value max_io_size $clt/io/state)
	segs=$(value max_segments $clt/io/state)
	every_size
	note "1 to $segs segments without gaps, one after the other"
	requests io segs="1-$segs" depth=4 count=$((2 * segs)) align=512
	note "segments that lie anywhere"
	requests io layout=gaps segs="1-$segs" size=512.."$max" depth=8 \
		count="$(scaled 200)"
	requests io layout=gaps segs="1..$segs" size=1000 depth=8 \
		count="$(scaled 100)"
	note "segments of several pages"
	requests io layout=gaps order=3 segs=1..6 size=1.."$max" depth=8 \
		count="$(scaled 100)"
	requests io order=4 offset=0..65535 size=1.."$max" depth=8 \
		count="$(scaled 100)"
	note "any size and offset, as many in flight as there are permits"
	requests io size=1..8192 offset=0..4095 depth=512 threads=4 \
		count="$(scaled 4000)" dir=any con=any
	note "where nobody may sleep"
	requests io size=1..20000 offset=0..4095 depth=600 threads=4 nowait=1 \
		bh=1 count="$(scaled 1000)" dir=any con=any
	close_session io
	assert_server $port
}
