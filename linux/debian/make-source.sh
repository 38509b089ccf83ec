#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# make-source.sh FOLDER: the tree of the Debian source package: aqm/, linux/, debian/.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
tree=$1
rm -rf "$tree"
mkdir -p "$tree/linux"
cp -a "$here/linux/debian" "$tree/debian"
rm "$tree/debian/make-source.sh"
cp -a "$here/linux/boot" "$here/linux/qdisc" "$here/linux/tc" "$tree/linux"
cd "$here"
find aqm -name '*.[ch]' ! -path 'aqm/check/*' ! -path 'aqm/test/*' -print0 |
	xargs -0 cp -p --parents -t "$tree" aqm/all.sh
