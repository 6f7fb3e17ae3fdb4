#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: close comes back although the server ULP does not answer
# uses: ulp
# timeout: 120
# variant: secure always_invalidate=Y
# variant: plain always_invalidate=N

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

# withhold SLOT: 64 requests that the server keeps
withhold()
{
	open_session "$1" pdu=8
	put "$clt/$1/start" "count=64 depth=64 mode=never abort=1 dir=any
		size=1..20000 timeout=100" || fail "cannot start"
	wait_for 20 has pending 64 $srv/$port/stats
}

client_closes()
{
	withhold client
	begin_clock
	close_session client
	within 10000 "close by the client"
	assert_result client
	assert_eq "$(result client aborted)" 64 "aborted requests"
	put $srv/$port/flush 1
	wait_for_sessions 1 1
}

server_disconnects()
{
	withhold sysfs
	begin_clock
	put "$(server_path sysfs)/disconnect" 1 || fail "cannot disconnect"
	wait_for 20 has confirmed 64 $clt/sysfs/result
	within 10000 "disconnect by the server"
	put $clt/sysfs/wait 1 || bad_result sysfs "after the disconnect"
	assert_eq "$(result sysfs aborted)" 64 "aborted requests"
	put $srv/$port/flush 1
	close_session sysfs
	wait_for_sessions 2 2
}

# The server ULP answers what it has kept when it closes.
server_closes()
{
	withhold server
	begin_clock
	stop_listening $port
	within 10000 "close by the server"
	put $clt/server/wait 1 || bad_result server "after the close"
	close_session server
	wait_for_sessions 3 3
}

run()
{
	start_ulps always_invalidate="$always_invalidate"
	client_closes
	server_disconnects
	server_closes
	assert_server $port
}
