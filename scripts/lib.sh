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

# in_root DIR COMMAND...: in another Debian below DIR, with this tree at the same
# place as here. The mounts are seen by the command alone and end with it.
in_root() {
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount --propagation private bash -euc '
		root=$1 top=$2
		shift 2
		mkdir -p "$root$top"
		mount --bind "$top" "$root$top"
		mount -t proc proc "$root/proc"
		mount --rbind /dev "$root/dev"
		exec chroot "$root" "$@"' in_root "$1" "$top" "${@:2}"
}

# kernel_make SERIES ARG...: make with the tools that fit the kernel's headers.
kernel_make() {
	local tools=$build/kernel/$1/tools
	shift
	if [[ -e $tools ]]; then
		in_root "$(readlink -f "$tools")" make "$@"
	else
		make "$@"
	fi
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
