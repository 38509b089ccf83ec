# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cells.py: every figure of every window as data, a line each: docs/evidence/validation.csv.

Numbers have the digits of the page. A line begins with its cell, window and figure.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from validation.figures import AIMED, FAIR, SHOWN, Figure, Verdict, judge
from validation.lines import WORDS, figure, ratio

if TYPE_CHECKING:
    from validation.compare import Compared

COLUMNS = (
    "cell",
    "window",
    "figure",
    "rate_mbps",
    "rtt_ms",
    "flows",
    "queue",
    "control",
    "change",
    "linux",
    "engine",
    "ratio",
    "verdict",
    "linux_least",
    "linux_most",
    "engine_least",
    "engine_most",
    "our_form",
    "linux_again",
    "again_verdict",
    "cause",
)
FIGURES = (*AIMED, *SHOWN, *FAIR)


def write(compared: Sequence[Compared], causes: dict[str, str]) -> str:
    """Return the whole table, with its head."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(row for window in compared for row in rows(window, causes))
    return out.getvalue()


def rows(window: Compared, causes: dict[str, str]) -> Iterable[list[str]]:
    """Yield a line for each figure that the window has."""
    for key in FIGURES:
        if key not in FAIR or window.cell.flows > 1:
            yield line(window, key, causes)


def line(window: Compared, key: Figure, causes: dict[str, str]) -> list[str]:
    """Make the line of one figure."""
    cell = window.cell
    linux, engine = window.mean("linux", key), window.mean("engine", key)
    verdict = window.verdicts.get(key)
    again = (
        judge(key, window.values("linux", key), window.values("host", key))
        if (window.host and key.aim)
        else None
    )
    return [
        cell.name,
        window.window,
        key.key,
        str(cell.rate_mbps),
        "+".join(map(str, cell.rtts_ms)),
        str(cell.flows),
        cell.queue,
        cell.control,
        cell.name.split(f"-{cell.queue}")[1].removeprefix("-").replace("-", " "),
        figure(linux),
        figure(engine),
        ratio(linux, engine).replace("–", ""),
        word(verdict),
        *(
            figure(edge(window.values(side, key)))
            for side in ("linux", "engine")
            for edge in (min, max)
        ),
        figure(window.mean("ours", key)) if window.ours and key in AIMED else "",
        figure(window.mean("host", key)) if window.host else "",
        word(again),
        cause(window, key, causes) if verdict else "",
    ]


def word(verdict: Verdict | None) -> str:
    """Name a verdict; nothing where there is no aim."""
    return "" if verdict is None else "aim" if verdict == Verdict.AIM else WORDS[verdict]


def cause(window: Compared, key: Figure, causes: dict[str, str]) -> str:
    """Say why a figure misses its aim: the first cause whose expression matches."""
    place = f"{window.key}: {key.title}"
    known = (text for cell, text in causes.items() if re.fullmatch(cell, place))
    outside = window.verdicts[key] == Verdict.OUTSIDE
    return next(known, "unexplained" if outside else "Linux's own seeds differ so")


def parts(text: str) -> dict[str, list[str]]:
    """Split a table into the lines of each window, by cell and window."""
    windows: dict[str, list[str]] = {}
    for words in csv.reader(text.splitlines()[1:]):
        windows.setdefault(f"{words[0]} {words[1]}", []).append(",".join(words[2:]))
    return windows
