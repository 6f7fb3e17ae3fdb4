#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: a failing command fails the case
# expect: not ok .*a command failed with status 1
# modules: none

run()
{
	false
}
