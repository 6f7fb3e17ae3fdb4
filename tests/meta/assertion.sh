#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: a false assertion fails
# expect: not ok .*the sum: got '3', wanted '4'
# modules: none

run()
{
	assert_eq $((1 + 2)) 4 'the sum'
}
