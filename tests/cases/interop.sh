#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: two VMs, ours and the stock kernel's modules as client and server
# vms: 2
# uses: rnbd
# timeout: 180
# variant: ours-to-ours-secure modules="client=ours server=ours" always_invalidate=Y
# variant: ours-to-ours-plain modules="client=ours server=ours" always_invalidate=N
# variant: ours-to-peer-secure modules="client=ours server=peer" always_invalidate=Y
# variant: ours-to-peer-plain modules="client=ours server=peer" always_invalidate=N
# variant: peer-to-ours-secure modules="client=peer server=ours" always_invalidate=Y
# variant: peer-to-ours-plain modules="client=peer server=ours" always_invalidate=N
# variant: peer-to-peer-secure modules="client=peer server=peer" always_invalidate=Y
# variant: peer-to-peer-plain modules="client=peer server=peer" always_invalidate=N
# variant: ours-to-ours-jumbo modules="client=ours server=ours" always_invalidate=Y mtu=9000
#
# What the client writes is compared on the server, and the other way round,
# by checksum of the whole device.

server()
{
	local disk wanted

	start_rxe "${mtu:-1500}"
	load rtrs-server always_invalidate="$always_invalidate"
	load rnbd-server
	disk=$(memory_disk 48)
	tell disk "$disk"
	wanted=$(ask client-wrote)
	assert_eq "$(checksum "$disk")" "$wanted" "what the client wrote"
	fill "$disk"
	tell server-wrote "$(checksum "$disk")"
}

client()
{
	local disk dev wanted

	disk=$(ask disk)
	start_rxe "${mtu:-1500}"
	load rnbd-client
	dev=$(rnbd_map interop "$disk")
	verify_with_fio "$dev" --size=16m
	fill "$dev"
	tell client-wrote "$(checksum "$dev")"
	wanted=$(ask server-wrote)
	assert_eq "$(checksum "$dev")" "$wanted" "what the server wrote"
}
