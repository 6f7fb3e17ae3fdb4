#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: sessions come and go under load, several at a time
# uses: ulp
# timeout: 120
# variant: secure always_invalidate=Y
# variant: plain always_invalidate=N

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

# one SLOT ROUND: a session under load, until one of the sides ends it
one()
{
	local slot=$1 round=$2 path

	open_session "$slot" pdu="$round" delay=1 attempts=$((round % 2 - 1))
	start_requests "$slot" abort=1 depth=24 threads=2 dir=any con=any \
		mode=any err=0..1 delay=0..1000 size=1..30000 offset=0..4095 \
		seed="$round"
	wait_for 30 at_least confirmed $((round * 37 % 100)) "$clt/$slot/result"
	if [ $((round % 3)) = 1 ]; then
		path=$(server_path "$slot")
		put "$path/disconnect" 1 || fail "cannot disconnect $slot"
		wait_for 30 at_least link_down 1 "$clt/$slot/state"
	fi
	[ $((round % 4)) = 0 ] || stop_requests "$slot"
	close_session "$slot"
	assert_result "$slot"
	wait_for 30 test ! -e "$srv_sysfs/$slot"
}

rounds_of()
{
	local round=0 rounds

	rounds=$(scaled 8)
	while [ $round -lt "$rounds" ]; do
		one "$1" $((round + $2))
		round=$((round + 1))
	done
}

run()
{
	local before pids="" pid bad=0 slot

	start_ulps always_invalidate="$always_invalidate"
	before=$(resources)
	for slot in 1 2 3 4; do
		rounds_of "s$slot" "$slot" &
		pids="$pids $!"
	done
	for pid in $pids; do
		wait "$pid" || bad=1
	done
	[ $bad = 0 ] || fail "one of the sessions went wrong"
	wait_for 20 has disconnected "$(value connected $srv/$port/stats)" \
		$srv/$port/stats
	assert_server $port
	assert_eq "$(resources)" "$before" "RDMA objects"
}
