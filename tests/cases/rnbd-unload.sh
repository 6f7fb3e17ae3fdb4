#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: rnbd under fio: paths fail, then modules go in each order, and come back
# uses: rnbd
# timeout: 240
# variant: secure always_invalidate=Y
# variant: plain always_invalidate=N
#
# A disk that is being removed has size 0, from which fio reads nothing without
# an error; so it compares what it reads only where the disk stays.

# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh

clt_sysfs=/sys/class/rtrs-client
session=unload

load_server()
{
	load rtrs-server always_invalidate="$always_invalidate" \
		sess_queue_depth=64
	load rnbd-server
}

map()
{
	dev=$(rnbd_map $session "$disk")
	echo "ip:10.0.1.1" >$clt_sysfs/$session/add_path
}

# start_io: reads and writes until the disk is gone
start_io()
{
	fio --name=load --filename="$dev" --direct=1 --ioengine=libaio \
		--rw=randrw --bsrange=4k-64k --iodepth=16 --size=32m \
		--time_based --runtime=120 --allow_file_create=0 >/run/fio.load 2>&1 &
	io=$!
	wait_for 20 requests_flow
}

requests_flow()
{
	awk '{ exit $1 + $5 < 100 }' "/sys/block/${dev#/dev/}/stat"
}

force_unmap()
{
	echo force >"/sys/block/${dev#/dev/}/rnbd/unmap_device"
	wait_for 30 test ! -e "/sys/block/${dev#/dev/}"
}

path_state()
{
	state_is "$clt_sysfs/$session/paths/ip:10.0.$1.1@ip:10.0.$1.1" "$2"
}

# Data is compared all the time; each path goes in turn.
failover()
{
	local link verify

	note "failover"
	verify_with_fio "$dev" --size=32m --loops=3 >/run/fio.verify 2>&1 &
	verify=$!
	for link in 0 1 0 1; do
		wait_for 20 requests_flow
		del_rxe $link
		wait_for 20 path_state $link disconnected
		add_rxe $link
		wait_for 20 put_reconnect $link
	done
	wait "$verify" || fail "fio: $(cat /run/fio.verify)"
	assert_eq "$(checksum "$dev")" "$(checksum "$disk")" "data on $disk"
}

put_reconnect()
{
	echo 1 >"$clt_sysfs/$session/paths/ip:10.0.$1.1@ip:10.0.$1.1/reconnect" \
		2>/dev/null
	path_state "$1" connected
}

client_first()
{
	note "the client's modules go first"
	start_io
	force_unmap
	wait "$io" || true
	wait_for 30 rnbd_session_gone
	unload rnbd-client rtrs-client rnbd-server rtrs-server
}

# The disk stays mapped, and is there again when the server is.
server_first()
{
	note "the server's modules go first"
	start_io
	unload rnbd-server rtrs-server
	wait "$io" || true
	wait_for 30 path_state 0 disconnected
	wait_for 30 path_state 1 disconnected
	note "the server comes back"
	load_server
	wait_for 30 put_reconnect 0
	wait_for 30 put_reconnect 1
	verify_with_fio "$dev" --size=8m
	assert_eq "$(checksum "$dev")" "$(checksum "$disk")" "data on $disk"
	note "the server's modules go, and those of a client without it"
	start_io
	unload rnbd-server rtrs-server
	wait "$io" || true
	force_unmap
	wait_for 30 rnbd_session_gone
	unload rnbd-client rtrs-client
}

ulps_alone()
{
	note "the ULPs alone"
	start_io
	unload rnbd-server
	wait "$io" || true
	force_unmap
	wait_for 30 rnbd_session_gone
	unload rnbd-client
	load rnbd-server
	load rnbd-client
	map
	verify_with_fio "$dev" --size=8m
	rnbd_unmap "$dev"
}

start()
{
	load_server
	load rnbd-client
	map
}

run()
{
	local disk dev io

	start_links 2
	disk=$(memory_disk 64)
	start
	failover
	client_first
	start
	server_first
	start
	ulps_alone
}
