# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""harnesses.py: which harness recorded what on Linux, and how near the two are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sojourn.core.text import markdown
from sojourn.result.stats import estimate

from validation.figures import AIMED, FAIR, Figure, Verdict, judge

if TYPE_CHECKING:
    from validation.compare import Compared
    from validation.recorded import Recorded

TEXT = """\
## Two harnesses on Linux

The reference is the first recording: {first} cells in `windows.json` and `flows.parquet`, made by a
harness of its own that is no more. `python -m validation.record` files what the package's own Linux
host gives, on the same kernel with the same starts: so far {host} cells, in `host.json`.

The package differs from the first harness in four points. Each stage of a link has a namespace of
its own. Sysctls size receive buffers, in place of SO_RCVBUF. Mixed round trips are made up at the
sender, but where flows go both ways. The same code computes queues and flows of both hosts.

Both harnesses recorded {windows} windows. How near the second is to the first, by the aims for the
engine:

{counts}
Difference: second − first in units of the aim, the mean over these windows ± half of its 95 %
interval. One is what the engine may be off. `linux_again` of the data has the second's figures.
"""


def section(compared: Sequence[Compared], linux: Recorded) -> str:
    """For the page; nothing where one harness recorded everything."""
    rows = [row for row in compared if row.host]
    if not rows:
        return ""
    cells = {row.cell.name for row in compared}
    return TEXT.format(
        first=len(cells & {*linux.first}),
        host=len(cells & {*linux.host}),
        windows=len(rows),
        counts=counts(rows),
    )


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
