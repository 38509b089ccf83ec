# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""harnesses.py: which harness recorded what on Linux, and how near the two are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sojourn.core.table import markdown
from sojourn.result.stats import estimate

from validation.figures import AIMED, FAIR, Figure, Verdict, judge
from validation.lines import WORDS, ranged

if TYPE_CHECKING:
    from validation.compare import Compared
    from validation.recorded import Recorded

TEXT = """\
## Two harnesses on Linux

Everything on this page is set beside the first recording: {first} cells in `windows.json` and
`flows.parquet`, made by a harness of its own that is no more. That one had a script to lay the
network, a sender and a receiver of bulk flows, and a tap that reckoned windows.
`python -m validation.record` files what the package's own Linux host gives (`--host linux`), on
the same kernel, with the same starts of flows under each seed: so far {host} cells, in
`host.json`. A cell that only these have would be set beside them.

The package lays each stage of a link in a namespace of its own, sizes receive buffers by sysctls in
place of SO_RCVBUF, makes up mixed round trips at the sender (not where flows go both ways), and
reckons queues and flows of both hosts by the same code. {windows} windows have been recorded by
both. How near the second is to the first, by the aims for the engine:

{counts}
Difference: second less first in units of the aim, the mean over these windows ± half of its 95 %
interval. One is what the engine may be off.

"""


def section(compared: Sequence[Compared], linux: Recorded) -> str:
    """For the page; nothing where one harness recorded everything."""
    rows = [row for row in compared if row.host]
    if not rows:
        return ""
    cells = {row.cell.name for row in compared}
    text = TEXT.format(
        first=len(cells & {*linux.first}),
        host=len(cells & {*linux.host}),
        windows=len(rows),
        counts=counts(rows),
    )
    return text + ("\n".join(apart(rows)) or "None is outside its aim.") + "\n"


def counts(rows: Sequence[Compared]) -> str:
    """By figure: windows by verdict, and whether the difference has a sign."""
    lines = []
    for key in (*AIMED, *FAIR):
        of = [row for row in rows if row.cell.flows > 1 or key not in FAIR]
        found = [verdict(row, key) for row in of]
        shifts = [shift for row in of if (shift := difference(row, key)) is not None]
        if not of:
            continue
        mean = estimate(shifts)
        lines.append(
            [
                key.title,
                f"**{found.count(Verdict.AIM)}** of {len(found)}",
                *(str(found.count(verdict)) for verdict in list(Verdict)[1:]),
                f"{mean.mean:.3f} ± {mean.half:.3f}",
            ]
        )
    return markdown(
        ["", "by the aim", "by the spread", "undecidable", "outside", "difference"], lines
    )


def verdict(row: Compared, key: Figure) -> Verdict:
    return judge(key, row.values("linux", key), row.values("host", key))


def difference(row: Compared, key: Figure) -> float | None:
    """In units of the aim; none where nothing may be off."""
    assert key.aim is not None
    linux = row.mean("linux", key)
    aim = key.aim(linux)
    return (row.mean("host", key) - linux) / aim if aim else None


def apart(rows: Sequence[Compared]) -> Iterable[str]:
    """Each window in which the second misses an aim beside the first."""
    for row in rows:
        parts = []
        for key in (*AIMED, *FAIR) if row.cell.flows > 1 else AIMED:
            if (found := verdict(row, key)) != Verdict.AIM:
                first, second = (ranged(row.values(side, key)) for side in ("linux", "host"))
                parts.append(f"{key.title} {first}, then {second} ({WORDS[found]})")
        if parts:
            yield f"- {row.key}, both on Linux: {'; '.join(parts)}"
