# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Which inputs each algorithm is compared on. The same cases measure branch coverage."""

from __future__ import annotations

from collections.abc import Iterator

from tests.models.inputs import MS, SECOND, fast_link, in_and_out, overload, slow_link, stopped
from tests.models.library import Case

# Extra settings of an algorithm's own rows.
SETTINGS: dict[str, tuple[dict[str, int], ...]] = {
    "fifo": ({"limit": 40}, {"limit": 10_000, "limit_bytes": 20_000}),
    "codel": ({"target": MS, "interval": 20 * MS}, {"target": 20 * MS, "interval": SECOND}),
}


def cases(algorithm: str) -> Iterator[Case]:
    """Every input, defaults and settings, drop and mark."""
    for number, rows in enumerate(({}, *SETTINGS.get(algorithm, ()))):
        for ecn in (0, 1):
            seed = 10 * number + ecn
            base = {"limit": 1000, "ecn": ecn} | rows
            label = f"{algorithm}-{number}-{'ecn' if ecn else 'drop'}"
            start = SECOND * seed
            yield Case(
                f"{label}-overload",
                algorithm,
                base,
                overload(seed, start_ns=start),
                seed,
                start_ns=start,
            )
            yield Case(f"{label}-slow", algorithm, base, slow_link(seed), seed)
            yield Case(f"{label}-fast", algorithm, base, fast_link(seed), seed)
            yield Case(f"{label}-episodes", algorithm, base, in_and_out(seed), seed, mtu=600)
            yield Case(f"{label}-stopped", algorithm, base, stopped(seed), seed)
