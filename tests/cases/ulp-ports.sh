#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: several ports are open at once, with sessions to each
# uses: ulp
# timeout: 60

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

ports="$port 4792 1 65535"

run()
{
	local p

	start_ulps always_invalidate=Y sess_queue_depth=64
	for p in $ports; do
		[ "$p" = "$port" ] || listen "$p"
		open_session "a$p" port="$p"
		open_session "b$p" port="$p"
	done
	for p in $ports; do
		start_requests "a$p" depth=16 dir=any size=1..10000
		start_requests "b$p" depth=16 dir=any mode=any size=1..10000
	done
	for p in $ports; do
		wait_for 30 at_least confirmed 50 "$clt/a$p/result"
		wait_for 30 at_least confirmed 50 "$clt/b$p/result"
		assert_eq "$(value connected "$srv/$p/stats")" 2 "sessions of $p"
	done
	note "one port closes, the others go on"
	stop_requests "a$port"
	stop_requests "b$port"
	close_session "a$port"
	stop_listening $port
	wait_for 20 has link_down 1 "$clt/b$port/state"
	close_session "b$port"
	for p in 4792 1 65535; do
		stop_requests "a$p"
		requests "a$p" depth=16 count=50
		stop_requests "b$p"
		close_session "a$p"
		close_session "b$p"
		wait_for_sessions 2 2 "$p"
		assert_server "$p"
		stop_listening "$p"
	done
	listen $port
	open_session again
	requests again count=10
	close_session again
}
