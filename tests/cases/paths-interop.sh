#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: failover with the stock kernel's modules on one side, fio verifies on rnbd
# vms: 2
# uses: rnbd
# timeout: 240
# allow-log: mr->lkey .*not free
# variant: ours-to-peer when=check-long modules="client=ours server=peer" kinds="server-disconnect client-disconnect remove-path link-client deaf-client deaf-server" flaps=3
# variant: peer-to-ours when=check-long modules="client=peer server=ours" kinds="server-disconnect client-disconnect remove-path" flaps=3
# variant: ours-to-ours when=check-long modules="client=ours server=ours" kinds="server-disconnect client-disconnect remove-path link-client link-server deaf-client deaf-server rxe-client rxe-server" flaps=3
#
# Only our side's heartbeat can be made faster, so what the other side has to
# find out by its own is left out. Each kind once on link 1, then at random. The
# stock server refuses a path while it takes the last attempt down.

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh
# shellcheck source=tests/lib/flaps.sh
. /tests/lib/flaps.sh

session=interop impatient=yes

our_heartbeat()
{
	detection=30000
	[ "$set_name" != ours ] || heartbeat 500 3
}

server()
{
	local disk

	start_links 2
	load rnbd-server
	our_heartbeat
	disk=$(memory_disk 48)
	tell disk "$disk"
	obey
}

# The same 8 MiB are written and compared over and over, until told to end.
fio_loop()
{
	while [ ! -e /run/enough ]; do
		verify_with_fio "$1" --size=8m
		echo >>/run/rounds
	done
}

rounds()
{
	wc -l </run/rounds
}

has_rounds()
{
	[ ! -d "/proc/$fio_pid" ] || [ "$(rounds)" -ge "$1" ]
}

# One round of fio that has begun after this moment
more()
{
	assert test -d "/proc/$fio_pid"
	wait_for 90 has_rounds $(($(rounds) + 2))
	assert test -d "/proc/$fio_pid"
}

client()
{
	local disk dev kind fio_pid

	disk=$(ask disk)
	start_links 2
	load rnbd-client
	our_heartbeat
	start_random
	dev=$(rnbd_map $session "$disk" path=ip:10.0.1.1)
	assert test -d "$(link_path 0)"
	assert test -d "$(link_path 1)"
	rm -f /run/enough
	: >/run/rounds
	fio_loop "$dev" &
	fio_pid=$!
	defer "touch /run/enough; wait"
	for kind in $kinds; do
		flap "$kind" 1
		note "$kind at $(cut -d ' ' -f 1 /proc/uptime), $(rounds) rounds"
	done
	flaps "$(scaled "$flaps")" no_pause
	more
	touch /run/enough
	wait $fio_pid
	metric fio_rounds "$(rounds)"
	assert_eq "$(total_inflight $session)" 0 "in flight when idle"
	rnbd_unmap "$dev"
	remote_end
}

no_pause()
{
	echo 0
}
