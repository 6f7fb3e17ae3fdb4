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

# Link number N is d<N> in one VM, eth<N> in two; its networks are 10.0.<N>.0/24
# and fd0<N>::/64, its RDMA device is rxe<N>.
server_addr=10.0.0.1
server_addr6=fd00::1
case $role in
client) host_number=2 ;;
*) host_number=1 ;;
esac
addr=10.0.0.$host_number
addr6=fd00::$host_number

# net_of LINK: the network device that carries the RDMA device
net_of()
{
	if [ "$vms" = 1 ]; then
		echo "d$1"
	else
		echo "eth$1"
	fi
}

# start_net LINK MTU
start_net()
{
	local net

	net=$(net_of "$1")
	if [ "$vms" = 1 ]; then
		modprobe dummy numdummies=0
		ip link add "$net" type dummy
		defer ip link del "$net"
	else
		tc qdisc replace dev "$net" root pfifo limit 1000
		# For filters. Not when they are needed: that changes the code
		# that all packets go through, and QEMU without KVM may hang.
		tc qdisc replace dev "$net" clsact
		defer "tc qdisc del dev $net clsact"
		defer "ip addr flush dev $net; ip link set $net down"
	fi
	ip link set "$net" mtu "$2"
	# Addresses of IPv6 outlive a link that is down.
	echo 1 >"/proc/sys/net/ipv6/conf/$net/keep_addr_on_down"
	ip addr add "10.0.$1.$host_number/24" dev "$net"
	ip addr add "fd0$1::$host_number/64" dev "$net" nodad
	ip link set "$net" up
}

# add_rxe LINK, del_rxe LINK: the RDMA device comes and goes
add_rxe()
{
	rdma link add "rxe$1" type rxe netdev "$(net_of "$1")"
	wait_for 10 rxe_is_up "$1"
}

del_rxe()
{
	[ ! -e "/sys/class/infiniband/rxe$1" ] || rdma link del "rxe$1"
}

rxe_is_up()
{
	grep -q ACTIVE "/sys/class/infiniband/rxe${1:-0}/ports/1/state"
}

# start_link LINK [MTU]. rxe takes its MTU from the network device when the
# link is added.
start_link()
{
	start_net "$1" "${2:-1500}"
	add_rxe "$1"
	defer del_rxe "$1"
	[ "$vms" = 1 ] || [ "$role" = server ] ||
		wait_for 20 ping -q -c 1 -W 1 "10.0.$1.1"
}

prepare_rxe()
{
	modprobe -q crc32_generic 2>/dev/null || true
	modprobe -q crc32_pclmul 2>/dev/null || true
	# Newer kernels have it built in, without a word in modules.builtin.
	[ -e /proc/net/if_inet6 ] || modprobe ipv6
	modprobe rdma_rxe
	modprobe rdma_cm
	watch_rxe
}

# start_rxe [MTU]: link 0 alone; start_links NUMBER [MTU]: links 0, 1, ...
start_rxe()
{
	start_links 1 "${1:-1500}"
}

start_links()
{
	local link=0

	prepare_rxe
	while [ $link -lt "$1" ]; do
		start_link $link "${2:-1500}"
		link=$((link + 1))
	done
}

# A local operation that rxe repeats breaks the queue pair, silently but for
# this message.
watch_rxe()
{
	echo 'module rdma_rxe format "not free" +p' \
		>/sys/kernel/debug/dynamic_debug/control 2>/dev/null || true
}
