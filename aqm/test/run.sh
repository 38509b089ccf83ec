#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# run.sh: build and run the C tests under gcc and clang, with address and undefined-
# behaviour sanitizers. An argument: only tests whose names contain it.
set -eu
cd "$(dirname "$0")/.."
out=${BUILD:-../build/aqm-test}
# A test that hangs fails: each takes seconds, and a minute where many run at once.
limit=${TEST_LIMIT:-300s}
warn='-std=gnu11 -Wall -Wextra -Wconversion -Wsign-conversion -Werror -Wno-unused-function'
sanitize='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all'

compile_and_run() { # the compiler, then the arguments
	cc=$1
	shift
	for source in ./*.c algorithms/*.c; do
		# shellcheck disable=SC2086
		$cc $warn $sanitize -I. -c "$source" -o "$out/$cc/$(basename "$source" .c).o"
	done
	for test in test/test_*.c; do
		name=$(basename "$test" .c)
		# shellcheck disable=SC2086
		$cc $warn $sanitize -I. -Itest "$test" "$out/$cc"/*.o -o "$out/$cc/$name" -lm
		printf '%-9s %-14s ' "$cc" "$name"
		timeout "$limit" "$out/$cc/$name" "$@" || [ $# -gt 0 ]
	done
	# shellcheck disable=SC2086
	$cc $warn $sanitize -DAQM_NARROW -I. -Itest test/test_fixed.c -o "$out/$cc/test_fixed_narrow"
	printf '%-9s %-14s ' "$cc" 'fixed, narrow'
	timeout "$limit" "$out/$cc/test_fixed_narrow" "$@" || [ $# -gt 0 ]
}

# Both at once; what each printed follows in order.
jobs=
for cc in ${CCS:-gcc clang-16}; do
	mkdir -p "$out/$cc"
	compile_and_run "$cc" "$@" >"$out/$cc.log" 2>&1 &
	jobs="$jobs $cc:$!"
done
failed=0
for job in $jobs; do
	wait "${job#*:}" || failed=1
	cat "$out/${job%:*}.log"
done
exit $failed
