#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: a case whose verdict never comes fails
# expect: not ok .*no verdict came from the case
# modules: none

run()
{
	kill -9 $$
}
