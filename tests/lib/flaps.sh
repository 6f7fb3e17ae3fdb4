# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC3043,SC2154
#
# Flaps of one of two links between two VMs, seen from the client, which runs
# the session $session; the server obeys (see paths.sh). Each kind loses the
# path of link N and brings it back.

all_kinds="link-client link-server deaf-client deaf-server rxe-client rxe-server
	server-disconnect client-disconnect remove-path"
kinds=${kinds:-$all_kinds}

link_path()
{
	path_of "$session" "10.0.$1.2" "10.0.$1.1"
}

# For remote, whose shell finds the name.
server_link_path()
{
	echo "$srv_sysfs/$session/paths/*10.0.$1.*"
}

lost()
{
	wait_for $((detection / 1000 + 4)) state_is "$(link_path "$1")" disconnected
}

# By itself; or with $impatient by orders, as an administrator does who does not
# want to wait for the delay of half a minute that rnbd asks for.
back()
{
	local path

	path=$(link_path "$1")
	if [ -n "${impatient:-}" ]; then
		wait_for 40 reconnected "$path"
	else
		wait_for 40 state_is "$path" connected
	fi
}

reconnected()
{
	state_is "$1" connected || put "$1/reconnect" 1
	state_is "$1" connected
}

# flap KIND LINK
flap()
{
	local path

	path=$(link_path "$2")
	case $1 in
	link-client) link_down "$2"; lost "$2"; link_up "$2" ;;
	link-server) remote link_down "$2"; lost "$2"; remote link_up "$2" ;;
	deaf-client) deaf "$2"; lost "$2"; hearing "$2" ;;
	deaf-server) remote deaf "$2"; lost "$2"; remote hearing "$2" ;;
	rxe-client) del_rxe "$2"; lost "$2"; add_rxe "$2" ;;
	rxe-server) remote del_rxe "$2"; lost "$2"; remote add_rxe "$2" ;;
	server-disconnect)
		remote "order $(server_link_path "$2") disconnect"
		lost "$2"
		;;
	client-disconnect)
		order "$path" disconnect
		[ -n "${impatient:-}" ] || order "$path" reconnect
		;;
	remove-path)
		order "$path" remove_path
		if [ -n "${impatient:-}" ]; then
			wait_for 20 put "$clt_sysfs/$session/add_path" \
				"ip:10.0.$2.1"
		else
			add_path "$session" "ip:10.0.$2.1"
		fi
		;;
	esac
	back "$2"
}

# Sets $kind at random.
random_kind()
{
	# shellcheck disable=SC2086 # a list of words
	set -- $kinds
	random $#
	shift "$pick"
	kind=$1
}

# flaps NUMBER MEASURE: kinds and links at random. MEASURE prints the longest
# pause of an I/O since the last time, in ms; it must be bounded, and each flap
# must leave both paths connected. Sets $longest.
flaps()
{
	local i=0 kind link pause limit=$((detection + 1000))

	longest=0
	while [ $i -lt "$1" ]; do
		random_kind
		random 2
		link=$pick
		flap "$kind" "$link"
		pause=$($2)
		i=$((i + 1))
		note "$i: $kind on link $link, pause $pause ms, up $(cut -d ' ' -f 1 /proc/uptime)"
		[ "$pause" -le "$longest" ] || longest=$pause
		[ "$pause" -le $limit ] ||
			fail "flap $i, $kind: an I/O took $pause ms, more than $limit"
	done
	metric flaps $i
	metric longest_pause_ms "$longest"
}
