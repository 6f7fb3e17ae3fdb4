#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: the client's VM is killed under load, and comes back under the same name
# vms: 2
# uses: ulp
# timeout: 180
# allow-log: mr->lkey .*not free
#
# The heartbeat is slower than the VM boots, so the server still has the old
# session when the new one comes, and refuses its name by closing.

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh

server()
{
	start_links 2
	load rtrs-server sess_queue_depth=64
	heartbeat 5000 5
	load rtrs-test-server
	listen $port
	tell listening yes
	ask loaded
	kill_other
	begin_clock
	boot_other
	wait_for $((detection / 1000 + 1)) has disconnected 1 $srv/$port/stats
	metric left_ms $((($(uptime_cs) - clock) * 10))
	wait_for 60 has connected 2 $srv/$port/stats
	metric rejoined_ms $((($(uptime_cs) - clock) * 10))
	within $((detection + 2000)) "until the client was in again"
	ask finished
	wait_for_sessions 2 2
	assert_server
}

start_client()
{
	start_links 2
	load rtrs-test-client
	heartbeat 5000 5
}

client()
{
	ask listening
	start_client
	open_session same path=ip:10.0.1.1
	start_requests same depth=16 dir=any con=any size=1..20000
	goes_on same
	tell loaded yes
	sleep 1000
}

gets_in()
{
	open_with slot=same name=same path=ip:10.0.0.1 path=ip:10.0.1.1 \
		port=$port && return
	refused=$((refused + 1))
	assert_eq "$(value open_errno $clt/same/state)" -16 "why it is refused"
	return 1
}

client_again()
{
	local refused=0

	start_client
	wait_for 60 gets_in
	metric refused $refused
	requests same count=200 depth=8 dir=any con=any size=1..20000
	close_session same
	tell finished yes
}
