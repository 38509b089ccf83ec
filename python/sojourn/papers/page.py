# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The page of a paper: verdicts first, then for each experiment its set-up, tables, figures and
reasons. All contents of a section are computed here; the template only lays them out.

Figures are redrawn by the kind that an experiment's [figure] names. A kind makes charts of a
reproduction, and lists in its own file the keys that it needs in [figure].

[figure]
kind = "delay"     over time, a curve for each algorithm; the default (sojourn.papers.time_figure)
kind = "axis"      a metric over an axis, a line for each algorithm (sojourn.papers.axis_figure)
kind = "curve"     a metric over another, a point for each value of an axis
                   (sojourn.papers.curve_figure)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sojourn.core.errors import InputError, nearest
from sojourn.core.hosts import HOST_NAMES, HOSTS
from sojourn.core.table import Table
from sojourn.papers import axis_figure, curve_figure, time_figure
from sojourn.papers.claims import VERDICTS, Judged, count
from sojourn.papers.experiment import Signal
from sojourn.papers.paper import OfPaper, title_of
from sojourn.papers.reasons import RULE, Change, Off, counts, off, printed
from sojourn.papers.reproduce import Measured, Reproduction
from sojourn.scenario.assignments import write_value
from sojourn.scenario.tested import under_test
from sojourn.show.chart import Chart
from sojourn.show.page import drawn, heading, number, render

if TYPE_CHECKING:
    from sojourn.papers.experiment import Experiment
    from sojourn.papers.reproduce import Reproduction


@dataclass(frozen=True)
class Line:
    """A claim with the verdict of each host."""

    by_host: Mapping[str, Judged]

    @property
    def claim(self) -> Any:
        """Return the claim, which is the same on each host."""
        return next(iter(self.by_host.values())).claim


def html(
    reproductions: Sequence[Reproduction],
    of_papers: Sequence[OfPaper] = (),
    charts: Sequence[Sequence[Chart]] | None = None,
    *,
    searches: Mapping[str, Any] | None = None,
) -> str:
    """Write one self-contained page. `charts` has those of each reproduction that are made already;
    `searches` has the results of searches, by paper."""
    charts = charts or [figures(reproduction) for reproduction in reproductions]
    pairs = zip(reproductions, charts, strict=True)
    sections = [_section(one, found, n) for n, (one, found) in enumerate(pairs)]
    several = [
        {"paper": of.paper, "lines": found, "tally": tally(found), "is_decided": of.is_decided}
        for of in of_papers
        for found in [lines(of.judged)]
    ]
    return render(
        "report.html",
        sections=sections,
        several=several,
        total=_total(sections, several),
        hosts=HOST_NAMES,
        verdicts=VERDICTS,
        searches=searches or {},
        inside=RULE.replace("inside:", "inside if"),
        title=_title(reproductions),
    )


def _title(reproductions: Sequence[Reproduction]) -> str:
    titles = [one.experiment.title for one in reproductions]
    papers = dict.fromkeys(title_of(one.experiment) for one in reproductions)
    return titles[0] if len(titles) == 1 else ", ".join(papers)


def lines(judged: Mapping[str, Iterable[Judged]]) -> list[Line]:
    """List each claim once; a host that was not asked ran none of it."""
    by_claim: dict[str, dict[str, Judged]] = {}
    for host, found in judged.items():
        for one in found:
            by_claim.setdefault(one.claim.id, {})[host] = one
    return [
        Line({host: of.get(host) or _nowhere(host, of) for host in HOSTS})
        for of in by_claim.values()
    ]


def _nowhere(host: str, of: Mapping[str, Judged]) -> Judged:
    return Judged(host, next(iter(of.values())).claim, None, ())


def tally(found: Iterable[Line]) -> dict[str, dict[str, int]]:
    """Count the verdicts by host."""
    every = list(found)
    return {host: count(line.by_host[host] for line in every) for host in HOSTS}


def _total(*parts: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    return tally(line for part in parts for section in part for line in section["lines"])


def _section(reproduction: Reproduction, charts: Sequence[Chart], place: int) -> dict[str, Any]:
    experiment = reproduction.experiment
    found = lines({host: reproduction.claims_of(host) for host in HOSTS})
    by_signal: dict[str, list[dict[str, Any]]] = {}
    for chart in charts:
        by_signal.setdefault(chart.cell, []).append(drawn(chart, f"f{place}-"))
    groups: list[dict[str, Any]] = [
        {
            "group": group,
            "pictures": [p for s in group.signals for p in by_signal.get(s.name, ())],
            "grids": grids(reproduction, group, group.metrics),
            "beside": grids(reproduction, group, group.beside) if group.beside else [],
            "peers": peers(reproduction, group),
        }
        for group in groups_of(reproduction)
    ]
    return {
        "id": f"e{place}",
        "reproduction": reproduction,
        "experiment": experiment,
        "command": reproduction.result.meta["command"],
        "words": describe(experiment),
        "abouts": abouts(experiment),
        "window": window(experiment),
        "toml": experiment.scenario.to_toml(),
        "has_system_delay": any(
            metric.startswith("system_delay") for part in groups for metric in part["group"].metrics
        ),
        "lines": found,
        "tally": tally(found),
        "cells": {host: counts(printed(reproduction, host)) for host in HOSTS},
        "groups": groups,
        "pictures": by_signal.get("", []),
        "off": [_reason(one) for one in off(reproduction)],
        "ablations": [
            {
                "signal": signal,
                "host": signal.host and HOST_NAMES[signal.host],
                "name": signal.title.partition(": ")[0],
                "rows": _beside_base(reproduction, signal),
                "pictures": by_signal.get(signal.name, []),
            }
            for signal in experiment.signals()
            if signal.ablates and reproduction.hosts_of(signal)
        ],
        "cores": cores(reproduction),
    }


def _beside_base(reproduction: Reproduction, ablation: Signal) -> list[dict[str, Any]]:
    """Compare each figure of an ablation with the base's, seed by seed."""
    from sojourn.papers.reproduce import values_of
    from sojourn.result.stats import estimate

    (host,) = reproduction.hosts_of(ablation)
    values = values_of(reproduction, host)
    rows = []
    for metric in ablation.metrics:
        for contender in reproduction.experiment.contenders(ablation):
            base = reproduction.cell(host, ablation.of, contender.name, metric)
            changed = reproduction.cell(host, ablation.name, contender.name, metric)
            difference = None
            if base.ran and changed.ran:
                pairs = zip(
                    values((ablation.of, contender.name, metric)),
                    values((ablation.name, contender.name, metric)),
                    strict=False,  # either may have fewer seeds, from 1 on
                )
                difference = estimate([after - before for before, after in pairs])
            rows.append(
                {"metric": metric, "base": base, "changed": changed, "difference": difference}
            )
    return rows


def _reason(one: Off) -> dict[str, Any]:
    return {
        "base": one.base,
        "host": HOST_NAMES[one.base.host],
        "reasons": [(change, _share(change)) for change in one.reasons[:3]],
        "nearest": (one.nearest, _share(one.nearest)) if one.nearest else None,
        "tried": len(one.changes),
    }


def _share(change: Change) -> str:
    return "inside" if change.inside else f"{100 * change.closed:.0f} % of the way"


def cores(reproduction: Reproduction) -> dict[str, str]:
    """Name, for each host that ran, the version that made its runs: one version made them all."""
    first = {str(run.labels["host"]): run for run in reversed(reproduction.result.runs)}
    return {host: _made_by(run.entry.core().split()) for host, run in first.items()}


def _made_by(words: Sequence[str]) -> str:
    """Write the version of the core, and for Linux the kernel's release."""
    kernel = f", Linux {words[2]}" if words[1:2] == ["linux"] else ""
    return f"Sojourn {words[0]}{kernel}"


# The most cells of a table that each have a block of rows.
_MANY = 4


@dataclass(frozen=True)
class Group:
    """Cells that share a table: one for each value of the further axes."""

    title: str
    table: str
    metrics: tuple[str, ...]
    beside: tuple[str, ...]
    signals: tuple[Signal, ...]

    @property
    def is_long(self) -> bool:
        """Tell whether there are too many cells for a block of rows each."""
        return len(self.signals) > _MANY


# A cell has a measurement, or a number in print as text.
Cells = Sequence["Measured | str"]


@dataclass(frozen=True)
class Grid:
    """A table of numbers with groups of columns. A row has a name, and a group of cells for each
    group of columns."""

    label: str
    corner: str
    groups: Sequence[tuple[str, Sequence[str]]]
    blocks: Sequence[tuple[str, Sequence[tuple[str, Sequence[Cells]]]]]


def groups_of(reproduction: Reproduction) -> list[Group]:
    """Group the cells into tables, in the order of the signals."""
    found: dict[tuple[str, str], list[Signal]] = {}
    for signal in reproduction.experiment.signals():
        if not signal.ablates:
            found.setdefault((signal.name.partition(", ")[0], signal.table), []).append(signal)
    return [
        Group(title, table, of[0].metrics, of[0].beside, tuple(of))
        for (title, table), of in found.items()
    ]


def grids(reproduction: Reproduction, group: Group, metrics: Sequence[str]) -> list[Grid]:
    """Make a row for each algorithm. Many cells, as along an axis, have a row each instead, and a
    table for each metric. A group of columns has the number in print and those of both hosts."""
    names = [contender.name for contender in reproduction.experiment.contenders(group.signals[0])]

    def cells(signal: Signal, algorithm: str, metric: str) -> list[Measured]:
        return [reproduction.cell(host, signal.name, algorithm, metric) for host in HOSTS]

    if group.is_long:
        return [
            _grid(
                heading(metric),
                heading(metric),
                names,
                [("", [(_rest(s), [cells(s, n, metric) for n in names]) for s in group.signals])],
            )
            for metric in metrics
        ]
    several = len(group.signals) > 1
    blocks = [
        (
            s.name if several else "",
            [(n, [cells(s, n, metric) for metric in metrics]) for n in names],
        )
        for s in group.signals
    ]
    return [_grid(group.title, "algorithm", list(map(heading, metrics)), blocks)]


# Rows: a name, and the groups of cells.
_Rows = Sequence[tuple[str, Sequence[Sequence[Measured]]]]


def _grid(
    label: str,
    corner: str,
    headings: Sequence[str],
    blocks: Sequence[tuple[str, _Rows]],
) -> Grid:
    """Make a table; it shows the numbers in print beside each group of hosts, where it has any."""
    every = (of for _, rows in blocks for _, row in rows for of in row)
    hosts = [HOST_NAMES[host] for host in HOSTS]
    if all(of[0].published is None for of in every):
        return Grid(label, corner, [(name, hosts) for name in headings], blocks)
    printed: list[tuple[str, list[tuple[str, list[Cells]]]]] = [
        (title, [(name, [[number(of[0].published), *of] for of in row]) for name, row in rows])
        for title, rows in blocks
    ]
    return Grid(label, corner, [(name, ["published", *hosts]) for name in headings], printed)


def _rest(signal: Signal) -> str:
    """Name a cell without the part that the title has for all of them."""
    return signal.name.partition(", ")[2] or signal.name


def peers(reproduction: Reproduction, group: Group) -> list[Grid]:
    """Set ours beside the kernel's own, for each cell."""
    columns = reproduction.beside_kernel()
    if not columns:
        return []
    groups = [
        (of[0][1], [HOST_NAMES[host] if name == of[0][1] else name for host, name in of])
        for of in columns
    ]
    metrics = (*group.metrics, *group.beside)

    def of_cell(signal: Signal, metric: str) -> list[list[Measured]]:
        return [
            [reproduction.cell(host, signal.name, name, metric) for host, name in of]
            for of in columns
        ]

    return [
        Grid(s.name, "metric", groups, [("", [(heading(m), of_cell(s, m)) for m in metrics])])
        for s in group.signals
    ]


# The tables list at most this many links or flows; the scenario's file has all.
_LISTED = 24


def describe(experiment: Experiment) -> list[Table]:
    """List the network, the traffic, the algorithms, and the changes from cell to cell."""
    return [_links(experiment), _flows(experiment), _algorithms(experiment), _cells(experiment)]


def abouts(experiment: Experiment) -> list[tuple[str, str]]:
    """List the algorithms that the paper has not, and describe each."""
    return [(found.name, found.about) for found in experiment.contenders() if found.about]


def window(experiment: Experiment) -> str:
    """Write the begin, the end and the place of the measurement."""
    end = experiment.scenario.duration
    span = f"{experiment.window.from_} to {experiment.window.to} of {end}"
    if not experiment.scenario.record.windows:
        span = f"begin to end, {end}"
    return f"{span}, at “{experiment.data['queue']}”"


def _links(experiment: Experiment) -> Table:
    rows = []
    graph = experiment.scenario.expand()
    links, tested = graph.links, under_test(experiment.scenario, graph)
    for link in links[:_LISTED]:
        queue = link.queue
        limits = _pairs(queue.rows) if queue else ""
        rates = [str(link.rate or "any"), *(f"{s.rate} from {s.at}" for s in link.schedule)]
        delay = str(link.delay) if link.delay else ""
        if link.jitter:
            sd = getattr(link.jitter, "sd", "")
            delay += f", {link.jitter.distribution} jitter {sd}"
        manner = "" if link.shaper == "wire" else f"{link.shaper}, burst {link.burst}"
        held = "under test" if link.name in tested else f"{queue.algorithm} {limits}"
        rows.append((link.name, f"{link.from_} → {link.to}", ", ".join(rates), delay, manner, held))
    headings = ("link", "from → to", "rate", "delay", "shaper", "queue")
    return Table.of_rows("Network", headings, rows, _more(len(links)))


def _flows(experiment: Experiment) -> Table:
    flows = experiment.scenario.expand().flows
    rows = []
    for flow in flows[:_LISTED]:
        app = flow.app.model_dump(exclude_defaults=True)
        app.pop("kind", None)
        transport = flow.transport
        words: list[str] = [transport.kind]
        words += [str(found) for key in ("tcp", "cc") if (found := getattr(transport, key, None))]
        begin = str(flow.start)
        if flow.start_spread:
            begin += f", spread over {flow.start_spread}"
        if flow.stop is not None:
            begin += f", until {flow.stop}"
        rows.append(
            (
                flow.name,
                str(flow.count),
                f"{flow.from_} → {flow.to}",
                ", ".join(words),
                f"{flow.app.kind} {_pairs(app)}".strip(),
                begin,
            )
        )
    headings = ("flows", "count", "from → to", "transport", "traffic", "begin")
    return Table.of_rows("Traffic", headings, rows, _more(len(flows)))


def _algorithms(experiment: Experiment) -> Table:
    rows = [(c.name, c.algorithm, _pairs(c.rows)) for c in experiment.contenders()]
    return Table.of_rows(
        "Algorithms", ("in the paper", "here", "settings other than by default"), rows
    )


def _cells(experiment: Experiment) -> Table:
    rows = [
        (signal.name, signal.table, _pairs(signal.set))
        for signal in experiment.signals()
        if not signal.ablates
    ]
    return Table.of_rows("Cells", ("cell", "in the paper", "what is set"), rows)


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {_written(value)}" for key, value in values.items())


def _written(value: Any) -> str:
    try:
        return write_value(value)
    except (TypeError, ValueError):
        return str(value)


def _more(count: int) -> str:
    more = count - _LISTED
    return f"And {more} more: the scenario’s file has all." if more > 0 else ""


KINDS: dict[str, Callable[[Reproduction], Iterable[Chart]]] = {
    "delay": time_figure.charts,
    "axis": axis_figure.charts,
    "curve": curve_figure.charts,
}


def kind_of(experiment: Experiment) -> str:
    """Name the kind of the experiment's figures; InputError where no kind has this name."""
    kind = str(experiment.data.get("figure", {}).get("kind", "delay"))
    if kind not in KINDS:
        place = experiment.folder / "experiment.toml"
        raise InputError(
            f"{place}: figure.kind = '{kind}': there is no such kind.{nearest(kind, KINDS)}"
        )
    return kind


def figures(reproduction: Reproduction) -> list[Chart]:
    """Chart every figure of an experiment and of its ablations; none where it has no [figure]."""
    if "figure" not in reproduction.experiment.data:
        return []
    return list(KINDS[kind_of(reproduction.experiment)](reproduction))
