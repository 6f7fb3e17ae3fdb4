#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: which path the policies choose, and counts of requests in flight
# uses: ulp
# timeout: 90

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh

policy_file=$clt_sysfs/pol/mpath_policy

# policy NAME SHOWN
policy()
{
	put $policy_file "$1" || fail "no policy $1"
	assert_eq "$(cat $policy_file)" "$2" "policy $1"
}

reset_all()
{
	local path

	for path in "$clt_sysfs"/pol/paths/*; do
		order "$path" stats/reset_all
	done
}

# shares PARAMETER...: runs requests; sets $shares to each path's number
shares()
{
	local path

	reset_all
	requests pol "$@"
	shares=
	for path in "$clt_sysfs"/pol/paths/*; do
		shares="$shares $(requests_of "$path")"
	done
	note "$(cat $policy_file), $*:$shares"
}

names()
{
	local name

	for name in 0 rr round-robin; do
		policy $name "round-robin (RR: 0)"
	done
	for name in 2 ml min-latency; do
		policy $name "min-latency (ML: 2)"
	done
	for name in 1 mi min-inflight; do
		policy $name "min-inflight (MI: 1)"
	done
	wrong $policy_file 3 -1 "" r "rr rr" RR min-inflight1
	assert_eq "$(cat $policy_file)" "min-inflight (MI: 1)" policy
}

# Each CPU has its own turn: one request more or less for each of two CPUs,
# and for each time that the thread changed its CPU.
round_robin()
{
	policy rr "round-robin (RR: 0)"
	shares count=400 depth=1
	much_the_same
	shares count=400 depth=16 threads=2
	much_the_same
}

much_the_same()
{
	local share

	for share in $shares; do
		case $share in
		9[0-9] | 10[0-9]) ;;
		*) fail "round-robin gave$shares" ;;
		esac
	done
}

# One at a time always finds all paths idle, and takes the first.
min_inflight()
{
	local path

	policy mi "min-inflight (MI: 1)"
	shares count=100 depth=1
	[ "$(echo "$shares" | tr ' ' '\n' | sort -n | tail -n 1)" = 100 ] ||
		fail "min-inflight gave$shares to idle paths"
	withheld 8
	for path in "$clt_sysfs"/pol/paths/*; do
		assert_eq "$(inflight_of "$path")" 2 "in flight on $path"
	done
	flushed
	note "a busy path, and idle ones"
	for path in "$clt_sysfs"/pol/paths/*; do
		[ "$path" = "$busy" ] || order "$path" disconnect
	done
	withheld 10
	assert_eq "$(inflight_of "$busy")" 10 "in flight on the only path"
	for path in "$clt_sysfs"/pol/paths/*; do
		[ "$path" = "$busy" ] || order "$path" reconnect
	done
	order "$busy" disconnect
	assert_eq "$(inflight_of "$busy")" 0 "in flight on no path"
	assert_eq "$(total_inflight pol)" 10 "in flight on the others"
	assert_eq "$(rdma_field "$busy" 6)" 10 "failed over"
	note "the path returns when the server is done with what it brought"
	put $srv/$port/flush 1
	order "$busy" reconnect
	wait_for 20 at_least pending 10 $srv/$port/stats
	flushed
}

# withheld N: requests that are not answered before flushed
withheld()
{
	put $clt/pol/start "count=$1 depth=$1 mode=never" || fail "cannot start"
	wait_for 20 at_least pending "$1" $srv/$port/stats
	assert_eq "$(total_inflight pol)" "$1" "in flight"
}

flushed()
{
	reset_all
	assert_eq "$(total_inflight pol)" "$(result pol accepted)" \
		"in flight after a reset"
	put $srv/$port/flush 1
	put $clt/pol/wait 1 || bad_result pol "after the flush"
	assert_eq "$(total_inflight pol)" 0 "in flight when idle"
}

# The latencies of this VM's paths are much the same: any choice is right.
min_latency()
{
	local path

	policy ml "min-latency (ML: 2)"
	for path in "$clt_sysfs"/pol/paths/*; do
		wait_for 10 measured "$path"
	done
	shares count=400 depth=16 threads=2
	assert_eq "$(total_inflight pol)" 0 "in flight when idle"
}

measured()
{
	[ "$(cat "$1/cur_latency")" != "0 ns" ]
}

run()
{
	local shares busy

	start_links 2
	load rtrs-server sess_queue_depth=64
	heartbeat 200 10
	load rtrs-test-server
	load rtrs-test-client
	listen $port
	open_session pol path=ip:10.0.1.1 path=ip:fd00::1 path=ip:fd01::1
	busy=$(path_of pol 10.0.1.1 10.0.1.1)
	names
	round_robin
	min_inflight
	min_latency
	close_session pol
}
