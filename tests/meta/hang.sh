#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: a hang fails, after the time limit
# expect: not ok .*no end within 3 s
# modules: none
# timeout: 3

run()
{
	while :; do :; done
}
