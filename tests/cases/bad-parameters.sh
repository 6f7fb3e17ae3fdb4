#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: rtrs-server refuses bad parameters and says why

# refused WHAT [param=value...]: not loaded, EINVAL, one line names each value.
refused()
{
	local error before setting

	before=$(klog | wc -l)
	if error=$(try_load rtrs-server "$@" 2>&1); then
		fail "loaded with $*"
	fi
	echo "$error" | grep -qi invalid || fail "$*: not EINVAL but: $error"
	for setting in "$@"; do
		klog | tail -n +$((before + 1)) | grep rtrs_server |
			grep "${setting%%=*}" | grep -q "${setting#*=}" ||
			fail "no message names $setting"
	done
}

accepted()
{
	load rtrs-server "$@"
	unload rtrs-server
}

run()
{
	start_rxe
	load rtrs-core
	refused max_chunk_size=0
	refused max_chunk_size=1000
	refused max_chunk_size=4096
	refused max_chunk_size=12288
	refused max_chunk_size=2147483648
	refused sess_queue_depth=0
	refused sess_queue_depth=65536
	refused sess_queue_depth=512 max_chunk_size=1048576
	refused sess_queue_depth=65535 max_chunk_size=8192
	accepted max_chunk_size=8192 sess_queue_depth=1
	accepted max_chunk_size=524288 sess_queue_depth=512
	accepted max_chunk_size=8192 sess_queue_depth=32768
	accepted always_invalidate=N
}
