# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""page.py: docs/evidence/ns-2.md as text, from the kept figures."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from sojourn.core.text import markdown
from sojourn.papers.experiment import ROOT
from sojourn.papers.reasons import aim

from validation.lines import figure
from validation.stability_ns2.run import NS2, OURS, QUEUES, SEEDS

PAGE = Path(__file__).parents[2] / "docs" / "evidence/ns-2.md"
COLUMNS = {
    "queue_pkts_mean": "queue, packets",
    "queue_pkts_sd": "its deviation",
    "utilisation_pct": "utilisation, %",
    "drop_pct": "drops, %",
}
INTRODUCTION = f"""\
<!-- SPDX-FileCopyrightText: 2026 The Sojourn authors -->
<!-- SPDX-License-Identifier: MIT OR GPL-2.0-only -->

# The stability paper in ns-2

<!-- Made by validation/stability_ns2; edit page.py there, not this. -->

The network and the traffic of `sojourn reproduce stability` in ns-2.35, with its own queues at
their defaults and its own NewReno; what the paper leaves open is as there
(`validation/stability_ns2/network.tcl`). Where ns-2 gives our figure and not the printed one,
the paper's set-up was another, and no queue of ours is the reason. ns-2 has no BLUE and no
AN-AQM. In a checkout `python -m validation.stability_ns2 --renew-ns2 --renew-ours` measures
anew (ten minutes; it needs `ns`, and a store that `sojourn reproduce stability` has filled).

The largest such difference is RED with 900 packets, and its average explains it. ns-2's default,
`q_weight_` -1, gives this link a weight of 2^-15.6. Its other rule, `q_weight_` -2, is
1 - exp(-10 / C) = 2^-11.3. With 2^-11 ours has 5.6 ± 17.7 packets and 61.4 %, where print has
4.7 ± 17.4 and 60.2 % (`sojourn run papers/stability/900/scenario.toml --aqm
red@ns2:weight=11,limit_bytes=450kB --set queue.ecn=false --seeds 3`).

The paper ran ns-2.33 (March 2008), which was not at hand. ns-2.34 (June 2009) was. It has these
rules and defaults too, that of `q_weight_` since December 2001, and its list of changes since 2.33
names none of these queues and no TCP. So the version is hardly the reason.

Means and standard deviations over {SEEDS} seeds of ns-2 and 10 of ours. A mean is **bold** where it
is further from print than a tenth of it, half a packet, or 2 points of utilisation.
"""


def text(kept: dict[str, Any]) -> str:
    """The page."""
    parts = [INTRODUCTION, tally(kept)]
    for cell, by_name in kept[NS2].items():
        through = sorted({int(n) for of in by_name.values() for n in of["through"]})
        got = f"{through[0]}" if len(through) == 1 else f"{through[0]} to {through[-1]}"
        parts.append(f"## {cell.replace(':', ' packets,')}\n")
        parts.append(markdown(["algorithm", "", *COLUMNS.values()], rows(kept, cell)))
        parts.append(f"TCP connections that got through in ns-2: {got}.\n")
    return "\n".join(parts)


def tally(kept: dict[str, Any]) -> str:
    """How many printed numbers each of the two meets."""
    met = {(a, b): 0 for a in (True, False) for b in (True, False)}
    for cell in kept[NS2]:
        for name, numbers in printed(cell).items():
            for of in COLUMNS.keys() & numbers.keys() if name in QUEUES else ():
                values = (kept[who][cell][name][of] for who in (NS2, OURS))
                theirs, mine = (is_near(of, numbers[of], fmean(value)) for value in values)
                met[theirs, mine] += 1
    return (
        f"Of {sum(met.values())} printed numbers {met[True, True]} are met by both, "
        f"{met[False, False]} by neither, {met[True, False]} by ns-2 alone and "
        f"{met[False, True]} by ours alone.\n"
    )


def rows(kept: dict[str, Any], cell: str) -> Iterator[list[str]]:
    """Print, ns-2 and ours of each algorithm."""
    for name in QUEUES:
        numbers = printed(cell)[name]
        yield [name, "printed", *(f"{numbers[of]:g}" if of in numbers else "" for of in COLUMNS)]
        for who in (NS2, OURS):
            found = kept[who][cell][name]
            yield ["", who, *(spread(of, numbers.get(of), found[of]) for of in COLUMNS)]


def spread(metric: str, number: float | None, values: list[float]) -> str:
    """Mean and standard deviation; bold off print."""
    mean = figure(fmean(values))
    if number is not None and not is_near(metric, number, fmean(values)):
        mean = f"**{mean}**"
    return f"{mean} ± {figure(stdev(values))}"


def is_near(metric: str, number: float, mean: float) -> bool:
    """Within the aim of `sojourn reproduce`."""
    return abs(mean - number) <= aim(metric, number)


def printed(cell: str) -> dict[str, dict[str, float]]:
    """The printed numbers of a cell."""
    experiment, load = cell.split(": ")
    file = ROOT / "stability" / experiment / "published.toml"
    found: dict[str, dict[str, float]] = tomllib.loads(file.read_text())[f"drop, {load}"]
    return found
