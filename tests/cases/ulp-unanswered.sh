#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: rtrs_clt_open to an address where nobody answers ends in time
# uses: ulp
# timeout: 120

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

# The device has no neighbours: packets to this address are simply lost.
run()
{
	local before

	start_ulps always_invalidate=Y
	before=$(resources)
	! open_with slot=s name=s path=ip:10.0.0.77 port=$port ||
		fail "opened, but nobody is there"
	note "$(value open_errno $clt/s/state), $(value open_ms $clt/s/state) ms"
	case $(value open_errno $clt/s/state) in
	-110 | -113) ;;
	*) fail "neither ETIMEDOUT nor EHOSTUNREACH" ;;
	esac
	assert_eq "$(resources)" "$before" "RDMA objects"
	assert_eq "$(ls $clt_sysfs)" "" "client sessions in sysfs"
}
