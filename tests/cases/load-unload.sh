#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: all modules are loaded and unloaded 100 times
# uses: rnbd
# timeout: 300

run()
{
	local count=0

	start_rxe
	while [ $count -lt 100 ]; do
		load rnbd-server
		load rnbd-client
		unload rnbd-client rnbd-server rtrs-client rtrs-server rtrs-core
		count=$((count + 1))
		note "$count times at $(cut -d ' ' -f 1 /proc/uptime)"
	done
}
