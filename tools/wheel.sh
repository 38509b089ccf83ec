#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# wheel.sh FOLDER: build the wheel for every Linux with glibc 2.17 or later and every Python from 3.11
# on, and check that it is one. zig links against that glibc; the machine's own compiler would ask for
# the glibc of the machine.
# There is no profile of branches in it: tools/profile.sh makes that of an engine built without zig.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1

# The package says from which commit it was built; a source package has none, and a machine maybe no git.
trap 'rm -f python/sojourn/commit' EXIT
git describe --always --dirty --tags >python/sojourn/commit 2>/dev/null || rm -f python/sojourn/commit
mkdir -p "$out"
rm -f "$out"/*.whl
maturin build --release --locked --quiet --zig --compatibility manylinux2014 \
	--target "$(uname -m)-unknown-linux-gnu" --out "$out"
abi3audit --strict "$out"/*.whl
auditwheel show "$out"/*.whl | tee "$out/audit"
grep -q 'manylinux_2_17' "$out/audit"
echo "wheel: $(echo "$out"/*.whl)"
