#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: a failure while cleaning up fails
# expect: not ok .*undoing failed: false
# modules: none

run()
{
	defer false
}
