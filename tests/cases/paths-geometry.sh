#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: a server that comes back with other limits is told once, and not joined
# uses: ulp
# timeout: 90
# variant: queue-depth parameter=sess_queue_depth before=64 after=32
# variant: chunk-size parameter=max_chunk_size before=131072 after=65536

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh

start_server()
{
	load rtrs-server "$parameter=$1"
	load rtrs-test-server
	listen $port
}

stop_server()
{
	unload rtrs-test-server rtrs-server
}

complaints()
{
	klog | grep -c 'expected queue depth' || true
}

left_alone()
{
	klog | grep -q 'not reconnected automatically'
}

run()
{
	local path attempts

	start_links 1
	start_server "$before"
	load rtrs-test-client
	open_session geo delay=1 attempts=-1
	path=$(client_path geo)
	start_requests geo abort=1 depth=16 dir=any size=1..20000
	goes_on geo
	stop_server
	wait_for 20 has link_down 1 $clt/geo/state
	start_server "$after"
	wait_for 20 left_alone
	assert_eq "$(complaints)" 1 "lines about other limits"
	attempts=$(cat "$path/link_attempts")
	refuses "Remote address changed" "$path/reconnect" 1
	assert_eq "$(complaints)" 2 "lines about other limits"
	assert_eq "$(cat "$path/link_attempts")" $((attempts + 1)) attempts
	assert state_is "$path" disconnected
	stop_server
	start_server "$before"
	assert state_is "$path" disconnected
	order "$path" reconnect
	assert state_is "$path" connected
	goes_on geo
	stop_requests geo
	close_session geo
}
