# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC3043
#
# Messages of the CM that the network loses, by filters of incoming packets.
# Offsets count from the IPv4 header: 20 bytes of it, 8 of UDP, 12 of BTH and
# 8 of DETH, then the MAD, whose header has 24 bytes (InfiniBand specification,
# volume 1, chapters 12 and 13).

# lose LINK MATCH...: drop the CM's messages that match, until found_again
lose()
{
	local net

	net=$(net_of "$1")
	shift
	tc filter add dev "$net" ingress protocol ip u32 \
		match ip protocol 17 0xff match ip dport 4791 0xffff \
		match u32 1 0xffffff at 32 "$@" action drop
}

found_again()
{
	tc filter del dev "$(net_of "$1")" ingress
}

# lost_so_far LINK: the number of messages dropped
lost_so_far()
{
	tc -s filter show dev "$(net_of "$1")" ingress |
		sed -n 's/.*dropped \([0-9]*\).*/\1/p' |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# lose_rtu LINK: of each connection
lose_rtu()
{
	lose "$1" match u16 0x0014 0xffff at 64
}

# lose_req LINK CID [PORT]: the requests for connections of this number, of all
# ports or one. Its private data stands 140 bytes behind the MAD's header, and
# ours 36 bytes further on, behind that of RDMA CM.
lose_req()
{
	local cid=$2 link=$1

	shift 2
	# shellcheck disable=SC2046 # words
	lose "$link" match u16 0x0010 0xffff at 64 \
		match u16 $((cid << 8)) 0xffff at 254 \
		$([ $# = 0 ] || echo "match u16 $1 0xffff at 86")
}
