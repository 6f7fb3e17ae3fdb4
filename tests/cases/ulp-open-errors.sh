#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: rtrs_clt_open fails with the right errno and leaves nothing behind
# uses: ulp
# timeout: 120

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

EPERM=1 ENODEV=19 EEXIST=17 EINVAL=22 ENETUNREACH=101 ECONNREFUSED=111
EHOSTUNREACH=113

# letters N
letters()
{
	head -c "$1" /dev/zero | tr '\0' x
}

bad_names()
{
	local path="path=ip:$server_addr port=$port"

	open_fails $EINVAL 100 name= "$path"
	open_fails $EINVAL 100 name=/ "$path"
	open_fails $EINVAL 100 name=a/b "$path"
	open_fails $EINVAL 100 name=. "$path"
	open_fails $EINVAL 100 name=.. "$path"
	open_fails $EINVAL 100 name=a.b "$path"
	open_fails $EINVAL 100 name="$(letters 256)" "$path"
	open_fails $EINVAL 100 name="$(letters 4000)" "$path"
	note "the longest name"
	open_with slot=long name="$(letters 254)" "$path" ||
		fail "a name of 254 letters is refused"
	requests long count=10
	close_session long
}

name_taken()
{
	open_session taken
	open_fails $EEXIST 1000 name=taken path="ip:$server_addr" port=$port
	requests taken count=10
	close_session taken
	open_session taken
	close_session taken
}

# paths N
paths()
{
	local i=0

	while [ $i -lt "$1" ]; do
		printf 'path=ip:%s ' "$server_addr"
		i=$((i + 1))
	done
}

bad_paths()
{
	open_fails $EINVAL 100 name=x port=$port
	# shellcheck disable=SC2046 # one word a path
	open_fails $EINVAL 1000 name=x port=$port $(paths 129)
	open_fails $EINVAL 100 name=x port=$port path=ip:
	open_fails $EINVAL 100 name=x port=$port path=ip:1.2.3.4.5
	open_fails $EINVAL 100 name=x port=$port path=gid:fe80
	open_fails $EINVAL 100 name=x port=$port path="$server_addr"
}

# Addresses that no route, no device or no answer belongs to.
bad_addresses()
{
	ip link add d1 type dummy
	defer ip link del d1
	ip addr add 10.1.0.1/24 dev d1
	ip link set d1 up
	ip route add unreachable 10.2.0.0/24
	defer ip route del unreachable 10.2.0.0/24
	open_fails $ENETUNREACH 3000 name=x path=ip:10.3.0.1 port=$port
	open_fails $EHOSTUNREACH 3000 name=x path=ip:10.2.0.1 port=$port
	open_fails $ENODEV 3000 name=x path=ip:10.1.0.1 port=$port
	open_fails $ENODEV 3000 name=x path=ip:127.0.0.1 port=$port
	open_fails $ENODEV 3000 name=x path="ip:10.1.0.1@ip:$server_addr" \
		port=$port
}

no_server()
{
	open_fails $ECONNREFUSED 5000 name=x path="ip:$server_addr" \
		port=$((port + 1))
	put $srv/$port/knobs "refuse=$EPERM"
	! open_with slot=failing name=x path="ip:$server_addr" port=$port ||
		fail "the server ULP refuses the session, and it is open"
	note "refused by the server ULP: $(cat $clt/failing/state)"
	put $srv/$port/knobs refuse=0
	stop_listening $port
	open_fails $ECONNREFUSED 5000 name=x path="ip:$server_addr" port=$port
	listen $port
}

nothing_left()
{
	assert_eq "$(ls $clt_sysfs)" "" "client sessions in sysfs"
	wait_for 20 same_resources
	assert_eq "$(ls $srv_sysfs)" "" "server sessions in sysfs"
}

same_resources()
{
	[ "$(resources)" = "$before" ]
}

run()
{
	local check before

	start_ulps always_invalidate=Y
	before=$(resources)
	note "$before"
	for check in bad_names name_taken bad_paths bad_addresses no_server; do
		note "-- $check"
		$check
		nothing_left
	done
	open_session last
	requests last count=10
	close_session last
}
