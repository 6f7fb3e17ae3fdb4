#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: the server's VM is killed under load and booted again, the client rejoins
# vms: 2
# uses: ulp rnbd
# timeout: 240
#
# One session of the test ULP, and a disk that survives, written block by block:
# what was acknowledged must be there.

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh

blocks=256

server()
{
	start_links 2
	load rtrs-server sess_queue_depth=64
	heartbeat 500 3
	load rnbd-server
	load rtrs-test-server
	listen $port
	tell "listening$era" yes
	obey
	assert_server
}

server_again()
{
	server
}

# content NUMBER: 16 KiB
content()
{
	yes "block $1 of this test" | head -c 16384
}

# Goes on until told; what fails is written again. The last number that was
# acknowledged in each block stands in /run/acked.
write_blocks()
{
	local n=0

	while [ ! -e /run/enough ]; do
		content $n >/run/block
		if dd if=/run/block of="$dev" bs=16k count=1 conv=notrunc \
				seek=$((n % blocks)) oflag=direct 2>/dev/null
		then
			echo $n >"/run/acked/$((n % blocks))"
			echo $n >/run/acked/last
			n=$((n + 1))
		else
			usleep 100000
		fi
	done
}

acked()
{
	cat /run/acked/last 2>/dev/null || echo 0
}

has_acked()
{
	[ "$(acked)" -ge "$1" ]
}

compare_blocks()
{
	local file block

	for file in /run/acked/[0-9]*; do
		block=${file##*/}
		dd if="$dev" of=/run/found bs=16k count=1 skip="$block" \
			iflag=direct 2>/dev/null || fail "cannot read $block"
		content "$(cat "$file")" >/run/block
		cmp -s /run/found /run/block ||
			fail "block $block does not hold what was acknowledged"
	done
}

client()
{
	local dev writer

	ask listening
	start_links 2
	load rnbd-client
	load rtrs-test-client
	heartbeat 500 3
	open_session kill path=ip:10.0.1.1 delay=1 attempts=-1
	start_requests kill abort=1 depth=16 dir=any con=any size=1..20000
	dev=$(rnbd_map disk /dev/vda)
	mkdir -p /run/acked
	defer "rm -rf /run/acked /run/enough"
	write_blocks &
	writer=$!
	defer "touch /run/enough; wait"
	wait_for 60 has_acked 40
	goes_on kill
	kill_other
	wait_for 10 has link_down 1 $clt/kill/state
	note "killed after $(acked) blocks"
	boot_other
	era=_again orders=0
	ask listening_again
	begin_clock
	wait_for 60 has link_up 1 $clt/kill/state
	metric rejoined_ms $((($(uptime_cs) - clock) * 10))
	goes_on kill
	wait_for 60 has_acked $(($(acked) + 20))
	metric disk_ms $((($(uptime_cs) - clock) * 10))
	touch /run/enough
	wait "$writer"
	note "$(acked) blocks written"
	compare_blocks
	stop_requests kill
	close_session kill
	rnbd_unmap "$dev"
	remote_end
}
