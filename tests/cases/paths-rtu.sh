#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: the network loses every RTU, and paths come up all the same
# vms: 2
# uses: ulp
# timeout: 90

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh
# shellcheck source=tests/lib/cm.sh
. /tests/lib/cm.sh

server()
{
	start_links 2
	load rtrs-server sess_queue_depth=64
	load rtrs-test-server
	listen $port
	tell listening yes
	obey
	assert_server
}

# At least one for each connection: the service's and one a CPU.
assert_lost()
{
	remote "tell lost$1 \$(lost_so_far $1)"
	[ "$(ask "lost$1")" -ge 3 ] || fail "link $1: RTUs got through"
}

# In less time than the CM takes to send a REP again.
client()
{
	ask listening
	start_links 2
	load rtrs-test-client
	remote lose_rtu 0
	remote lose_rtu 1
	begin_clock
	open_session rtu
	within 3000 "opened"
	start_requests rtu depth=8 dir=any con=any size=1..20000
	begin_clock
	add_path rtu ip:10.0.1.1
	within 3000 "path added"
	goes_on rtu
	assert_lost 0
	assert_lost 1
	remote found_again 0
	remote found_again 1
	stop_requests rtu
	close_session rtu
	remote_end
}
