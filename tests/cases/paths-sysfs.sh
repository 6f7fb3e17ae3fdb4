#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: every file of sessions and paths in sysfs: content, wrong writes, loops
# uses: ulp
# timeout: 120

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh
# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh

holds()
{
	assert_eq "$(cat "$1")" "$2" "$1"
}

# matches FILE EXPRESSION: one line
matches()
{
	assert_eq "$(wc -l <"$1")" 1 "lines of $1"
	grep -qxE "$2" "$1" || fail "$1: '$(cat "$1")' is not $2"
}

# numbers COUNT: the expression of so many
numbers()
{
	echo "[0-9]+( [0-9]+){$(($1 - 1))}"
}

nr_cpus()
{
	echo $(($(sed 's/.*-//' /sys/devices/system/cpu/possible) + 1))
}

session_files()
{
	matches $clt_sysfs/files/add_path "Usage: .*"
	holds $clt_sysfs/files/max_reconnect_attempts 7
	holds $clt_sysfs/files/mpath_policy "min-inflight (MI: 1)"
}

path_files()
{
	local cpus file

	cpus=$(numbers "$(nr_cpus)")
	holds "$1/state" connected
	holds "$1/hca_name" "$2"
	holds "$1/hca_port" 1
	holds "$1/src_addr" "ip:$3"
	holds "$1/dst_addr" "ip:$3"
	holds "$1/link_attempts" 1
	holds "$1/last_error" 0
	matches "$1/cur_latency" "[0-9]+ ns"
	matches "$1/state_changed" "[0-9]+"
	for file in reconnect disconnect remove_path stats/reset_all; do
		matches "$1/$file" "Usage: echo 1 > ${file#stats/}"
	done
	matches "$1/stats/rdma" "$(numbers 6)"
	matches "$1/stats/reconnects" "0 0"
	matches "$1/stats/cpu_migration_from" "$cpus"
	matches "$1/stats/cpu_migration_to" "$cpus"
	matches "$1/stats/latency_us" "$(numbers 24)"
}

# Anything but 1; a reset can be told nothing else either.
wrong_writes()
{
	local file

	for file in reconnect disconnect remove_path stats/rdma \
			stats/reconnects stats/cpu_migration_from \
			stats/cpu_migration_to stats/latency_us \
			stats/reset_all; do
		wrong "$1/$file" 0 2 -1 "" 01 11 "1 1" x
	done
	wrong $clt_sysfs/files/max_reconnect_attempts -2 10000 "" x "1 2" 1x
	wrong $clt_sysfs/files/add_path "" x ip: ip:1.2.3 ip:1.2.3.4.5 \
		gid:fe80 10.0.0.1 ip:10.0.0.1@ "ip:10.0.0.1,,ip:10.0.0.1" \
		"ip:10.0.0.1 ip:10.0.0.1" ip:fd00::1::2
	wrong "$srv_sysfs/files/paths/${1##*/}/disconnect" 0 2 -1 "" 11 "1 1" x
}

read_only()
{
	local file

	for file in state src_addr dst_addr hca_name hca_port cur_latency \
			link_attempts last_error state_changed; do
		assert_eq "$(stat -c %a "$1/$file")" 444 "mode of $file"
	done
	for file in reconnect disconnect remove_path stats/rdma; do
		assert_eq "$(stat -c %a "$1/$file")" 644 "mode of $file"
	done
}

# 30 reads and 20 writes of 4096 bytes, to a single path
exact_counts()
{
	order "$1" stats/reset_all
	holds "$1/stats/rdma" "0 0 0 0 0 0"
	requests files dir=read count=30 depth=4 size=4096
	requests files dir=write count=20 depth=4 size=4096
	holds "$1/stats/rdma" "30 122880 20 81920 0 0"
	assert_eq "$(sum "$1/stats/latency_us")" 50 "requests in the histogram"
	assert_eq "$(sum "$1/stats/cpu_migration_from")" \
		"$(sum "$1/stats/cpu_migration_to")" "migrations"
	order "$1" stats/latency_us
	assert_eq "$(sum "$1/stats/latency_us")" 0 "histogram after a reset"
	holds "$1/stats/rdma" "30 122880 20 81920 0 0"
	order "$1" stats/rdma
	holds "$1/stats/rdma" "0 0 0 0 0 0"
}

sum()
{
	tr ' ' '\n' <"$1" | awk '{ s += $1 } END { print s }'
}

# The dumps in debugfs of both sides.
dumps="/sys/kernel/debug/rtrs-client/files
	/sys/kernel/debug/rtrs-server/port-$port"

# dumped NUMBER: requests in flight, on both sides
dumped()
{
	local dump

	for dump in $dumps; do
		[ "$(grep -c '^    request .* age ' "$dump")" = "$1" ] ||
			return 1
	done
}

requests_in_dumps()
{
	local dump

	for dump in $dumps; do
		assert grep -q "^session files: " "$dump"
		assert grep -q "^  path .*10.0.0.1: connected, attempt 1, " "$dump"
		assert_eq "$(grep -c "^    connection .*: QP " "$dump")" 3 \
			"connections in $dump"
	done
	start_requests files dir=any depth=4 delay=3000000
	wait_for 30 dumped 4
	stop_requests files
	assert dumped 0
}

# readers: everything below both classes, again and again
readers()
{
	while [ ! -e /run/enough ]; do
		find -L $clt_sysfs/files $srv_sysfs/files -maxdepth 4 -type f \
			-exec cat {} + >/dev/null 2>&1 || true
		# shellcheck disable=SC2086 # words
		cat $dumps >/dev/null 2>&1 || true
	done
}

# writers: wrong and right ones
writers()
{
	local path

	while [ ! -e /run/enough ]; do
		for path in "$clt_sysfs"/files/paths/*; do
			put "$path/stats/reset_all" 1 || true
			put "$path/stats/rdma" 1 || true
		done
		put $clt_sysfs/files/mpath_policy rr || true
		put $clt_sysfs/files/max_reconnect_attempts -1 || true
		put $clt_sysfs/files/mpath_policy ml || true
	done
}

while_paths_come_and_go()
{
	local i=0 path pids

	path=$(path_of files 10.0.1.1 10.0.1.1)
	rm -f /run/enough
	readers &
	pids=$!
	writers &
	pids="$pids $!"
	defer "touch /run/enough; wait"
	while [ $i -lt 12 ]; do
		add_path files ip:10.0.1.1
		if [ $((i % 2)) = 0 ]; then
			order "$path" disconnect
		fi
		order "$path" remove_path
		i=$((i + 1))
	done
	goes_on files
	touch /run/enough
	# shellcheck disable=SC2086 # two numbers
	wait $pids
}

run()
{
	local path

	start_links 2
	load rtrs-server sess_queue_depth=64
	load rtrs-test-server
	load rtrs-test-client
	listen $port
	open_session files delay=1 attempts=7
	path=$(client_path files)
	session_files
	path_files "$path" rxe0 10.0.0.1
	exact_counts "$path"
	requests_in_dumps
	add_path files ip:10.0.1.1
	path_files "$(path_of files 10.0.1.1 10.0.1.1)" rxe1 10.0.1.1
	read_only "$path"
	wrong_writes "$path"
	order "$(path_of files 10.0.1.1 10.0.1.1)" remove_path
	start_requests files depth=16 threads=2 dir=any con=any size=1..20000
	while_paths_come_and_go
	stop_requests files
	assert_eq "$(inflight_of "$path")" 0 "in flight when idle"
	close_session files
	assert_server
}
