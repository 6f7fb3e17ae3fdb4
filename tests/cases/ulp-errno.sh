#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: each errno of the server arrives, beyond 511 as EIO
# uses: ulp
# timeout: 60
# variant: secure always_invalidate=Y
# variant: plain always_invalidate=N

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

different()
{
	grep -c '^errno_' $clt/errno/result
}

run()
{
	local dir

	start_ulps always_invalidate="$always_invalidate"
	open_session errno
	for dir in read write none; do
		requests errno dir=$dir err=1-511 count=511 depth=32 size=512 \
			mode=return
		assert_eq "$(different)" 511 "different errors of $dir"
		requests errno dir=$dir err=1-511 count=511 depth=32 size=5000 \
			mode=inline con=any
		assert_eq "$(different)" 511 "different errors of $dir"
		requests errno dir=$dir err=512..4095 count=100 depth=16
		assert_eq "$(result errno errno_5)" 100 "EIO of $dir"
	done
	close_session errno
	assert_server $port
}
