#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: the server answers late, out of order, from an interrupt, with errors
# uses: ulp
# timeout: 90
# variant: secure always_invalidate=Y
# variant: plain always_invalidate=N

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

run()
{
	local mode shape="size=1..20000 offset=0..4095 dir=any con=any"

	start_ulps always_invalidate="$always_invalidate"
	open_session answers
	for mode in inline return work reorder irq; do
		note "$mode"
		requests answers mode=$mode depth=1 count="$(scaled 10)" "$shape"
		requests answers mode=$mode depth=32 count="$(scaled 200)" "$shape"
		requests answers mode=$mode depth=64 count="$(scaled 200)" \
			err=1..511 "$shape"
	done
	note "late"
	requests answers mode=work delay=0..50000 depth=128 \
		count="$(scaled 400)" "$shape"
	requests answers mode=irq delay=0..20000 depth=128 \
		count="$(scaled 400)" "$shape"
	note "everything at once"
	requests answers mode=any delay=0..5000 depth=512 threads=4 \
		count="$(scaled 2000)" err=0..600 "$shape"
	close_session answers
	assert_server $port
}
