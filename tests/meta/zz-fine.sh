#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: after all the others a good case still passes
# expect: ok 
# modules: none

run()
{
	assert_eq $((1 + 2)) 3
}
