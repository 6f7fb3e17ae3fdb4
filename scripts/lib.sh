# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the scripts share: the place of the tree, messages, a lock on a step.
# Sourced, never run.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$top/build
mkdir -p "$build"

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { say "$@"; exit 1; }

# with_lock NAME: the rest of this script runs alone among those that take NAME.
with_lock() {
	exec {lock_fd}>"$build/$1.lock"
	flock -n "$lock_fd" && return
	say "waiting for another run that holds build/$1.lock"
	flock "$lock_fd"
}

# logged FILE COMMAND...: output goes to FILE and is shown only when it fails.
logged() {
	local log=$1
	shift
	"$@" >"$log" 2>&1 && return
	tail -n 40 "$log" >&2
	return 1
}

# extract_source SERIES PATH DIR [PATH DIR]...: directories of the kernel's
# sources. One pass over the tarball, which takes some seconds.
extract_source() {
	local series=$1 tarball member=linux-source-$1 tmp paths=() pairs=()
	tarball=$("$top/scripts/kernel" "$series" source)
	tmp=$(mktemp -d "$build/source.XXXXXX")
	shift
	pairs=("$@")
	while [[ $# -gt 0 ]]; do
		paths+=("$member/$1")
		shift 2
	done
	tar -C "$tmp" -xf "$tarball" "${paths[@]}" ||
		die "the sources of $series lack one of: ${paths[*]}"
	set -- "${pairs[@]}"
	while [[ $# -gt 0 ]]; do
		mkdir -p "$(dirname "$2")"
		rm -rf "$2"
		mv "$tmp/$member/$1" "$2"
		shift 2
	done
	rm -rf "$tmp"
}
