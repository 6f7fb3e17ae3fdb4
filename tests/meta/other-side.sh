#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: when one side fails, the other does not wait for ever
# expect: not ok .*server: no bread today.*client: the other side has given up
# modules: none
# vms: 2

server()
{
	fail "no bread today"
}

client()
{
	ask bread
}
