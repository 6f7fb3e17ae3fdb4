# SPDX-License-Identifier: GPL-2.0
#
# What the benchmarks share: fio with a fixed number of requests, so that under
# `-icount` each run executes the same instructions.

# null_disk: sets $disk to a block device that does nothing and is done at once.
null_disk()
{
	modprobe null_blk nr_devices=1 gb=1 submit_queues=1
	disk=/dev/nullb0
}

# fio_iops DEVICE DIRECTION SIZE DEPTH REQUESTS: prints requests a second.
fio_iops()
{
	local field=8

	[ "$2" = read ] || field=49
	fio --name=bench --filename="$1" --direct=1 --ioengine=libaio \
		--rw="rand$2" --bs="$3" --iodepth="$4" --number_ios="$5" \
		--size=256m --norandommap --scramble_buffers=0 --minimal |
		cut -d ';' -f $field
}

packets()
{
	cat /sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts 2>/dev/null ||
		echo 0
}

# requests_of SIZE: fewer of the large ones, which take longer
requests_of()
{
	case $1 in
	64k) echo $((requests / 4)) ;;
	128k) echo $((requests / 8)) ;;
	*) echo "$requests" ;;
	esac
}

# run_row DEVICE ROW: such as read-4k-32: direction, size, depth. The first run
# warms caches up. Packets are hundredths a request.
run_row()
{
	local dev=$1 row=$2 direction size depth count iops before

	direction=${row%%-*}
	size=${row#*-}
	depth=${size#*-}
	size=${size%-*}
	count=$(requests_of "$size")
	fio_iops "$dev" "$direction" "$size" "$depth" 500 >/dev/null
	before=$(packets)
	iops=$(fio_iops "$dev" "$direction" "$size" "$depth" "$count")
	metric "$row.iops" "$iops"
	metric "$row.packets" $(( ($(packets) - before) * 100 / count ))
}

# run_rows DEVICE: those in $rows.
run_rows()
{
	local row

	for row in $rows; do
		progress "$case_name: $row"
		run_row "$1" "$row"
	done
}
