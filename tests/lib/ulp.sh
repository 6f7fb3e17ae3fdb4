# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC3043,SC2119,SC2120
#
# The two test ULPs (tests/kmod): sessions, runs of requests, results. A case
# that uses them sources this file. RTRS_SCALE in the environment of tests/run
# multiplies the number of requests.

clt=/sys/kernel/debug/rtrs-test-client
srv=/sys/kernel/debug/rtrs-test-server
clt_sysfs=/sys/class/rtrs-client
srv_sysfs=/sys/class/rtrs-server
port=4791
scale=${scale:-1}

# put FILE TEXT: false if the file refuses it.
put()
{
	{ echo "$2" >"$1"; } 2>/dev/null
}

# value KEY FILE
value()
{
	sed -n "s/^$1: //p" "$2"
}

# has KEY VALUE FILE, at_least KEY VALUE FILE: for wait_for
has()
{
	[ "$(value "$1" "$3")" = "$2" ]
}

at_least()
{
	[ "$(value "$1" "$3")" -ge "$2" ]
}

scaled()
{
	echo $(($1 * scale))
}

# start_ulps [parameter of rtrs-server...]: everything up to a listening server
start_ulps()
{
	start_ulp_server "$@"
	load rtrs-test-client
}

# start_ulp_server [parameter of rtrs-server...], start_ulp_client: on two VMs
start_ulp_server()
{
	start_rxe "${mtu:-1500}"
	load rtrs-server "$@"
	load rtrs-test-server
	listen $port
}

start_ulp_client()
{
	start_rxe "${mtu:-1500}"
	load rtrs-test-client
}

listen()
{
	put $srv/open "port=$1" || fail "cannot listen on $1: $(cat $srv/open)"
}

# stop_listening [PORT]: the server ULP closes
stop_listening()
{
	put "$srv/${1:-$port}/close" 1 || fail "cannot close port ${1:-$port}"
}

# open_with PARAMETER...: true if that worked
open_with()
{
	put $clt/open "$*"
}

# open_session SLOT [parameter...]: a session of that name to the server
open_session()
{
	local slot=$1

	shift
	open_with slot="$slot" name="$slot" path="ip:$server_addr" \
		port=$port "$@" ||
		fail "cannot open $slot $*: $(value open_errno "$clt/$slot/state")"
}

# open_fails ERRNO MS PARAMETER...: that errno comes within so many ms
open_fails()
{
	local errno=$1 ms=$2

	shift 2
	! open_with slot=failing "$@" || fail "opened: $*"
	assert_eq "$(value open_errno $clt/failing/state)" "-$errno" "$*"
	[ "$(value open_ms $clt/failing/state)" -le "$ms" ] ||
		fail "$*: took $(value open_ms $clt/failing/state) ms"
}

close_session()
{
	put "$clt/$1/close" 1 || fail "close of $1: $(cat "$clt/$1/state")"
}

# bad_result SLOT WHAT: the run's result, and the end
bad_result()
{
	note "$(cat "$clt/$1/result")"
	fail "$2: $(value verdict "$clt/$1/result"), $(value first "$clt/$1/result")"
}

# requests SLOT [parameter...]: runs to the end, and everything must be right
requests()
{
	local slot=$1

	shift
	put "$clt/$slot/run" "$*" || bad_result "$slot" "$*"
}

# start_requests SLOT [parameter...]: goes on until stopped or closed
start_requests()
{
	local slot=$1

	shift
	put "$clt/$slot/start" "count=0 $*" || fail "cannot start $*"
}

stop_requests()
{
	put "$clt/$1/stop" 1 || bad_result "$1" stopped
}

# The verdict of a run that ended because its session was closed.
assert_result()
{
	case $(value verdict "$clt/$1/result") in
	pass) ;;
	*) bad_result "$1" "after the close" ;;
	esac
}

result()
{
	value "$2" "$clt/$1/result"
}

# Nothing wrong on the server's side, and nothing left to answer.
assert_server()
{
	local key stats=$srv/${1:-$port}/stats

	for key in data_mismatches usr_mismatches usr_changed late pending \
		unfinished; do
		assert_eq "$(value $key "$stats")" 0 "server, $key"
	done
	assert_eq "$(value answered "$stats")" "$(value requests "$stats")" \
		"server, answers"
}

# wait_for_sessions CONNECTED DISCONNECTED [PORT]: link events of the server
wait_for_sessions()
{
	local stats=$srv/${3:-$port}/stats

	wait_for 20 has connected "$1" "$stats"
	wait_for 20 has disconnected "$2" "$stats"
}

# begin_clock, then within MS WHAT: fails if more has passed since
begin_clock()
{
	clock=$(uptime_cs)
}

within()
{
	local ms=$((($(uptime_cs) - clock) * 10))

	[ $ms -le "$1" ] || fail "$2: took $ms ms, more than $1"
	note "$2: $ms ms"
}

# The RDMA objects in use; the CQs are not counted, for the kernel keeps those
# that several QPs may share until the device goes.
resources()
{
	rdma resource show rxe0 | sed 's/^[0-9]*: //; s/ cq [0-9]*//'
}

# server_path SESSION, client_path SESSION: the directory of its only path
server_path()
{
	echo "$srv_sysfs/$1"/paths/*
}

client_path()
{
	echo "$clt_sysfs/$1"/paths/*
}
