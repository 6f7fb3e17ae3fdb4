#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: an object that is created and not destroyed fails
# expect: not ok .*created but never destroyed: thing 0x1
# modules: meta

run()
{
	load rtrs-meta mode=leak
}
