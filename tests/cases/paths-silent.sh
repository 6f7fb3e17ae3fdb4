#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: towards a silent server: interrupted orders, closing, unloading
# vms: 2
# uses: ulp
# when: check-long
# timeout: 180
# allow-log: mr->lkey .*not free

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh

server()
{
	start_links 2
	load rtrs-server sess_queue_depth=64
	heartbeat 500 3
	load rtrs-test-server
	listen $port
	tell listening yes
	obey
}

# interrupted FILE TEXT: a write that waits comes back as soon as it is told
interrupted()
{
	local status=0

	begin_clock
	timeout -s INT 2 sh /run/write "$1" "$2" 2>/run/error || status=$?
	note "status $status: $(cat /run/error)"
	[ $status != 0 ] || fail "$2: did not wait"
	[ $((($(uptime_cs) - clock) * 10)) -ge 1900 ] ||
		fail "$2: did not wait, but: $(cat /run/error)"
	within 3000 "interrupted: $2"
}

same_resources()
{
	[ "$(resources)" = "$before" ]
}

nobody_answers()
{
	before=$(resources)
	note "no such address"
	interrupted $clt/open "slot=int name=int path=ip:10.0.0.77 port=$port"
	assert_eq "$(ls $clt_sysfs)" "" "client sessions in sysfs"
	wait_for 5 same_resources
	note "a server that hears nothing"
	remote deaf 0
	interrupted $clt/open "slot=int name=int path=ip:10.0.0.1 port=$port"
	assert_eq "$(ls $clt_sysfs)" "" "client sessions in sysfs"
	wait_for 5 same_resources
	remote hearing 0
	open_session int path=ip:10.0.1.1
	requests int count=20
	close_session int
}

added_path()
{
	note "a path to a server that hears nothing"
	open_session add
	start_requests add depth=8 dir=any
	remote deaf 1
	interrupted $clt_sysfs/add/add_path ip:10.0.1.1
	assert_eq "$(ls $clt_sysfs/add/paths)" ip:10.0.0.2@ip:10.0.0.1 paths
	goes_on add
	remote hearing 1
	add_path add ip:10.0.1.1
	goes_on add
	stop_requests add
	close_session add
}

# Nothing can be heard of the server any more, and nothing reaches it.
dead_peer()
{
	remote deaf 0
	remote deaf 1
	deaf 0
	deaf 1
}

alive_again()
{
	hearing 0
	hearing 1
	remote hearing 0
	remote hearing 1
}

# Until then the name is taken.
server_has_noticed()
{
	remote wait_for 20 test ! -e $srv_sysfs/dead
}

# loaded_session: with requests in flight when the peer dies
loaded_session()
{
	open_session dead path=ip:10.0.1.1 delay=1 attempts=-1
	start_requests dead abort=1 depth=32 threads=2 dir=any con=any \
		size=1..20000
	goes_on dead
}

close_with_dead_peer()
{
	note "close, before anybody has noticed"
	loaded_session
	dead_peer
	begin_clock
	close_session dead
	within 10000 "close"
	assert_result dead
	alive_again
	server_has_noticed
	note "the ULP is unloaded while the paths try to come back"
	loaded_session
	dead_peer
	wait_for 10 has link_down 1 $clt/dead/state
	begin_clock
	unload rtrs-test-client rtrs-client
	within 15000 "unloading"
	alive_again
	server_has_noticed
	load rtrs-test-client
	note "the server closes, before it has noticed"
	loaded_session
	dead_peer
	remote begin_clock
	remote stop_listening
	remote within 10000 "'close by the server'"
	alive_again
	wait_for 20 has link_down 1 $clt/dead/state
	close_session dead
}

client()
{
	local before

	# shellcheck disable=SC2016 # expanded by the shell that is interrupted
	echo 'echo "$2" >"$1"' >/run/write
	ask listening
	start_links 2
	load rtrs-test-client
	heartbeat 500 3
	nobody_answers
	added_path
	close_with_dead_peer
	remote_end
}
