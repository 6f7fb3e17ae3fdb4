#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: stock NVMe over RDMA
# modules: none
# smp: 1
# timeout: 1200
# variant: 1500 mtu=1500
# variant: 9000 mtu=9000

. /tests/lib/bench.sh

config=/sys/kernel/config/nvmet

# serve DEVICE: a subsystem with one namespace, on the address of the RDMA device
serve()
{
	local port=$config/ports/1 subsystem=$config/subsystems/bench

	grep -q ' /sys/kernel/config ' /proc/mounts ||
		mount -t configfs configfs /sys/kernel/config
	mkdir $subsystem $subsystem/namespaces/1 $port
	defer "rmdir $subsystem/namespaces/1 $subsystem $port"
	echo 1 >$subsystem/attr_allow_any_host
	echo "$1" >$subsystem/namespaces/1/device_path
	echo 1 >$subsystem/namespaces/1/enable
	echo rdma >$port/addr_trtype
	echo ipv4 >$port/addr_adrfam
	echo "$server_addr" >$port/addr_traddr
	echo 4420 >$port/addr_trsvcid
	ln -s $subsystem $port/subsystems/bench
	defer rm $port/subsystems/bench
}

# connect_to_it: sets $dev
connect_to_it()
{
	echo "transport=rdma,traddr=$server_addr,trsvcid=4420,nqn=bench,nr_io_queues=1" \
		>/dev/nvme-fabrics
	defer 'echo 1 >/sys/class/nvme/nvme0/delete_controller'
	dev=/dev/nvme0n1
	wait_for 30 test -b "$dev"
}

run()
{
	local dev

	null_disk
	start_rxe "$mtu"
	modprobe nvmet-rdma
	modprobe nvme-rdma
	serve "$disk"
	connect_to_it
	run_rows "$dev"
}
