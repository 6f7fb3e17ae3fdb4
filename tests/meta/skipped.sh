#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: a case that cannot run is skipped
# expect: SKIP .*no such hardware
# modules: none

run()
{
	skip 'no such hardware'
}
