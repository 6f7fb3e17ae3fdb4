#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs one case on one VM and sends its verdict. Descriptor 9 is the control
# port (see tests/vm/init), standard output goes to the host's log of the case.
#
# usage: main.sh NAME FILE ROLE SET VMS [_again]

set -eu
case_name=$1
case_file=/tests/cases/$2
role=$3
set_name=$4
set_dir=/sets/$4 vms=$5
again=${6:-}

. "/tests/variables/$case_name"
for part in basic modules net block; do
	. /tests/lib/$part.sh
done

# Undoes what the case set up, last thing first.
undo_all()
{
	local line

	[ -e /run/deferred ] || return 0
	tac /run/deferred >/run/undo
	rm -f /run/deferred
	while read -r line; do
		eval "$line" </dev/null ||
			fail_softly "undoing failed: $line"
	done </run/undo
}

# A server keeps everything up until the client is gone.
finish()
{
	status=$?
	trap - EXIT
	set +e
	[ $status = 0 ] || [ -s /run/verdict ] ||
		echo "fail a command failed with status $status" >/run/verdict
	if [ "$vms" = 2 ] && [ "$role" = server ] && [ ! -s /run/verdict ]; then
		( sync the-client-is-gone )
	fi
	( undo_all )
	if [ "$vms" = 2 ] && [ "$role" = client ]; then
		[ -s /run/verdict ] || ( sync the-client-is-gone )
	fi
	[ -s /run/verdict ] || echo pass >/run/verdict
	send "verdict $(head -n 1 /run/verdict)"
}

trap finish EXIT
. "$case_file"
"$role$again"
