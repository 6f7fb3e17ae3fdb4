#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: a module that stays loaded fails
# expect: not ok .*module rtrs_meta is still loaded
# modules: meta

run()
{
	insmod "$set_dir/rtrs_meta.ko"
}
