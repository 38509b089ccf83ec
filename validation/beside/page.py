# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""page.py: docs/evidence/beside.md as text."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from sojourn.core.text import markdown
from sojourn.scenario.variant import read

from tests.models import outside
from tests.models.follow import CHILDREN, follow
from tests.models.witnessed import load
from validation.beside import ns2
from validation.beside.figures import ERRORS, POINTS, SHARE, Measured, away, differ, shown
from validation.beside.linux import FLOWS, PAYLOAD, QUEUE, SCENARIO, Pair, Trial, pairs

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence/beside.md"
NS2 = ns2.QUEUES
COLUMNS = {
    "delay_ms": "mean delay, ms",
    "delay_p95_ms": "95th percentile, ms",
    "utilisation_pct": "utilisation, %",
    "drop_pct": "drops, %",
    "mark_pct": "marks, %",
    "plain_mbps": "goodput without ECN, Mbit/s",
    "marked_mbps": "goodput with ECN, Mbit/s",
    "deaf_mbps": "goodput of UDP, Mbit/s",
}
assert COLUMNS.keys() == {**QUEUE, **FLOWS}.keys()
# What a pair without a difference is judged by.
SEEN = {"delay_ms": "mean delay", "drop_pct": "drops"}

HEAD = """\
<!-- SPDX-FileCopyrightText: 2026 The Sojourn authors -->
<!-- SPDX-License-Identifier: MIT OR GPL-2.0-only -->

# Beside other implementations

<!-- Made by validation/beside; edit linux.toml and ns2.toml there, not this. -->

Our algorithms beside the kernel's own qdiscs and the queues of ns-2. In a checkout `python -m
validation.beside --renew` measures anew (half an hour) and writes this page; without `--renew` it
writes the page from the figures that are kept in `validation/beside/figures.json`.

"""

REST = """
[dualpi2](../reference/algorithms/dualpi2.md) stands beside the kernel's own, of a newer Linux, on
its page. `an_aqm`, `asqm`, `cfd`, `gchoke` and `lqd` stand beside no other implementation, packet
by packet: they are readings of ours of what their pages cite.
"""

LINUX = """
## Linux

{kernel} in virtual time, {seeds} seeds of `validation/beside/{scenario}`: five CUBIC flows with
ECN and five without, and datagrams of 1.2 Mbit/s, on 10 Mbit/s and 40 ms; from 5 s to 30 s. Ours
is the qdisc in the same kernel, with the same rows. Any pair can be run by itself: `sojourn run
validation/beside/mixed.toml --host linux --seeds {seeds} --aqm ... --aqm ...` with the names in
the first column of a table. The delay is that in the queue.

Means and standard deviations over the seeds. A figure of ours is **bold** where it differs from
the kernel's: by more than {errors} standard errors of the mean difference, seed by seed, and by
more than {share:.0%} of it and {points} of its unit. Under the table stands the reason: a trial,
in which what the line names was changed, and what it then gave. Where no difference is shown, the
line tells how large one of the mean delay or the drops would have to be to be seen.
"""

NS2_HEAD = """
## ns-2

The queues of {release} get the arrivals of ns-2's own TCP, of four packet sizes, and the model of
ours decides the same arrivals again, in step with what ns-2 decided before (`python -m
tests.models.follow`; `python -m tests.models.ns2` records anew). What is no draw must be decided
the same, packet by packet. Of random draws the table has how many were a signal (drawn), the sum
of the model's probabilities for them (expected), and the distance of the two in standard
deviations (sd apart). The C agrees with the models in every `make test`. With TCP in the loop the
table would compare ns-2's TCP with ours.

"""


ALONE = """
### The same arrivals, ours by itself

Our C gets each recording's arrivals at a link of 10 Mbit/s, draws and decides by itself, and
the link asks it when a packet has been sent: means and standard deviations of {seeds} seeds
(`python -m validation.beside --renew-ns2`). The senders answered what ns-2 decided, not what
ours did, so these figures are no forecast of ours with TCP. A figure is **bold** where it is
further from ns-2's than {errors} standard deviations of one seed, {share:.0%} of it and
{points}. A trial is our model with one thing more as ns-2 has it than in the trial before. Where
none takes a difference away, it is unexplained.

"""

OUTSIDE = """
## Decision by decision

Code of other people got arrivals of ours and drew from the generator of ours, outside of this
project. Our C decides the same arrivals again (`python -m tests.models.outside`, which also says
what was recorded and how): an arrival or a request is decided otherwise if any packet is lost or
marked by one side alone. As it stands the other code decides many otherwise, since one difference
moves all that follow. With the mapping it has the differences that the algorithm's page declares.

"""


FOLLOWED = (
    "queue of ns-2",
    "events",
    "decided otherwise",
    "drawn",
    "expected",
    "sd apart",
    "what is mapped",
)
BY_ITSELF = ("queue", "rows of ours", "", "drops", "marks", "mean backlog, packets")
DECIDED = (
    "ours",
    "beside",
    "cases",
    "arrivals and requests",
    "otherwise, as it stands",
    "with the mapping",
)
# Of a table.
Row = tuple[object, ...]


def text(kept: Mapping[str, Any]) -> str:
    """The page."""
    words: dict[str, Any] = {
        "errors": ERRORS,
        "share": SHARE,
        "points": POINTS,
        "scenario": SCENARIO.name,
    }
    words |= {"kernel": kept["kernel"], "seeds": kept["seeds"]}
    summary = [summary_of_kernel(pair, kept["pairs"][pair.kernel]) for pair in pairs()]
    summary += [summary_of_ns2(entry, kept["ns-2"][entry["name"]]) for entry in NS2]
    parts = [HEAD, markdown(("ours", "beside", "differences shown", "reason"), summary), REST]
    parts.append(LINUX.format(**words))
    parts += [section(pair, kept["pairs"][pair.kernel]) for pair in pairs()]
    release = load(NS2[0]["name"])["release"].item()
    parts += [NS2_HEAD.format(release=release), markdown(FOLLOWED, map(followed, NS2), range(1, 6))]
    words["seeds"] = len(kept["ns-2"][NS2[0]["name"]]["ours"]["drops"])
    alone = [row for entry in NS2 for row in by_itself(entry, kept["ns-2"])]
    parts += [ALONE.format(**words), markdown(BY_ITSELF, alone, range(3, 6))]
    reasons = [line for entry in NS2 for line in whys(entry, kept["ns-2"][entry["name"]])]
    parts.append("\n" + "\n".join(reasons) + "\n")
    parts += [OUTSIDE, markdown(DECIDED, map(decided, outside.NAMES), range(2, 6))]
    parts += ["\n", *map(mapped, outside.NAMES)]
    return "".join(parts)


def summary_of_kernel(pair: Pair, measured: Measured) -> Row:
    """One row for those who have two minutes."""
    told, why = "none", ""
    if apart := unlike(measured, pair.kernel, pair.ours):
        sides = measured[pair.kernel], measured[pair.ours]
        told = "; ".join(change(name, *sides) for name in COLUMNS if name in apart)
        why = "; ".join(trial.changed for trial, _ in explained(pair, measured)) or "unexplained"
    return f"`{plainly(pair.ours)}`", f"Linux, {pair.name}", told, why


def decided(name: str) -> Row:
    """A row of the table of decisions."""
    cases = outside.load(name)
    events = sum(len(of.case.events) for of in cases)
    ways = (
        sum(outside.otherwise(of.ours(), getattr(of, way)) for of in cases) for way in outside.WAYS
    )
    beside = outside.head(name)["source"].partition(":")[0]
    return f"`{name}`", beside, len(cases), events, *ways


def mapped(name: str) -> str:
    """What the table's last column has otherwise."""
    return f"- `{name}`: {outside.head(name)['mapping']}\n"


def plainly(spec: str) -> str:
    """The name of a queue, without its rows."""
    return read(spec).algorithm


def change(name: str, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """From theirs to ours."""
    what, _, unit = COLUMNS[name].partition(", ")
    return f"{what} {fmean(theirs[name]):.2f} → {fmean(ours[name]):.2f} {unit}"


def summary_of_ns2(entry: Mapping[str, Any], measured: Measured) -> Row:
    """The same, of our C on the arrivals of one of ns-2's queues."""
    words = {"drops": "drops", "marks": "marks", "backlog_pkts": "mean backlog, packets"}
    apart = apart_from_ns2(measured, "ours")
    told = "; ".join(
        f"{words[name]} {measured['ns-2'][name][0]:.4g} → {fmean(measured['ours'][name]):.4g}"
        for name in ns2.METRICS
        if name in apart
    )
    why = "; ".join(dict.fromkeys(ns2.trials(entry).values())) if told else ""
    return f"`{plainly(entry['ours'])}`", f"ns-2, {entry['queue']}", told or "none", why


def explained(pair: Pair, measured: Measured) -> Iterator[tuple[Trial, set[str]]]:
    """The trials that take differences away, each with those that it is the first to take."""
    apart = unlike(measured, pair.kernel, pair.ours)
    for trial in pair.trials:
        left = unlike(measured, *trial.keys)
        if gone := apart - left:
            yield trial, gone
            apart = apart & left


def seen_from(pair: Pair, measured: Measured) -> str:
    """What would be seen."""
    least = (shown(measured[pair.kernel][n], measured[pair.ours][n]) for n in SEEN)
    parts = (
        f"{value:.2f} {COLUMNS[name].partition(', ')[2]} of {SEEN[name]}"
        for name, value in zip(SEEN, least, strict=True)
    )
    return f"No difference shown; {' or '.join(parts)} would be."


def section(pair: Pair, measured: Measured) -> str:
    """One pair: a table, and the reasons below."""
    apart = unlike(measured, pair.kernel, pair.ours)
    rows = [
        row(f"`{pair.kernel}`", measured[pair.kernel]),
        row(f"`{pair.ours}`", measured[pair.ours], apart),
    ]
    for trial in pair.trials:
        theirs, ours = trial.keys
        if theirs != pair.kernel:
            rows.append(row(trial_title(trial.kernel, trial.payload), measured[theirs]))
        if ours != pair.ours:
            left = unlike(measured, theirs, ours)
            rows.append(row(trial_title(trial.ours, trial.payload), measured[ours], left))
    reasons = []
    for trial, gone in explained(pair, measured):
        reasons.append(f"- {', '.join(titles(gone))}: {trial.changed}.")
        apart = apart - gone
    if apart:
        reasons.append(f"- {', '.join(titles(apart))}: unexplained.")
    if not reasons:
        reasons.append(seen_from(pair, measured))
    if pair.note:
        reasons += ["", pair.note.strip()]
    table = markdown(("", *COLUMNS.values()), rows, range(1, len(COLUMNS) + 1))
    return "\n".join([f"\n### {pair.name}\n", table, *reasons, ""])


def titles(names: Collection[str]) -> list[str]:
    """Of columns, without their units, in the table's order."""
    return [title.partition(",")[0] for name, title in COLUMNS.items() if name in names]


def trial_title(spec: str, payload: str) -> str:
    """In the first column."""
    more = (
        "" if payload == PAYLOAD else f", datagrams of {payload} (`--set flows.deaf.app.payload`)"
    )
    return f"trial: `{spec}`{more}"


def unlike(measured: Measured, theirs: str, ours: str) -> set[str]:
    """The metrics in which two queues differ."""
    return {name for name in COLUMNS if differ(measured[theirs][name], measured[ours][name])}


def row(title: str, values: Mapping[str, Any], bold: Collection[str] = ()) -> Row:
    """Means and standard deviations."""
    return title, *_cells(values, bold)


def _cells(values: Mapping[str, Any], bold: Collection[str]) -> Iterator[str]:
    for name in COLUMNS:
        cell = f"{fmean(values[name]):.2f} ± {stdev(values[name]):.2f}"
        yield f"**{cell}**" if name in bold else cell


def followed(entry: Mapping[str, str]) -> Row:
    """One queue of ns-2: a difference in what is no draw would have raised."""
    name = entry["name"]
    found = follow(name, load(name))
    drawn, expected, apart = "none", "", ""
    if found.draws:
        hits, sum_p = sum(hit for _, hit in found.draws), sum(p for p, _ in found.draws)
        drawn, expected, apart = str(hits), f"{sum_p:.1f}", f"{found.surprise():+.2f}"
    title = f"{entry['queue']}, `{name}`"
    assert name in CHILDREN
    return title, found.events, 0, drawn, expected, apart, entry["mapped"]


def by_itself(entry: Mapping[str, Any], kept: Mapping[str, Measured]) -> Iterator[Row]:
    """One queue of ns-2, ours on its arrivals, and trials."""
    measured = kept[entry["name"]]
    title, rows = f"{entry['queue']}, `{entry['name']}`", f"`{entry['ours']}`"
    sides = {"ns-2": "ns-2", "ours": "ours"}
    sides |= {trial: f"trial: {changed}" for trial, changed in ns2.trials(entry).items()}
    for side, called in sides.items():
        bold = set() if side == "ns-2" else apart_from_ns2(measured, side)
        cells = [_alone(name, measured[side][name], name in bold) for name in ns2.METRICS]
        yield title, rows, called, *cells
        title = rows = ""


def _alone(name: str, values: Sequence[float], bold: bool) -> str:
    digits = 2 if name == "backlog_pkts" else 0 if len(values) == 1 else 1
    cell = f"{fmean(values):.{digits}f}"
    if len(values) > 1:
        cell += f" ± {stdev(values):.{digits}f}"
    return f"**{cell}**" if bold else cell


def apart_from_ns2(measured: Measured, side: str) -> set[str]:
    """The metrics in which a side differs from ns-2's queue."""
    theirs = measured["ns-2"]
    return {name for name in ns2.METRICS if away(theirs[name][0], measured[side][name])}


def whys(entry: Mapping[str, Any], measured: Measured) -> Iterator[str]:
    """The reason of each difference: the first trial without it."""
    apart = apart_from_ns2(measured, "ours")
    parts: list[str] = []
    so_far: list[str] = []
    for trial, changed in ns2.trials(entry).items():
        so_far.append(changed)
        left = apart_from_ns2(measured, trial)
        gone = [name for name in ns2.METRICS if name in apart - left]
        if gone:
            parts.append(f"{_called(gone)}: {', '.join(so_far)}")
            apart &= left
    if apart:
        parts.append(f"{_called([name for name in ns2.METRICS if name in apart])}: unexplained")
    yield f"- `{entry['name']}`: {'; '.join(parts) or 'no figure differs'}."


def _called(names: Sequence[str]) -> str:
    return ", ".join("mean backlog" if name == "backlog_pkts" else name for name in names)
