# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC3043,SC2154
#
# The hostile peer (tests/hostile) beside an honest session of the test ULPs.
# For cases that source ulp.sh and paths.sh as well.

# shellcheck source=tests/lib/paths.sh
. /tests/lib/paths.sh

# start_honest: a session with verified requests that must not suffer
start_honest()
{
	modprobe ib_uverbs
	modprobe rdma_ucm
	open_session honest
	start_requests honest depth=4 dir=any size=0..4000
	goes_on honest
	before=$(resources)
}

# The paths that the server still counts, of all clients.
paths_counted()
{
	sed -n 's/^client .*: \([0-9]*\) paths.*/\1/p' \
		"/sys/kernel/debug/rtrs-server/port-$port" |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# Nothing of an attack is left: the honest path is alone, and uses what it did.
attack_over()
{
	[ "$(paths_counted)" = 1 ] && [ "$(resources)" = "$before" ]
}

# attack TABLE-OR-ATTACK...: all must end as the table says
attack()
{
	rtrs-hostile attack "$server_addr" "$port" "$@" >/run/attacks ||
		bad_attacks
	cat /run/attacks >&2
	metric attacks "$(grep -c '^ok' /run/attacks)"
}

bad_attacks()
{
	cat /run/attacks >&2
	fail "$(grep -c '^not ok' /run/attacks) attacks, the first: $(grep -m 1 '^not ok' /run/attacks)"
}

# stop_honest: it has not suffered, and nothing of the attacks is left
stop_honest()
{
	goes_on honest
	wait_for 10 attack_over
	assert_eq "$(ls "$srv_sysfs")" honest "sessions in sysfs"
	stop_requests honest
	close_session honest
	assert_eq "$(value usr_changed "$srv/$port/stats")" 0 \
		"user messages that changed while the ULP had them"
}
