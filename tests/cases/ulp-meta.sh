#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# description: the test ULPs find the faults that they are told to make
# uses: ulp
# timeout: 60

# shellcheck source=tests/lib/ulp.sh
. /tests/lib/ulp.sh

# found WORD KEY PARAMETER...: the run fails, and says why in these places
found()
{
	local word=$1 key=$2

	shift 2
	open_session meta pdu=16
	if put $clt/meta/run "count=64 depth=4 timeout=2 $*"; then
		fail "nothing found with $*"
	fi
	note "$*: $(result meta verdict), $(result meta first)"
	case " $(result meta verdict) " in
	*" $word "*fail*) ;;
	*) fail "$*: '$word' is not in: $(result meta verdict)" ;;
	esac
	[ "$(result meta "$key")" -gt 0 ] || fail "$*: no $key"
	put $srv/$port/flush 1
	put $clt/meta/close 1 || true
	[ "$(value open $clt/meta/state)" = 0 ] || fail "session still open"
}

server_found()
{
	[ "$(value "$1" $srv/$port/stats)" -gt 0 ] || fail "server: no $1"
}

knobs()
{
	put $srv/$port/knobs "$*" || fail "cannot set $*"
}

run()
{
	start_ulps always_invalidate=Y
	knobs corrupt=1
	found data data_mismatches dir=read
	knobs corrupt=7
	found data data_mismatches dir=mixed
	knobs corrupt=0
	found errno unexpected dir=write fake=data
	server_found data_mismatches
	found errno unexpected dir=none usr=100 fake=usr
	server_found usr_mismatches
	found data data_mismatches dir=read fake=read
	found guard guard_mismatches offset=100 size=1000 fake=guard
	found double doubles fake=double
	found lost lost fake=lost
	knobs drop=20
	found lost lost dir=mixed
	knobs drop=0
	found errno unexpected refusal=90
}
