#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# parts.sh TARGET…: make the targets one after the other, up to the first that fails, and say how
# long each took. A part above PART_LIMIT_S is to give its long half to `make test-deep`.
set -uo pipefail

limit_s=${PART_LIMIT_S:-240}
table=
failed=0

for part in "$@"; do
	if [ "$failed" != 0 ]; then
		table+=$(printf '%-12s %8s  not run' "$part" -)$'\n'
		continue
	fi
	begin_s=$SECONDS
	"${MAKE:-make}" --no-print-directory "$part" || failed=$?
	took_s=$((SECONDS - begin_s))
	remark=
	[ "$took_s" -le "$limit_s" ] || remark="  ABOVE $limit_s s"
	[ "$failed" = 0 ] || remark+="  FAILED"
	table+=$(printf '%-12s %8d%s' "$part" "$took_s" "$remark")$'\n'
done

printf '\n%-12s %8s\n%s%-12s %8d\n' part seconds "$table" total "$SECONDS"
exit "$failed"
