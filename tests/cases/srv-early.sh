#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: info_req comes before the server's CM calls the connections up
# uses: ulp
# timeout: 60

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

run()
{
	local ms

	start_ulps
	for ms in 1 100 400; do
		put /sys/kernel/debug/rtrs-server/established_delay_ms $ms
		open_session early
		requests early count=50 depth=8 dir=any
		close_session early
	done
	put /sys/kernel/debug/rtrs-server/established_delay_ms 0
	assert_server
}
