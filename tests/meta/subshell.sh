#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: a failure in a subshell that nobody looks at fails
# expect: not ok .*seen all the same
# modules: none

run()
{
	( fail 'seen all the same' ) || true
}
