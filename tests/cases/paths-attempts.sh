#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: max_reconnect_attempts, and what can be seen of attempts
# uses: ulp
# timeout: 90

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh

max=$clt_sysfs/att/max_reconnect_attempts

given_up()
{
	klog | grep -c 'not reconnected automatically' || true
}

# gives_up TIMES: in all, and stays disconnected
gives_up()
{
	wait_for 20 is_given_up "$1"
	assert state_is "$path" disconnected
}

is_given_up()
{
	[ "$(given_up)" = "$1" ]
}

limit()
{
	put $max "$1" || fail "no limit $1"
	assert_eq "$(cat $max)" "$1" "limit"
}

revive()
{
	order "$path" reconnect
	assert state_is "$path" connected
	requests att count=20 depth=4
}

failed_attempts()
{
	cut -d ' ' -f 2 "$path/stats/reconnects"
}

run()
{
	local path server before

	start_links 1
	load rtrs-server sess_queue_depth=64
	load rtrs-test-server
	load rtrs-test-client
	listen $port
	open_session att delay=1 attempts=-1
	path=$(client_path att)
	server=$(server_path att)
	assert_eq "$(cat $max)" -1 "limit"
	limit 9999
	note "never"
	limit 0
	order "$server" disconnect
	gives_up 1
	assert_eq "$(cat "$path/stats/reconnects")" "0 0" reconnects
	assert_eq "$(cat "$path/last_error")" -104 "last_error"
	revive
	note "twice, while nobody listens"
	limit 2
	before=$(cat "$path/link_attempts")
	order "$path" stats/reconnects
	stop_listening
	gives_up 2
	assert_eq "$(cat "$path/stats/reconnects")" "0 2" reconnects
	assert_eq "$(cat "$path/link_attempts")" $((before + 2)) attempts
	assert_eq "$(cat "$path/last_error")" -111 "last_error"
	refuses "Connection refused" "$path/reconnect" 1
	listen $port
	note "the attempts of the order above begin to count again"
	wait_for 20 state_is "$path" connected
	requests att count=20 depth=4
	note "for ever"
	limit -1
	order "$path" stats/reconnects
	stop_listening
	wait_for 20 more_than_two
	listen $port
	wait_for 20 state_is "$path" connected
	assert_eq "$(given_up)" 2 "times that it was given up"
	close_session att
}

more_than_two()
{
	[ "$(failed_attempts)" -gt 2 ]
}
