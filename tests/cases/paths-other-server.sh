#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: a path to another server, a name that another client has: refused, no harm
# vms: 2
# uses: ulp
# timeout: 90

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh

# Both sides run both modules: each is another server, and another client, to
# the other one.
start_all()
{
	start_links 1
	load rtrs-server sess_queue_depth=64
	heartbeat 200 10
	load rtrs-test-server
	load rtrs-test-client
	listen $port
}

server()
{
	start_all
	tell listening yes
	obey
}

# refused_name: a second client with the name of the first. The name comes when
# all is connected; all that a server can do then is to close, and to say why.
refused_name()
{
	local before lines

	lines=$(said_why)
	before=$(resources)
	! open_with slot=twin name=both path=ip:10.0.0.1 port=$port ||
		fail "two clients have the same session"
	assert_eq "$(value open_errno $clt/twin/state)" -16 "open"
	assert_eq "$(said_why)" $((lines + 1)) "lines of the server"
	assert_eq "$(ls $clt_sysfs)" "" "client sessions in sysfs"
	[ "$(resources)" = "$before" ] || wait_for 10 same_as "$before"
	open_session other
	requests other count=50 depth=8
	close_session other
}

said_why()
{
	klog | grep -c 'there is another session "both"' || true
}

same_as()
{
	[ "$(resources)" = "$1" ]
}

client()
{
	local i

	ask listening
	start_all
	open_session both delay=1 attempts=-1
	start_requests both depth=16 dir=any con=any size=1..20000
	for i in 1 2 3; do
		refuses "No such device or address" $clt_sysfs/both/add_path \
			ip:10.0.0.2
		assert_eq "$(ls $clt_sysfs/both/paths)" \
			ip:10.0.0.2@ip:10.0.0.1 paths
		goes_on both
		remote refused_name
		goes_on both
	done
	assert_eq "$(ls $srv_sysfs)" "" "sessions of this server"
	assert_eq "$(value connected $srv/$port/stats)" 0 "sessions of this ULP"
	stop_requests both
	assert_eq "$(value link_down $clt/both/state)" 0 "link_down"
	close_session both
	remote_end
}
