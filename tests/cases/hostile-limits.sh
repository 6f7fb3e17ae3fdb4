#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: what one client may take: sessions, paths, half-open connections, memory
# uses: ulp hostile
# timeout: 120

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/hostile.sh
. /tests/lib/hostile.sh

parameters=/sys/module/rtrs_server/parameters

# limit PARAMETER VALUE STAGE WANTED WHY: so many paths come up, and the reason
# why no more do is in the log; without the limit, and with the paths gone, they
# do again
limit()
{
	local old got

	note "$1=$2"
	old=$(cat $parameters/"$1")
	put $parameters/"$1" "$2" || fail "$1 cannot be changed"
	got=$(rtrs-hostile fill "$server_addr" "$port" "$3")
	assert_eq "$got" "$4" "paths with $1=$2"
	klog | grep -q "rtrs_server: .*$5" || fail "the log does not say: $5"
	goes_on honest
	put $parameters/"$1" "$old"
	wait_for 10 attack_over
	attack hb-payload
	wait_for 10 attack_over
}

run()
{
	start_ulps sess_queue_depth=6 max_chunk_size=8192
	start_honest
	limit max_sessions 5 up "4 -1" "$server_addr: .*max_sessions is reached"
	limit max_client_paths 5 accepted "4 -1" "$server_addr: .*max_client_paths is reached"
	limit max_half_open 7 accepted "7 -16" "$server_addr: .*max_half_open is reached"
	limit max_client_half_open 7 accepted "7 -16" \
		"$server_addr: .*max_client_half_open is reached"
	# A session's chunks take 72 KiB; one session is the honest one's.
	limit max_memory_mb 1 up "13 closed" "max_memory_mb is reached"
	stop_honest
}
