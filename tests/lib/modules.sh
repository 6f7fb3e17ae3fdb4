# SPDX-License-Identifier: GPL-2.0
#
# Loading and unloading the modules under test.

# Makes them say what they create and destroy, for the host to pair.
created_and_destroyed='dyndbg=format created +p;format destroyed +p'

loaded()
{
	[ -d "/sys/module/$(echo "$1" | tr - _)" ]
}

# The file of a module of the set; kbuild mixes up dashes and underscores.
module_file()
{
	local file

	for file in "$set_dir"/*.ko; do
		[ "$(basename "$file" .ko | tr - _)" != "$(echo "$1" | tr - _)" ] ||
			echo "$file"
	done
}

depends_of()
{
	modinfo -F depends "$1" | tr -s ', ' '\n' | grep . || true
}

# try_load MODULE [param=value...]: like load, but the case may go on.
try_load()
{
	local name=$1 file dependency

	shift
	file=$(module_file "$name")
	[ -n "$file" ] || fail "no module $name in the set $set_name"
	for dependency in $(depends_of "$file"); do
		if [ -n "$(module_file "$dependency")" ]; then
			loaded "$dependency" || load "$dependency"
		else
			modprobe "$dependency" || fail "cannot load $dependency"
		fi
	done
	case $set_name/${file##*/} in
	ours/rtrs*) set -- "$@" "$created_and_destroyed" ;;
	esac
	insmod "$file" "$@" || return
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
