# SPDX-License-Identifier: GPL-2.0
#
# Block devices, rnbd, and data on them.

rnbd_ctl=/sys/devices/virtual/rnbd-client/ctl
null_config=/sys/kernel/config/nullb

# memory_disk MIB: prints the new device.
memory_disk()
{
	local name number=0

	modprobe null_blk nr_devices=0
	grep -q ' /sys/kernel/config ' /proc/mounts ||
		mount -t configfs configfs /sys/kernel/config
	while [ -e $null_config/nullb$number ]; do
		number=$((number + 1))
	done
	name=nullb$number
	mkdir $null_config/$name
	defer remove_memory_disk $name
	echo 1 >$null_config/$name/memory_backed
	echo "$1" >$null_config/$name/size
	echo 1 >$null_config/$name/power
	wait_for 10 test -b "$(null_device $name)"
	null_device $name
}

# Later kernels name the device after its directory, 6.1 by its index.
null_device()
{
	if [ -b "/dev/$1" ]; then
		echo "/dev/$1"
	else
		echo "/dev/nullb$(cat "$null_config/$1/index")"
	fi
}

remove_memory_disk()
{
	echo 0 >"$null_config/$1/power"
	rmdir "$null_config/$1"
}

# loop_disk [FILE]: prints a loop device, bound to the file if there is one.
loop_disk()
{
	local dev

	modprobe loop
	wait_for 10 losetup -f >/dev/null
	dev=$(losetup -f)
	if [ $# -gt 0 ]; then
		losetup "$dev" "$1"
		defer losetup -d "$dev"
	fi
	echo "$dev"
}

# The directory entry that rnbd makes for a mapped device.
rnbd_link()
{
	echo "$rnbd_ctl/devices/$(echo "$2" | tr / '!')@$1"
}

# rnbd_map SESSION DEVICE [key=value...]: prints the local device.
rnbd_map()
{
	local session=$1 device=$2 link dev

	shift 2
	echo "sessname=$session path=ip:$server_addr device_path=$device $*" \
		>$rnbd_ctl/map_device || fail "cannot map $device of $session"
	link=$(rnbd_link "$session" "$device")
	wait_for 30 test -e "$link"
	dev=/dev/$(basename "$(readlink -f "$link")")
	defer rnbd_unmap "$dev"
	wait_for 30 test -b "$dev"
	echo "$dev"
}

rnbd_unmap()
{
	local control=/sys/block/${1#/dev/}/rnbd/unmap_device

	[ -e "$control" ] || return 0
	poll 30 unmap_once "$control" || fail "cannot unmap $1"
	wait_for 30 test ! -e "$control"
	wait_for 30 rnbd_session_gone
}

# With its last device, rnbd ends a session in a work that nobody waits for: not
# its unmap_device, and not the removal of its module, which then warns.
rnbd_session_gone()
{
	[ -n "$(ls -d /sys/block/rnbd* 2>/dev/null)" ] ||
		[ -z "$(ls /sys/class/rtrs-client 2>/dev/null)" ]
}

# Busy for a moment when something has just closed the device.
unmap_once()
{
	[ ! -e "$1" ] || echo normal >"$1"
}

# checksum DEVICE: of what is on it, not of what this side's cache holds.
checksum()
{
	# shellcheck disable=SC3040 # busybox has it
	( set -o pipefail
	dd if="$1" bs=1M iflag=direct 2>/dev/null | sha256sum |
		cut -d ' ' -f 1 ) || fail "cannot read all of $1"
}

# fill DEVICE: other random data each time, on all of it.
fill()
{
	local mib=$(( $(blockdev --getsize64 "$1") >> 20 ))

	dd if=/dev/urandom of="$1" bs=1M count=$mib oflag=direct 2>/dev/null ||
		fail "cannot write all of $1"
}

# verify_with_fio DEVICE [option...]
verify_with_fio()
{
	local dev=$1

	shift
	fio --name=verify --filename="$dev" --direct=1 --ioengine=libaio \
		--rw=randwrite --bsrange=4k-64k --iodepth=16 --verify=crc32c \
		--do_verify=1 --verify_fatal=1 --end_fsync=1 "$@" ||
		fail "fio found wrong data or an error on $dev"
}
