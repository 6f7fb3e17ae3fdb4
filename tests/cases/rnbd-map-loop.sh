#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: 100 maps and unmaps of a loop device through stock rnbd
# uses: rnbd
# timeout: 240
# variant: with-file file=/tmp/disk
# variant: without-file file=

# An unbound loop device has size 0, with which rnbd must cope just as well.
run()
{
	local disk dev count=0 size=0

	start_rxe
	load rnbd-server
	load rnbd-client
	if [ -n "$file" ]; then
		size=$((8 << 20))
		truncate -s $size "$file"
		defer rm "$file"
	fi
	disk=$(loop_disk ${file:+"$file"})
	while [ $count -lt 100 ]; do
		dev=$(rnbd_map "loop$((count % 7))" "$disk")
		assert_eq "$(blockdev --getsize64 "$dev")" $size "size of $dev"
		rnbd_unmap "$dev"
		count=$((count + 1))
	done
}
