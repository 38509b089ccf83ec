#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# run.sh: build and run the tests of the applications under gcc and clang, with address and
# undefined-behaviour sanitizers. An argument: only tests whose names contain it.
set -eu
cd "$(dirname "$0")"
out=${BUILD:-../../build/traffic-test}
flags='-std=c11 -D_GNU_SOURCE -Wall -Wextra -Wconversion -Wsign-conversion -Werror
	-Wno-unused-function -ffp-contract=off -O1 -g -fsanitize=address,undefined
	-fno-sanitize-recover=all'

for cc in ${CCS:-gcc clang-16}; do
	mkdir -p "$out/$cc"
	for test in test_*.c; do
		name=$(basename "$test" .c)
		# shellcheck disable=SC2086
		"$cc" $flags "$test" -o "$out/$cc/$name" -lm
		printf '%-9s %-14s ' "$cc" "$name"
		"$out/$cc/$name" "$@" || [ $# -gt 0 ]
	done
done
