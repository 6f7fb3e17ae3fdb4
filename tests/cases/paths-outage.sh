#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: both links are lost: requests end in bounded time, all comes back by itself
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
	wait_for_sessions 4 4
	assert_server
}

both()
{
	"$1" 0
	"$1" 1
}

# round NUMBER BEGIN... -- END...: the outage lasts for two detection times. A
# request may move from one path to the other, whose end is found out up to one
# heartbeat later.
round()
{
	local number=$1 begin='' pause limit=$((detection + 500 + 1000))

	shift
	while [ "$1" != -- ]; do
		begin="$begin $1"
		shift
	done
	shift
	note "round $number:$begin"
	cat $clt/out/pause
	$begin
	wait_for $((limit / 1000 + 2)) has link_down "$number" $clt/out/state
	wait_for 5 nothing_in_flight
	pause=$(cat $clt/out/pause)
	[ "$pause" -le $limit ] ||
		fail "an I/O took $pause ms to end, more than $limit"
	refused_for $((2 * detection))
	begin_clock
	"$@"
	wait_for 40 has link_up "$number" $clt/out/state
	note "longest end of a request: $pause ms"
	metric "end_ms_$number" "$pause"
	metric "back_ms_$number" $((($(uptime_cs) - clock) * 10))
	wait_for 40 all_connected
	goes_on out
}

nothing_in_flight()
{
	[ "$(total_inflight out)" = 0 ]
}

all_connected()
{
	! cat "$clt_sysfs"/out/paths/*/state | grep -q disconnected
}

# refused_for MS: in that time requests are refused
refused_for()
{
	local end=$(($(uptime_cs) + $1 / 10)) before

	while [ "$(uptime_cs)" -lt $end ]; do
		before=$(result out aborted)
		wait_for 5 at_least aborted $((before + 10)) $clt/out/result
	done
	assert_eq "$(value query $clt/out/state)" -70 "query without a path"
}

client()
{
	ask listening
	start_links 2
	load rtrs-test-client
	heartbeat 500 3
	open_session out path=ip:10.0.1.1 delay=1 attempts=-1
	start_requests out abort=1 depth=16 threads=2 dir=any con=any \
		size=1..20000
	goes_on out
	round 1 both link_down -- both link_up
	round 2 remote both deaf -- remote both hearing
	round 3 both deaf -- both hearing
	stop_requests out
	assert_eq "$(total_inflight out)" 0 "in flight when idle"
	close_session out
	remote_end
}
