#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: the backing device alone
# modules: none
# smp: 1
# timeout: 600

. /tests/lib/bench.sh

run()
{
	null_disk
	run_rows "$disk"
}
