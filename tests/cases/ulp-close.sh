#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: either side closes under load, each request ends exactly once
# uses: ulp
# timeout: 120
# variant: client-secure who=client always_invalidate=Y
# variant: client-plain who=client always_invalidate=N
# variant: server-secure who=server always_invalidate=Y
# variant: server-plain who=server always_invalidate=N
# variant: sysfs-secure who=sysfs always_invalidate=Y
# variant: sysfs-plain who=sysfs always_invalidate=N

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

load_on()
{
	start_requests "$1" abort=1 depth=64 threads=2 dir=any con=any mode=any \
		delay=0..2000 size=1..20000 offset=0..4095 err=0..1 "seed=$2"
	wait_for 30 at_least confirmed "$2" "$clt/$1/result"
}

client_closes()
{
	close_session load
	assert_result load
}

# ends: what is in flight ends, and nothing new can be sent
ends()
{
	wait_for 20 at_least link_down 1 $clt/load/state
	wait_for 20 at_least aborted 1 $clt/load/result
	stop_requests load
	assert_eq "$(value query $clt/load/state)" -70 "query without a path"
	close_session load
}

server_closes()
{
	stop_listening $port
	assert_server $port
	ends
	listen $port
}

sysfs_closes()
{
	put "$(server_path load)/disconnect" 1 || fail "cannot disconnect"
	ends
}

# The moment comes after so and so many requests.
run()
{
	local after before

	start_ulps always_invalidate="$always_invalidate"
	before=$(resources)
	for after in 0 1 3 10 40 90 200 500; do
		note "after $after requests"
		open_session load pdu=16
		load_on load $after
		"${who}_closes"
		wait_for 20 no_sessions
		assert_server $port
	done
	assert_eq "$(resources)" "$before" "RDMA objects"
}

no_sessions()
{
	assert_eq "$(ls $clt_sysfs)" "" "client sessions in sysfs"
	[ -z "$(ls $srv_sysfs)" ] &&
		has disconnected "$(value connected $srv/$port/stats)" \
			$srv/$port/stats
}
