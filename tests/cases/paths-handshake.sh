#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: one connection's request gets no answer: opened, added, reconnected
# vms: 2
# uses: ulp
# timeout: 180

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh
# shellcheck source=tests/lib/cm.sh
. /tests/lib/cm.sh

# The service connection and one a CPU.
cids="0 1 2"
ports="5000 5001 5002"

server()
{
	local p

	start_links 2
	load rtrs-server sess_queue_depth=16
	load rtrs-test-server
	for p in $ports; do
		listen "$p"
	done
	tell listening yes
	obey
	for p in $ports; do
		assert_server "$p"
	done
}

# Each port loses the requests for one connection, on both links.
lose_requests()
{
	local cid

	for cid in $cids; do
		lose_req 0 "$cid" $((5000 + cid))
		lose_req 1 "$cid" $((5000 + cid))
	done
}

# attempt NAME COMMAND...: in the background; fails, and when is written down
attempt()
{
	local began name=$1

	shift
	began=$(uptime_cs)
	(
		"$@" && echo 0 >"/run/attempt.$name" ||
			echo $(($(uptime_cs) - began)) >"/run/attempt.$name"
	) &
}

# The limit for an attempt is 30 s, and some more for taking nine of them down
# at once. With the first connection's request lost the CM may give up sooner.
assert_attempts()
{
	local cid kind cs

	for cid in $cids; do
		for kind in open add reconnect; do
			cs=$(cat "/run/attempt.$kind$cid")
			note "$kind without connection $cid: failed after $cs cs"
			[ "$cs" != 0 ] || fail "$kind without connection $cid: worked"
			[ "$cs" -le 3500 ] ||
				fail "$kind without connection $cid: took $cs cs"
		done
	done
}

begin_attempts()
{
	local cid

	for cid in $cids; do
		attempt "open$cid" open_with slot="open$cid" name="open$cid" \
			path=ip:10.0.0.1 port=$((5000 + cid))
		attempt "add$cid" put "$clt_sysfs/add$cid/add_path" \
			ip:10.0.1.1
		order "$(path_of "re$cid" 10.0.1.2 10.0.1.1)" disconnect
		attempt "reconnect$cid" put \
			"$(path_of "re$cid" 10.0.1.2 10.0.1.1)/reconnect" 1
	done
}

open_sessions()
{
	local cid

	for cid in $cids; do
		open_session "add$cid" port=$((5000 + cid))
		open_session "re$cid" port=$((5000 + cid)) path=ip:10.0.1.1 \
			delay=1 attempts=-1
		start_requests "add$cid" depth=2 dir=any size=1..5000
		start_requests "re$cid" depth=2 dir=any size=1..5000
	done
}

assert_left()
{
	local cid

	for cid in $cids; do
		assert_eq "$(ls "$clt_sysfs/add$cid/paths")" \
			"ip:10.0.0.2@ip:10.0.0.1" "paths of add$cid"
		[ ! -e "$clt_sysfs/open$cid" ] || fail "open$cid is there"
		goes_on "add$cid"
		goes_on "re$cid"
	done
}

# A server that accepts and then says nothing for longer than the client waits.
never_answers()
{
	remote "put /sys/kernel/debug/rtrs-server/established_delay_ms 32000"
	open_fails 110 32000 name=silent path=ip:10.0.0.1 port=5000
	remote "put /sys/kernel/debug/rtrs-server/established_delay_ms 0"
}

said_given_up_once()
{
	assert_eq "$(klog | grep -c 'given up by the client')" 1 \
		"lines about the old incarnation"
}

# The server does not notice that a client has lost a path, until it comes again:
# the old incarnation must not block the new one.
old_incarnation()
{
	local path

	note "the old incarnation is in the way"
	open_session old path=ip:10.0.1.1 delay=30 attempts=-1 port=5000
	path=$(path_of old 10.0.1.2 10.0.1.1)
	start_requests old depth=2 dir=any size=1..5000
	heartbeat 200 3
	remote deaf 1
	deaf 1
	wait_for 10 state_is "$path" disconnected
	remote hearing 1
	hearing 1
	begin_clock
	order "$path" reconnect
	metric rejoined_ms $((($(uptime_cs) - clock) * 10))
	within 2000 "reconnect over the old incarnation"
	remote said_given_up_once
	goes_on old
	stop_requests old
	close_session old
}

client()
{
	local cid

	ask listening
	start_links 2
	load rtrs-test-client
	open_sessions
	remote lose_requests
	begin_attempts
	wait
	assert_attempts
	assert_left
	remote found_again 0
	remote found_again 1
	for cid in $cids; do
		wait_for 60 state_is "$(path_of "re$cid" 10.0.1.2 10.0.1.1)" \
			connected
		add_path "add$cid" ip:10.0.1.1
		goes_on "add$cid"
		stop_requests "add$cid"
		stop_requests "re$cid"
		close_session "add$cid"
		close_session "re$cid"
		open_session "open$cid" port=$((5000 + cid))
		requests "open$cid" count=20
		close_session "open$cid"
	done
	never_answers
	old_incarnation
	remote_end
}
