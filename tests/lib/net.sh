# SPDX-License-Identifier: GPL-2.0
#
# The network and the RDMA device. busybox has applets of the same names that
# its shell prefers, hence the paths.

ip()
{
	/bin/ip "$@"
}

rdma()
{
	/usr/bin/rdma "$@"
}

tc()
{
	/sbin/tc "$@"
}

server_addr=10.0.0.1
server_addr6=fd00::1
case $role in
client) addr=10.0.0.2 addr6=fd00::2 ;;
*) addr=$server_addr addr6=$server_addr6 ;;
esac

# The network device that carries the RDMA device.
start_net()
{
	if [ "$vms" = 1 ]; then
		net=d0
		modprobe dummy numdummies=0
		ip link add d0 type dummy
		defer ip link del d0
	else
		net=eth0
		tc qdisc replace dev eth0 root pfifo limit 1000
		defer "ip addr flush dev eth0; ip link set eth0 down"
	fi
	ip link set $net mtu "$1"
	ip addr add "$addr/24" dev $net
	ip addr add "$addr6/64" dev $net nodad
	ip link set $net up
}

# rxe takes its MTU from the network device when the link is added.
start_rxe()
{
	start_net "${1:-1500}"
	modprobe -q crc32_generic 2>/dev/null || true
	modprobe -q crc32_pclmul 2>/dev/null || true
	modprobe rdma_rxe
	modprobe rdma_cm
	watch_rxe
	rdma link add rxe0 type rxe netdev $net
	defer rdma link del rxe0
	wait_for 10 rxe_is_up
	[ "$vms" = 1 ] || [ "$role" = server ] ||
		wait_for 20 ping -q -c 1 -W 1 $server_addr
}

rxe_is_up()
{
	grep -q ACTIVE /sys/class/infiniband/rxe0/ports/1/state
}

# A local operation that rxe repeats breaks the queue pair, silently but for
# this message.
watch_rxe()
{
	echo 'module rdma_rxe format "not free" +p' \
		>/sys/kernel/debug/dynamic_debug/control 2>/dev/null || true
}
