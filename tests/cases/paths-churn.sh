#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: policies change and paths come and go under load
# uses: ulp
# timeout: 90
# variant: one-path paths=1 changes=300
# variant: two-paths paths=2 changes=300
# variant: four-paths paths=4 changes=300
# variant: one-path-long when=check-long timeout=1800 paths=1 changes=10000
# variant: two-paths-long when=check-long timeout=1800 paths=2 changes=10000
# variant: four-paths-long when=check-long timeout=1800 paths=4 changes=10000

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh

# Path 0 stays; a path more than the variant has comes and goes as well.
address()
{
	case $1 in
	0) echo 10.0.0.1 ;;
	1) echo 10.0.1.1 ;;
	2) echo fd00::1 ;;
	3) echo fd01::1 ;;
	esac
}

toggle()
{
	local path

	path=$(path_of churn "$(address "$1")" "$(address "$1")")
	if [ -d "$path" ]; then
		order "$path" remove_path
		removed=$((removed + 1))
	else
		add_path churn "ip:$(address "$1")"
		added=$((added + 1))
	fi
}

change()
{
	local last=$((paths > 2 ? 3 : paths))

	random 4
	if [ "$pick" != 0 ]; then
		random 3
		echo "$pick" >$clt_sysfs/churn/mpath_policy
	else
		random "$last"
		toggle $((pick + 1))
	fi
}

run()
{
	local i=0 n list='' before added=0 removed=0

	start_links 2
	load rtrs-server sess_queue_depth=32 max_chunk_size=32768
	load rtrs-test-server
	load rtrs-test-client
	listen $port
	start_random
	before=$(resources)
	for n in $(seq 1 $((paths - 1))); do
		list="$list path=ip:$(address "$n")"
	done
	open_session churn "$list" delay=1 attempts=-1
	start_requests churn depth=16 threads=2 dir=any con=any size=1..20000
	while [ $i -lt "$(scaled "$changes")" ]; do
		change
		i=$((i + 1))
	done
	goes_on churn
	stop_requests churn
	note "$added paths added, $removed removed; $(result churn confirmed) requests"
	assert_eq "$(total_inflight churn)" 0 "in flight when idle"
	assert_eq "$(value link_down $clt/churn/state)" 0 "link_down"
	close_session churn
	wait_for 20 test ! -e $srv_sysfs/churn
	assert_eq "$(resources)" "$before" "RDMA objects"
	assert_server
}
