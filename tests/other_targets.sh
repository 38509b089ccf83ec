#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# A million decisions of each algorithm are the same on every processor, under qemu-user, as the
# recorded digests: aqm/test/decisions.txt.
#
#   tests/other_targets.sh [TARGET ...]     amd64 aarch64 armhf mipsel s390x; by default all
#   tests/other_targets.sh --renew          write the digests of amd64 down
set -euo pipefail
cd "$(dirname "$0")/../aqm"
recorded=test/decisions.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

declare -A compiler=([amd64]=gcc [aarch64]=aarch64-linux-gnu-gcc [armhf]=arm-linux-gnueabihf-gcc
	[mipsel]=mipsel-linux-gnu-gcc [s390x]=s390x-linux-gnu-gcc)
declare -A emulator=([amd64]= [aarch64]=qemu-aarch64-static [armhf]=qemu-arm-static
	[mipsel]=qemu-mipsel-static [s390x]=qemu-s390x-static)

decide() { # target: a line for each algorithm, alone and in flows
	"${compiler[$1]}" -std=gnu11 -O2 -static -Wall -Wextra -Werror -Wno-unused-function -I. -Itest \
		test/decisions.c ./*.c algorithms/*.c -o "$work/$1"
	${emulator[$1]} "$work/$1"
}

if [ "${1:-}" = --renew ]; then
	decide amd64 >"$recorded"
	exit
fi
[ $# -gt 0 ] || set -- amd64 aarch64 armhf mipsel s390x
for target in "$@"; do
	for program in "${compiler[$target]}" ${emulator[$target]}; do
		if ! command -v "$program" >/dev/null; then
			echo "$target: $program is missing; tools/need.sh deep installs it" >&2
			exit 1
		fi
	done
	decide "$target" >"$work/digests"
	diff "$recorded" "$work/digests" || {
		echo "$target: these decisions differ from the recorded ones; if the algorithm changed: tests/other_targets.sh --renew" >&2
		exit 1
	}
	echo "$target: $(wc -l <"$work/digests") digests of a million decisions each are the recorded ones"
done
