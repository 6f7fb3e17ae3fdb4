#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: what make demo shows: files on an ext4 on a remote disk
# uses: rnbd tree
# timeout: 200
#
# The metrics are what scripts/demo makes its table of.

disk_mib=192

sums_of()
{
	(cd "$1" && find . -type f | sort | xargs sha256sum)
}

copy_files()
{
	progress "making an ext4 on $dev"
	mkfs.ext4 -q "$dev"
	mount -t ext4 "$dev" /mnt
	defer "umount /mnt 2>/dev/null || true"
	progress "copying $(find /tree -type f | wc -l) files"
	cp -a /tree /mnt/tree
	umount /mnt
	metric megabytes "$(du -sm /tree | cut -f 1)"
}

compare_files()
{
	progress "comparing every file"
	assert e2fsck -fn "$dev"
	mount -t ext4 -o ro "$dev" /mnt
	sums_of /tree >/tmp/wanted
	sums_of /mnt/tree >/tmp/found
	umount /mnt
	assert diff /tmp/wanted /tmp/found
	metric files "$(wc -l </tmp/wanted)"
}

# measure NAME FIELD RW: one figure of fio's terse output.
measure()
{
	progress "fio: 4 KiB $3, 32 in flight, 4 s"
	fio --name=demo --filename="$dev" --direct=1 --ioengine=libaio \
		--rw="$3" --bs=4k --iodepth=32 --runtime=4 --time_based \
		--minimal >/tmp/fio || fail "fio: $3 failed"
	metric "$1" "$(cut -d ';' -f "$2" /tmp/fio)"
}

run()
{
	local disk dev

	metric kernel "$(uname -r)"
	metric disk "$disk_mib"
	progress "loading rtrs and stock rnbd"
	start_rxe
	load rnbd-server
	load rnbd-client
	disk=$(memory_disk $disk_mib)
	progress "mapping $disk over RDMA"
	dev=$(rnbd_map demo "$disk")
	metric device "$dev"
	copy_files
	progress "unmapping, and mapping again"
	rnbd_unmap "$dev"
	dev=$(rnbd_map demo "$disk")
	compare_files
	measure read-iops 8 randread
	measure write-iops 49 randwrite
}
