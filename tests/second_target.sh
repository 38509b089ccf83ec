#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# The same scenario and seed give the same report, byte for byte, on a 32-bit target;
# two seeds give two.
set -euo pipefail
cd "$(dirname "$0")/.."
target=i686-unknown-linux-gnu
build=${CARGO_TARGET_DIR:-target}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

rustup target list --installed | grep -qx "$target" || rustup target add "$target"
cargo build --quiet --locked --release -p sojourn-sim --example run
cargo build --quiet --locked --release -p sojourn-sim --example run --target "$target"

python -c '
import json, sys
from sojourn.scenario import load
print(json.dumps(load(sys.argv[1]).to_engine()))
' tests/data/second_target.toml >"$work/scenario.json"

algorithms=$(python -c '
from sojourn.algorithms import algorithms
print(*(a.name for a in algorithms().values() if a.acts))
')
for algorithm in $algorithms; do
	sed "s/\"algorithm\": \"fifo\"/\"algorithm\": \"$algorithm\"/" "$work/scenario.json" >"$work/$algorithm.json"
	grep -q "\"algorithm\": \"$algorithm\"" "$work/$algorithm.json"
	"$build/release/examples/run" "$work/$algorithm.json" 1 >"$work/here"
	"$build/$target/release/examples/run" "$work/$algorithm.json" 1 >"$work/there"
	"$build/release/examples/run" "$work/$algorithm.json" 2 >"$work/other"
	cmp "$work/here" "$work/there" || { echo "$algorithm: the 32-bit report differs" >&2; exit 1; }
	! cmp -s "$work/here" "$work/other" || { echo "$algorithm: two seeds, one report" >&2; exit 1; }
	echo "$algorithm: $(grep -o '"fingerprint": "[0-9a-f]*"' "$work/here") on both targets"
done
