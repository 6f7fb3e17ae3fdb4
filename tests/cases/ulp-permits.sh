#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: 10,000 permit takers on a session of depth 16
# uses: ulp
# timeout: 120

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

crowd()
{
	put $clt/permits/permits "$*" ||
		fail "$*: $(tr '\n' ' ' <$clt/permits/permits)"
	note "$*: $(tr '\n' ' ' <$clt/permits/permits)"
}

# allow_threads N: as many as this system may have; a small one has not enough
allow_threads()
{
	local limit=/proc/sys/kernel/threads-max

	defer "echo $(cat $limit) >$limit"
	echo "$1" >$limit
}

run()
{
	start_ulps sess_queue_depth=16
	allow_threads 20000
	open_session permits pdu=40
	assert_eq "$(value queue_depth $clt/permits/state)" 16 "depth"
	crowd threads=10000 takes=1 wait=wait hold=50..200
	crowd threads=200 takes=50 wait=wait hold=0..200 overtake=4
	crowd threads=100 takes=20 wait=mixed con=any hold=0..200
	crowd threads=50 takes=20 wait=nowait
	note "requests of more threads than there are permits"
	requests permits depth=160 threads=8 count="$(scaled 1000)" size=512
	requests permits depth=160 threads=8 count="$(scaled 1000)" size=512 \
		nowait=1 late_put=1
	close_session permits
	assert_server $port
}
