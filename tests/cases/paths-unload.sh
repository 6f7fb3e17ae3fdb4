#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: modules are unloaded and sessions closed under load, in every order
# uses: ulp
# timeout: 150
# variant: secure always_invalidate=Y
# variant: plain always_invalidate=N

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh

start_server()
{
	load rtrs-server always_invalidate="$always_invalidate" \
		sess_queue_depth=64
	load rtrs-test-server
	listen $port
}

start_client()
{
	load rtrs-test-client
	open_session un path=ip:10.0.1.1 delay=1 attempts=-1
	start_requests un abort=1 depth=32 threads=2 dir=any con=any mode=any \
		size=1..20000 delay=0..2000
	goes_on un
}

# gone MODULE...: within ten seconds
gone()
{
	begin_clock
	unload "$@"
	within 10000 "unloading $*"
}

in_use()
{
	assert_fails rmmod "$1" 2>/dev/null
}

client_first()
{
	start_server
	start_client
	in_use rtrs-client
	in_use rtrs-server
	gone rtrs-test-client
	gone rtrs-client
	wait_for_sessions 1 1
	assert_server
	gone rtrs-test-server rtrs-server
}

server_first()
{
	start_server
	start_client
	gone rtrs-test-server
	gone rtrs-server
	wait_for 10 has link_down 1 $clt/un/state
	gone rtrs-test-client rtrs-client
}

# The server is gone, and the paths try to connect again and again.
reconnecting()
{
	start_server
	start_client
	stop_listening
	wait_for 10 reconnects_in_vain
	gone rtrs-test-client rtrs-client
	gone rtrs-test-server rtrs-server
}

reconnects_in_vain()
{
	! cut -d ' ' -f 2 "$clt_sysfs"/un/paths/*/stats/reconnects |
		grep -qx 0
}

# Both at once.
together()
{
	start_server
	start_client
	(unload rtrs-test-server) &
	gone rtrs-test-client
	wait $!
	gone rtrs-client rtrs-server
}

# Paths are removed, reconnected and disconnected while the session closes.
orders_and_close()
{
	local i path pids='' order

	start_server
	for i in 1 2 3; do
		start_client
		for order in remove_path reconnect disconnect; do
			for path in "$clt_sysfs"/un/paths/*; do
				put "$path/$order" 1 &
				pids="$pids $!"
			done
		done
		gone rtrs-test-client
		# shellcheck disable=SC2086 # a list of numbers
		wait $pids || true
		gone rtrs-client
	done
	gone rtrs-test-server rtrs-server
}

# Eight shells disconnect the server's paths while the client closes.
server_orders_and_close()
{
	local i n pids

	start_server
	for i in 1 2 3 4; do
		start_client
		pids=
		for n in 1 2 3 4 5 6 7 8; do
			disconnect_all &
			pids="$pids $!"
		done
		close_session un
		# shellcheck disable=SC2086 # a list of numbers
		wait $pids || true
		wait_for 10 test ! -e $srv_sysfs/un
		assert_server
		gone rtrs-test-client
	done
	gone rtrs-test-server rtrs-server rtrs-client
}

disconnect_all()
{
	local path n

	for n in 1 2 3 4 5; do
		for path in "$srv_sysfs"/un/paths/*; do
			put "$path/disconnect" 1 || true
		done
	done
}

run()
{
	local order before

	start_links 2
	before=$(resources)
	for order in client_first server_first reconnecting together \
			orders_and_close server_orders_and_close; do
		note "-- $order"
		$order
		assert_eq "$(resources)" "$before" "RDMA objects"
	done
}
