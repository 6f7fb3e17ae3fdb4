#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: sessions by every form of address, and how sysfs names the paths
# uses: ulp
# timeout: 60

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

# by PATH NAME: a session by PATH has a path directory NAME on both sides
by()
{
	open_with slot=by name=by path="$1" port=$port ||
		fail "cannot open $1: $(value open_errno $clt/by/state)"
	requests by count=20 size=1..10000
	assert_eq "$(basename "$(client_path by)")" "$2" "client, by $1"
	assert_eq "$(basename "$(server_path by)")" "$2" "server, by $1"
	assert_eq "$(cat "$(client_path by)/src_addr")" "${2%@*}" "source"
	assert_eq "$(cat "$(client_path by)/dst_addr")" "${2#*@}" "destination"
	close_session by
	wait_for 20 test ! -e $srv_sysfs/by
}

link_local()
{
	ip -6 addr show dev d0 | sed -n 's/.*inet6 \(fe80[^/]*\).*/\1/p'
}

run()
{
	local v4="ip:$server_addr" v6="ip:$server_addr6" ll

	start_ulps always_invalidate=Y
	by "$v4" "$v4@$v4"
	by "$v4@$v4" "$v4@$v4"
	by "$v4,$v4" "$v4@$v4"
	by "$v6" "$v6@$v6"
	by "$v6@$v6" "$v6@$v6"
	note "link-local addresses, whose scope is not part of the name"
	ll="ip:$(link_local)"
	by "$ll%d0" "$ll@$ll"
	by "$ll%d0,$ll%d0" "$ll@$ll"
}
