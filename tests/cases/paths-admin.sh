#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: paths are added, removed, disconnected, reconnected under load
# uses: ulp
# timeout: 150
# variant: secure always_invalidate=Y
# variant: plain always_invalidate=N

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh

exists="File exists"

# added ADDRESSES SOURCE DESTINATION: under that name, and works alone
added()
{
	local path

	path=$(path_of adm "$2" "$3")
	add_path adm "$1"
	assert test -d "$path"
	assert state_is "$path" connected
	assert_eq "$(cat "$path/src_addr")" "ip:$2" "source"
	assert_eq "$(cat "$path/dst_addr")" "ip:$3" "destination"
	refuses "$exists" $clt_sysfs/adm/add_path "$1"
	order "$first" disconnect
	goes_on adm
	order "$first" reconnect
	assert state_is "$first" connected
	order "$path" remove_path
	assert test ! -d "$path"
	goes_on adm
}

# Every form of an address; the first path stays all the time.
forms()
{
	ip addr add 10.0.0.7/24 dev d0
	added ip:10.0.1.1 10.0.1.1 10.0.1.1
	added ip:10.0.0.7,ip:10.0.0.1 10.0.0.7 10.0.0.1
	added ip:10.0.0.7@ip:10.0.0.1 10.0.0.7 10.0.0.1
	added ip:fd00::1 fd00::1 fd00::1
	added ip:fd01::1@ip:fd01::1 fd01::1 fd01::1
	# Same addresses, named or chosen by the system.
	refuses "$exists" $clt_sysfs/adm/add_path ip:10.0.0.1,ip:10.0.0.1
	refuses "$exists" $clt_sysfs/adm/add_path ip:10.0.0.1
	# RoCE is reached by IP; rdma_cm knows GIDs for InfiniBand only.
	refuses "No such device" $clt_sysfs/adm/add_path \
		gid:fe80:0000:0000:0000:0000:0000:0000:0001
	# Nobody has this source; no device is on the way there.
	refuses "No such device" $clt_sysfs/adm/add_path \
		ip:127.0.0.1
	assert_eq "$(ls $clt_sysfs/adm/paths)" "$(basename "$first")" paths
	goes_on adm
}

# Orders that find the path in the state that they ask for already.
orders_twice()
{
	local path

	path=$(path_of adm 10.0.1.1 10.0.1.1)
	add_path adm ip:10.0.1.1
	order "$path" reconnect
	assert state_is "$path" connected
	order "$path" disconnect
	order "$path" disconnect
	assert state_is "$path" disconnected
	assert_eq "$(inflight_of "$path")" 0 "in flight on a disconnected path"
	order "$path" reconnect
	order "$path" reconnect
	assert state_is "$path" connected
	order "$path" disconnect
	order "$path" remove_path
	assert test ! -d "$path"
}

# The server disconnects; the path comes back by itself, the other goes on.
from_the_server()
{
	local path server

	path=$(path_of adm 10.0.1.1 10.0.1.1)
	add_path adm ip:10.0.1.1
	server=$srv_sysfs/adm/paths/ip:10.0.1.1@ip:10.0.1.1
	assert test -d "$server"
	order "$server" disconnect
	wait_for 10 state_is "$path" disconnected
	goes_on adm
	wait_for 10 state_is "$path" connected
	assert_eq "$(cat "$path/stats/reconnects")" "1 0" reconnects
	order "$path" remove_path
	wait_for 10 test ! -d "$server"
}

# Without its last path a session is open still, and a new path revives it.
last_path()
{
	open_session last
	order "$(client_path last)" remove_path
	assert_eq "$(ls $clt_sysfs/last/paths)" "" "paths"
	wait_for 10 has link_down 1 $clt/last/state
	requests last count=3 refusal=103
	add_path last ip:10.0.1.1
	assert_eq "$(value link_up $clt/last/state)" 1 "link_up"
	requests last count=30 depth=4
	close_session last
}

run()
{
	local first before

	start_links 2
	load rtrs-server always_invalidate="$always_invalidate" \
		sess_queue_depth=64
	load rtrs-test-server
	load rtrs-test-client
	listen $port
	before=$(resources)
	open_session adm delay=1 attempts=-1
	first=$(path_of adm 10.0.0.1 10.0.0.1)
	start_requests adm depth=16 threads=2 dir=any con=any size=1..20000
	forms
	orders_twice
	from_the_server
	stop_requests adm
	assert_eq "$(total_inflight adm)" 0 "in flight when idle"
	assert_eq "$(value link_down $clt/adm/state)" 0 "link_down"
	close_session adm
	last_path
	wait_for 20 test ! -e $srv_sysfs/adm
	wait_for 20 same_resources
	assert_server
}

same_resources()
{
	[ "$(resources)" = "$before" ]
}
