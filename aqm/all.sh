#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# all.sh: write all.c, the list of algorithms, from the files of this folder.
# With --check: say whether it is fresh, and write nothing.
set -eu
cd "$(dirname "$0")"

list() {
	sed -n 's/^const struct aqm_algo aqm_\([a-z0-9_]*\) = {$/\1/p' ./*.c | LC_ALL=C sort
}

# REUSE-IgnoreStart: the head of the file that is written
generate() {
	echo '// SPDX-FileCopyrightText: 2026 The Sojourn authors'
	echo '// SPDX-License-Identifier: MIT OR GPL-2.0-only'
	echo '// all.c: every algorithm of this folder. Made by all.sh; not to be edited.'
	echo
	echo '#include "aqm.h"'
	echo
	list | sed 's/.*/extern const struct aqm_algo aqm_&;/'
	echo
	echo '/* clang-format off */'
	echo 'const struct aqm_algo *const aqm_all[] = {'
	list | sed 's/.*/\t\&aqm_&,/'
	printf '\tNULL,\n};\n'
}
# REUSE-IgnoreEnd

if [ "${1:-}" = --check ]; then
	generate | cmp -s - all.c || { echo 'aqm/all.c is stale: run aqm/all.sh' >&2; exit 1; }
else
	generate >all.c
fi
