#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: sessions and paths in sysfs, queries and link events of a session
# uses: ulp
# timeout: 60

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

# holds FILE TEXT
holds()
{
	assert_eq "$(cat "$1")" "$2" "$1"
}

path_files()
{
	holds "$1/hca_name" rxe0
	holds "$1/hca_port" 1
	holds "$1/src_addr" "$2"
	holds "$1/dst_addr" "$3"
}

state_is()
{
	[ "$(cat "$1/state")" = "$2" ]
}

opened()
{
	local own="ip:$server_addr" path

	path=$(client_path dirs)
	assert_eq "$(basename "$path")" "$own@$own" "name of the path"
	path_files "$path" "$own" "$own"
	holds "$path/state" connected
	path=$(server_path dirs)
	assert_eq "$(basename "$path")" "$own@$own" "name of the server's path"
	path_files "$path" "$own" "$own"
	assert test -f "$path/disconnect"
	assert_eq "$(value query $clt/dirs/state)" 0 "query"
	assert_eq "$(value queue_depth $clt/dirs/state)" 64 "queue depth"
	assert_eq "$(value max_io_size $clt/dirs/state)" 61440 "largest data"
	assert_eq "$(value session $srv/$port/stats)" \
		"dirs depth 64 requests 0 pending 0 connected" "server's session"
	wait_for_sessions 1 0
	assert_eq "$(value link_up $clt/dirs/state)" 0 "events of the open"
}

disconnected()
{
	put "$(server_path dirs)/disconnect" 1 || fail "cannot disconnect"
	wait_for 20 has link_down 1 $clt/dirs/state
	wait_for 20 state_is "$(client_path dirs)" disconnected
	assert_eq "$(value query $clt/dirs/state)" -70 "query without a path"
	wait_for_sessions 1 1
	wait_for 20 test ! -e $srv_sysfs/dirs
	requests dirs count=3 refusal=103
}

wrong_writes()
{
	local text

	open_session dirs
	for text in 0 2 -1 "" x 11 "1 1"; do
		! put "$(server_path dirs)/disconnect" "$text" ||
			fail "disconnect takes '$text'"
	done
	requests dirs count=3
	close_session dirs
}

run()
{
	start_ulps sess_queue_depth=64 max_chunk_size=65536
	open_session dirs
	opened
	disconnected
	close_session dirs
	assert test ! -e $clt_sysfs/dirs
	assert_eq "$(value link_up $clt/dirs/state)" 0 "events after all"
	wrong_writes
	wait_for 20 test ! -e $srv_sysfs/dirs
	assert_server $port
}
