#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: the rtrs command shows and steers a session of two paths
# uses: ulp
# timeout: 120

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh

path=ip:10.0.1.1@ip:10.0.1.1

# field NUMBER ROW COMMAND...: of the table that rtrs prints
field()
{
	local number=$1 row=$2

	shift 2
	rtrs "$@" | awk -v n="$number" -v row="$row" '$1 == row { print $n; exit }'
}

state_in_table()
{
	field 2 "$path" show tool
}

refuses()
{
	assert_fails rtrs "$@" 2>/run/refused
	grep -q '^rtrs: ' /run/refused || fail "rtrs $*: $(cat /run/refused)"
}

steer()
{
	rtrs add-path tool ip:10.0.1.1
	assert_eq "$(state_in_table)" connected "the new path"
	assert_eq "$(field 3 tool list)" 2 "paths in the list"
	rtrs disconnect tool ip:10.0.1.1
	assert_eq "$(state_in_table)" disconnected "after disconnect"
	assert_eq "$(field 4 tool list)" 1 "connected paths in the list"
	rtrs reconnect tool "$path"
	assert_eq "$(state_in_table)" connected "after reconnect"
	rtrs remove-path tool ip:10.0.1.1
	assert_eq "$(state_in_table)" "" "after remove-path"
	rtrs policy tool min-latency
	assert_eq "$(rtrs policy tool)" min-latency "policy"
	assert_eq "$(cat $clt_sysfs/tool/mpath_policy)" "min-latency (ML: 2)"
}

# Requests are moved while it looks.
watch_it()
{
	local moved

	start_requests tool depth=8 dir=read size=4096
	moved=$(rtrs stats tool 2 1 | awk '$1 == "tool" && $3 > 0 && $4 > 0')
	stop_requests tool
	[ -n "$moved" ] || fail "rtrs stats saw no reads"
}

run()
{
	start_links 2
	refuses show tool
	load rtrs-server sess_queue_depth=64
	load rtrs-test-server
	load rtrs-test-client
	listen $port
	open_session tool delay=1 attempts=7
	steer
	watch_it
	refuses show nothing
	refuses reconnect tool ip:10.0.1.1
	refuses policy tool fastest
	rtrs check ip:10.0.0.1 || fail "rtrs check: something is wrong"
	ip link set d1 down
	assert_fails rtrs check ip:10.0.9.1
	ip link set d1 up
	close_session tool
	assert_eq "$(rtrs --json list)" "[]" "without sessions"
	assert_server
}
