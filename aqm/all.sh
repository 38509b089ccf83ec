#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# all.sh: write all.c, the list of algorithms, from the files of algorithms/.
# With --check: say whether it is fresh, and write nothing.
#
# A definition may be laid out in any way. One that cannot be listed is an error: left
# out in silence it would be missed by its author only.
set -eu
cd "$(dirname "$0")"

wanted='const struct aqm_algo aqm_NAME = {'

refuse() {
	echo "aqm/all.sh: $1: $2; write \`$wanted\`, NAME of a-z, 0-9 and _" >&2
	exit 1
}

# A file's code in one line, without comments.
code() {
	sed 's|//.*||' "$1" | tr -s '[:space:]' ' ' | sed 's|/\*[^*]*\*\{1,\}\([^/*][^*]*\*\{1,\}\)*/| |g' |
		tr -s ' '
}

# Each definition up to its sign of equality; not pointers to one.
definitions() {
	code "$1" | grep -oE '(static )?(const )?struct aqm_algo [^=;{}]*=' | grep -v '\*' || true
}

list_file() {
	found=$(definitions "$1")
	if [ -z "$found" ]; then
		! code "$1" | grep -qE '(^|[^=])= ?AQM_ABI' || refuse "$1" 'no definition of its algorithm can be read'
		return
	fi
	echo "$found" | while read -r line; do
		case $line in
		static*) refuse "$1" "a static algorithm is in no list" ;;
		esac
		name=$(echo "$line" | sed -nE 's/ ?__attribute__ ?\(\(.*\)\)//; s/^const struct aqm_algo aqm_([a-z0-9_]+) ?=$/\1/p')
		[ -n "$name" ] || refuse "$1" "\`$line\` cannot be read"
		echo "$name"
	done
}

list() {
	for file in algorithms/*.c; do
		list_file "$file" || exit 1
	done
}

# REUSE-IgnoreStart: the head of the file that is written
generate() {
	echo '// SPDX-FileCopyrightText: 2026 The Sojourn authors'
	echo '// SPDX-License-Identifier: MIT OR GPL-2.0-only'
	echo '// all.c: every algorithm of algorithms/. Made by all.sh; not to be edited.'
	echo
	echo '#include "aqm.h"'
	echo
	echo "$names" | sed 's/.*/extern const struct aqm_algo aqm_&;/'
	echo
	echo '/* clang-format off */'
	echo 'const struct aqm_algo *const aqm_all[] = {'
	echo "$names" | sed 's/.*/\t\&aqm_&,/'
	printf '\tNULL,\n};\n'
}
# REUSE-IgnoreEnd

names=$(list) || exit 1
names=$(echo "$names" | LC_ALL=C sort)
if [ "${1:-}" = --check ]; then
	generate | cmp -s - all.c || { echo 'aqm/all.c is stale: run aqm/all.sh' >&2; exit 1; }
else
	generate >all.c
fi
