# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC3043,SC2154
#
# Sessions of several paths: their files, faults of links, and orders to the
# server's VM. For cases that source ulp.sh as well.

core_parameters=/sys/module/rtrs_core/parameters

# heartbeat MS MISSED: sets $detection, the ms within which a dead path is left
heartbeat()
{
	echo "$1" >$core_parameters/hb_interval_ms
	echo "$2" >$core_parameters/hb_missed_max
	detection=$(($1 * ($2 + 1)))
}

# Pseudo-random numbers that can be had again: $seed. The result is in $pick,
# since a function in $() could not keep the state.
start_random()
{
	[ -n "${seed:-}" ] || seed=$(($(date +%s) % 1000000))
	note "seed $seed (RTRS_SEED=$seed in the environment repeats this)"
	metric seed "$seed"
	random_state=$seed
}

random()
{
	random_state=$(((random_state * 1103515245 + 12345) & 0x7fffffff))
	pick=$(((random_state >> 8) % $1))
}

# path_of SESSION SOURCE DESTINATION: the path's directory on the client
path_of()
{
	echo "$clt_sysfs/$1/paths/ip:$2@ip:$3"
}

# order DIRECTORY FILE
order()
{
	put "$1/$2" 1 || fail "$1/$2 refuses 1"
}

# add_path SESSION ADDRESSES
add_path()
{
	put "$clt_sysfs/$1/add_path" "$2" || fail "cannot add $2 to $1"
}

state_is()
{
	[ "$(cat "$1/state" 2>/dev/null)" = "$2" ]
}

# rdma_field DIRECTORY NUMBER: from stats/rdma
rdma_field()
{
	cut -d ' ' -f "$2" "$1/stats/rdma"
}

requests_of()
{
	echo $(($(rdma_field "$1" 1) + $(rdma_field "$1" 3)))
}

inflight_of()
{
	rdma_field "$1" 5
}

# total_inflight SESSION
total_inflight()
{
	local sum=0 path

	for path in "$clt_sysfs/$1"/paths/*; do
		sum=$((sum + $(inflight_of "$path")))
	done
	echo $sum
}

# refuses ERROR FILE TEXT: a write fails with this error
refuses()
{
	local error

	if error=$({ echo "$3" >"$2"; } 2>&1); then
		fail "$2 takes '$3'"
	fi
	case $error in
	*": $1") ;;
	*) fail "$2, '$3': '$error', not '$1'" ;;
	esac
}

complaints()
{
	klog | grep -c 'rtrs_.*: expected' || true
}

# wrong FILE TEXT...: each is refused as invalid, with one line of what is right
wrong()
{
	local file=$1 text before

	shift
	for text; do
		before=$(complaints)
		refuses "Invalid argument" "$file" "$text"
		assert_eq "$(complaints)" $((before + 1)) \
			"lines about '$text' in $file"
	done
}

# goes_on SESSION: some more requests end as they should
goes_on()
{
	local before

	before=$(result "$1" as_wanted)
	wait_for 30 at_least as_wanted $((before + 20)) "$clt/$1/result"
}

# Faults of link N, each with its end

# link_down LINK, link_up LINK: this side's network device has no carrier. To
# set it down is another thing: without a route, rxe of 6.1 breaks its QP 1, and
# nothing that the CM has sent over it ever ends.
link_down()
{
	send "link $1 off"
	answer >/dev/null
}

link_up()
{
	send "link $1 on"
	answer >/dev/null
}

# deaf LINK: nothing that is sent to this side arrives
deaf()
{
	tc filter add dev "$(net_of "$1")" ingress matchall action drop
}

hearing()
{
	tc filter del dev "$(net_of "$1")" ingress
}

# Orders of the client to the server. Another era begins with a server that was
# booted again.

orders=0
era=$again

# remote COMMAND...: the server runs it, in its own shell
remote()
{
	orders=$((orders + 1))
	tell "order$era-$orders" "$*"
	assert_eq "$(ask "done$era-$orders")" ok "the server's end of $*"
}

# Until remote_end. The order that fails is the end of the case.
obey()
{
	local order

	while true; do
		orders=$((orders + 1))
		order=$(ask "order$era-$orders")
		[ "$order" != end ] || break
		eval "$order"
		tell "done$era-$orders" ok
	done
	tell "done$era-$orders" ok
}

remote_end()
{
	remote end
}
