#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: user messages and data up to the limits, EMSGSIZE beyond
# uses: ulp
# timeout: 60
# variant: secure always_invalidate=Y
# variant: plain always_invalidate=N
#
# A chunk has a page for message and header. The header of a WRITE takes 4
# bytes of it, that of a READ 8, and 16 more if there is data to send back.

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

too_long()
{
	requests limits refusal=90 count=20 depth=4 "$@"
	assert_eq "$(result limits refused)" 20 "$*"
}

run()
{
	local max segs

	start_ulps always_invalidate="$always_invalidate"
	open_session limits
	max=$(value max_io_size $clt/limits/state)
	segs=$(value max_segments $clt/limits/state)
	note "a message without a head, or none at all"
	requests limits usr=1-39 kvecs=1..4 count=39 depth=4
	requests limits usr=0 kvecs=0..3 count=20 depth=4
	note "messages of many pieces"
	requests limits usr=40..4072 kvecs=1..64 count="$(scaled 200)" depth=8
	requests limits usr=4000 kvecs=4000 count=4
	note "the longest"
	requests limits dir=write usr=4092 kvecs=1..9 count=20 size="$max"
	requests limits dir=read usr=4072 kvecs=1..9 count=20 size="$max"
	requests limits dir=none usr=4072 kvecs=1..9 count=20
	note "too long a message"
	too_long dir=write usr=4093
	too_long dir=read usr=4073
	too_long dir=any usr=4093..5000 kvecs=1..9
	too_long dir=any usr=100000..1000000 kvecs=2
	note "too much data"
	too_long dir=mixed size=$((max + 1))
	too_long dir=mixed size=$((max + 1))..$((2 * max)) usr=200
	note "too many segments"
	requests limits layout=gaps segs="$segs" size=65536 count=20
	too_long layout=gaps segs=$((segs + 1)) size=65536
	close_session limits
	assert_server $port
}
