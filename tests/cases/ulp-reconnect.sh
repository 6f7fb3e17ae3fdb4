#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: a session reconnects under load, and its requests go on
# uses: ulp
# timeout: 120
# variant: secure always_invalidate=Y
# variant: plain always_invalidate=N

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

goes_on()
{
	local before

	before=$(result re as_wanted)
	wait_for 30 at_least as_wanted $((before + 50)) $clt/re/result
}

# came_back TIMES
came_back()
{
	wait_for 30 has link_down "$1" $clt/re/state
	wait_for 30 has link_up "$1" $clt/re/state
	goes_on
	assert_eq "$(cat "$(client_path re)/state")" connected "state"
}

run()
{
	local i

	start_ulps always_invalidate="$always_invalidate"
	open_session re delay=1 attempts=-1 pdu=8
	start_requests re abort=1 depth=32 threads=2 dir=any con=any mode=any \
		size=1..20000 offset=0..4095 delay=0..1000
	goes_on
	for i in 1 2 3; do
		note "the server disconnects"
		put "$(server_path re)/disconnect" 1 || fail "cannot disconnect"
		came_back $i
		wait_for_sessions $((i + 1)) $i
	done
	note "the server goes away and comes again"
	stop_listening $port
	assert_server $port
	wait_for 30 has link_down 4 $clt/re/state
	listen $port
	came_back 4
	wait_for_sessions 1 0
	stop_requests re
	requests re count=50 depth=8 con=any
	close_session re
	wait_for_sessions 1 1
	assert_server $port
}
