#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# description: the harness notices crash, hang, WARN, lost verdict, false assertion and more
# vms: 0
# timeout: 600
#
# Runs the fixtures of tests/meta, each of which names the outcome that it
# expects. One that comes out otherwise is printed.
# shellcheck shell=bash

set -uo pipefail

# The lines of one case joined to one: the line itself and what is below it.
outcomes() {
	awk '/^    / { line = line $0; next } { print line; line = $0 } END { print line }' "$1"
}

main() {
	local report fixture name expect line wrong=0
	report=$(mktemp)
	tests/run --cases tests/meta >"$report"
	for fixture in tests/meta/*.sh; do
		name=$(basename "$fixture" .sh)
		expect=$(sed -n 's/^# expect: //p' "$fixture")
		line=$(outcomes "$report" | grep -E "^(ok|not ok|SKIP) $name( |$)")
		grep -qE "^(${expect})" <<<"$line" && continue
		echo "$name: wanted '$expect', got '$line'"
		wrong=1
	done
	rm -f "$report"
	return $wrong
}

main
