#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: a crash of the kernel fails
# expect: not ok .*the VM died: .*sysrq: Trigger a crash|not ok .*the VM died: .*panic
# modules: none

run()
{
	echo c >/proc/sysrq-trigger
}
