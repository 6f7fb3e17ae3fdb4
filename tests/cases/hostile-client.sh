#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: a client that breaks the protocol's rules; others go on
# uses: ulp hostile
# timeout: 240
# variant: connect always_invalidate=Y tables=connect
# variant: info always_invalidate=Y tables=info
# variant: message always_invalidate=Y tables=message
# variant: secure always_invalidate=Y tables="request secure"
# variant: plain always_invalidate=N tables="request plain"
# variant: silent always_invalidate=Y tables=silent

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/hostile.sh
. /tests/lib/hostile.sh

run()
{
	# A depth that is no power of two: chunks that do not exist have numbers.
	start_ulps always_invalidate="$always_invalidate" sess_queue_depth=6 \
		max_chunk_size=8192
	start_honest
	# shellcheck disable=SC2086 # a list of tables
	attack $tables
	stop_honest
}
