#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: a WARN fails
# expect: not ok .*the VM died: .*(WARNING: |panic_on_warn)
# modules: meta

run()
{
	load rtrs-meta mode=warn
}
