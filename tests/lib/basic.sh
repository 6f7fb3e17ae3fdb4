# SPDX-License-Identifier: GPL-2.0
#
# Ends of a case, assertions, waiting, and talking to the other side.

send()
{
	printf '%s\n' "$*" >&9
}

note()
{
	printf '%s\n' "$*" >&2
}

# The first verdict stands, whichever part of the case gave it.
verdict()
{
	[ -s /run/verdict ] || printf '%s\n' "$*" >/run/verdict
}

fail_softly()
{
	note "FAIL: $*"
	verdict "fail $*"
}

fail()
{
	fail_softly "$@"
	exit 1
}

skip()
{
	verdict "skip $*"
	exit 1
}

# The words are joined and evaluated at the end of the case, last defer first.
defer()
{
	printf '%s\n' "$*" >>/run/deferred
}

metric()
{
	send "metric $1 $2"
}

# For someone who watches (tests/run --progress).
progress()
{
	send "progress $*"
}

klog()
{
	dmesg
}

assert()
{
	"$@" || fail "assertion failed: $*"
}

assert_fails()
{
	! "$@" || fail "should have failed: $*"
}

assert_eq()
{
	[ "$1" = "$2" ] || fail "${3:-value}: got '$1', wanted '$2'"
}

uptime_cs()
{
	local up rest

	read -r up rest </proc/uptime
	echo "$(( ${up%.*} * 100 + 1${up#*.} - 100 ))"
}

# poll SECONDS COMMAND...: true once the command is, false at the deadline.
poll()
{
	local deadline=$(( $(uptime_cs) + $1 * 100 ))

	shift
	until "$@"; do
		[ "$(uptime_cs)" -lt $deadline ] || return 1
		usleep 50000
	done
}

wait_for()
{
	poll "$@" || fail "not so within $1 s: $(shift; echo "$*")"
}

# Waits for the host's answer to what was sent before.
answer()
{
	local word value

	read -r word value <&9
	[ "$word" = answer ] || fail "the other side has given up"
	printf '%s\n' "$value"
}

sync()
{
	send "sync $1"
	answer >/dev/null
}

tell()
{
	send "tell $1 $2"
}

ask()
{
	send "ask $1"
	answer
}

# kill_other, boot_other (two VMs): the other side's VM ends without a word, and
# one in its place runs the case's function for that side with _again at its end
kill_other()
{
	send kill
	answer >/dev/null
}

boot_other()
{
	send boot
	answer >/dev/null
}
