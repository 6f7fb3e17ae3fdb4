#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: a bad line in the kernel log fails
# expect: not ok .*BUG: pretended
# modules: none

run()
{
	echo '<3>BUG: pretended' >/dev/kmsg
}
