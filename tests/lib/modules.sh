# SPDX-License-Identifier: GPL-2.0
#
# Loading and unloading the modules under test.

# Makes them say what they create and destroy, for the host to pair.
created_and_destroyed='dyndbg="format created +p;format destroyed +p"'

# Sets $module to the name as the kernel has it: with underscores. No process
# is started for it, since cases do this often.
kernel_name()
{
	module=$1
	while [ "$module" != "${module#*-}" ]; do
		module=${module%%-*}_${module#*-}
	done
}

loaded()
{
	local module

	kernel_name "$1"
	[ -d "/sys/module/$module" ]
}

in_set()
{
	local module

	kernel_name "$1"
	[ -e "$set_dir/$module.ko" ]
}

depends_of()
{
	modinfo -F depends "$1" | tr -s ', ' '\n' | grep . || true
}

load_dependencies()
{
	local dependency

	for dependency in $(depends_of "$1"); do
		if loaded "$dependency"; then
			continue
		elif in_set "$dependency"; then
			load "$dependency"
		else
			modprobe "$dependency" || fail "cannot load $dependency"
		fi
	done
}

# try_load MODULE [param=value...]: like load, but the case may go on.
try_load()
{
	local name=$1 file module

	shift
	in_set "$name" || fail "no module $name in the set $set_name"
	kernel_name "$name"
	file=$set_dir/$module.ko
	load_dependencies "$file"
	case $set_name/$module in
	ours/rtrs* | meta/rtrs*) set -- "$@" "$created_and_destroyed" ;;
	esac
	insmod "$file" "$@" || return
	grep -qxF "unload $name" /run/deferred 2>/dev/null ||
		defer unload "$name"
}

load()
{
	! loaded "$1" || fail "$1 is loaded already"
	try_load "$@" || fail "cannot load $*"
}

try_unload()
{
	! loaded "$1" || rmmod "$1" 2>/dev/null
}

unload()
{
	local name

	for name in "$@"; do
		poll 30 try_unload "$name" ||
			fail "cannot unload $name: $(rmmod "$name" 2>&1)"
	done
}
