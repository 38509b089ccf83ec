#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# profile.sh: the compiler flags of a release. It runs a few scenarios on an instrumented engine, so
# that the compiler knows which way branches go (a seventh less time).
# The profile is cached, keyed by the sources. Where llvm-profdata cannot be had it prints nothing, and
# the release is built without: slower, with the same results.
set -euo pipefail
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
profdata=$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata
if [ ! -x "$profdata" ] && ! rustup component add llvm-tools >/dev/null 2>&1; then
	echo "no llvm-profdata (rustup component add llvm-tools): the engine is built without a profile, about 15 % slower" >&2
	exit 0
fi

key=$({
	rustc -vV
	find aqm traffic crates/core crates/sim -type f \( -name '*.rs' -o -name '*.[ch]' -o -path '*/profile/*.json' \) -print0 |
		LC_ALL=C sort -z | xargs -0 sha256sum
	cat Cargo.toml Cargo.lock crates/*/Cargo.toml tools/profile.sh
} | sha256sum | cut -c1-16)
profile=${XDG_CACHE_HOME:-$HOME/.cache}/sojourn/profile/$key.profdata

if [ ! -s "$profile" ]; then
	mkdir -p "${profile%/*}"
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	# A profile speaks of functions by names that hold a hash of how their crate was built. So this is
	# built as the release is: no --target, and -p sojourn-py, which decides on features of libraries.
	RUSTFLAGS="-Cprofile-generate=$work" cargo build --release --locked --quiet \
		--target-dir "$work/target" -p sojourn-py -p sojourn-sim --example run >&2
	for scenario in crates/sim/examples/profile/*.json; do
		"$work/target/release/examples/run" "$scenario" 1 >"$work/report"
	done
	"$profdata" merge -o "$work/merged" "$work"/*.profraw
	mv "$work/merged" "$profile"
fi
echo "-Cprofile-use=$profile"
