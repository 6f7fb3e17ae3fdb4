#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: stock rnbd on RTRS, ours and the stock kernel's
# uses: rnbd
# smp: 1
# timeout: 1200
# variant: ours-secure-1500 modules=ours always_invalidate=Y mtu=1500
# variant: ours-plain-1500 modules=ours always_invalidate=N mtu=1500
# variant: stock-secure-1500 modules=peer always_invalidate=Y mtu=1500
# variant: stock-plain-1500 modules=peer always_invalidate=N mtu=1500
# variant: ours-secure-9000 modules=ours always_invalidate=Y mtu=9000
# variant: ours-plain-9000 modules=ours always_invalidate=N mtu=9000
# variant: stock-secure-9000 modules=peer always_invalidate=Y mtu=9000
# variant: stock-plain-9000 modules=peer always_invalidate=N mtu=9000

. /tests/lib/bench.sh

run()
{
	local dev

	null_disk
	start_rxe "$mtu"
	load rtrs-server always_invalidate="$always_invalidate"
	load rnbd-server
	load rnbd-client
	dev=$(rnbd_map bench "$disk")
	run_rows "$dev"
}
