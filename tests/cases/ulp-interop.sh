#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: verified requests between our modules and the stock kernel's
# vms: 2
# uses: ulp
# timeout: 90
# variant: ours-to-ours-secure modules="client=ours server=ours" always_invalidate=Y
# variant: ours-to-ours-plain modules="client=ours server=ours" always_invalidate=N
# variant: ours-to-peer-secure modules="client=ours server=peer" always_invalidate=Y
# variant: ours-to-peer-plain modules="client=ours server=peer" always_invalidate=N
# variant: peer-to-ours-secure modules="client=peer server=ours" always_invalidate=Y
# variant: peer-to-ours-plain modules="client=peer server=ours" always_invalidate=N
#
# The stock client takes segments that are pages, as the block layer makes them,
# and no data on the service connection; the stock server cuts off what does not
# fit in the 9 bits of an errno.

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

server()
{
	start_ulp_server always_invalidate="$always_invalidate"
	sync listening
	sync tested
	assert_server $port
}

every_shape()
{
	local segs

	segs=$(value max_segments $clt/inter/state)
	requests inter size=1..65536 offset=0..4095 depth=16 dir=any con=any \
		count="$(scaled 200)"
	requests inter layout=gaps segs="1..$segs" size=512..65536 depth=8 \
		count="$(scaled 60)"
}

client()
{
	local failing=any

	[ "$set_name" = ours ] || failing="read"
	sync listening
	start_ulp_client
	open_session inter
	requests inter size=512..65536 align=512 depth=8 dir=any con=io \
		usr=40..1000 kvecs=1..5 count="$(scaled 200)"
	requests inter size=4096 depth=8 dir=any mode=any delay=0..2000 \
		count="$(scaled 200)"
	requests inter size=4096 depth=8 dir=$failing mode=any err=0..511 \
		count="$(scaled 200)" delay=0..2000
	requests inter dir=none con=admin depth=4 count=40
	requests inter usr=0..39 kvecs=2 count=40
	[ "$set_name" != ours ] || every_shape
	close_session inter
	sync tested
}
