#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: fio with verify through stock rnbd on a memory disk
# uses: rnbd
# timeout: 180
# variant: secure always_invalidate=Y
# variant: plain always_invalidate=N

run()
{
	local disk dev

	start_rxe
	load rtrs-server always_invalidate="$always_invalidate"
	load rnbd-server
	load rnbd-client
	disk=$(memory_disk 64)
	dev=$(rnbd_map fio "$disk")
	verify_with_fio "$dev" --size=32m
	assert_eq "$(checksum "$dev")" "$(checksum "$disk")" "data on $disk"
}
