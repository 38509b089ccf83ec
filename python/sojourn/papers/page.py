# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The page of a paper: verdicts first, then for each experiment its set-up, tables, figures and
reasons. All contents of a section are computed here; the template only lays them out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sojourn.core.hosts import HOST_NAMES, HOSTS
from sojourn.core.text import Table
from sojourn.core.units import Duration, Rate
from sojourn.papers import answer
from sojourn.papers.claim import VERDICTS
from sojourn.papers.claims import Judged, causes, count
from sojourn.papers.experiment import Experiment, Signal
from sojourn.papers.figures import figures
from sojourn.papers.paper import JudgedPaper
from sojourn.papers.reasons import APART, RULE, Change, Measured, counted, counts, off
from sojourn.papers.reproduce import Reproduction
from sojourn.scenario.changes import under_test
from sojourn.scenario.ends import queue_rates, queues
from sojourn.scenario.variant import write_value
from sojourn.show.chart import Chart
from sojourn.show.network import Network
from sojourn.show.network_page import of_page, of_scenario
from sojourn.show.page import drawn, heading, number, render
from sojourn.store.folder import Folder


@dataclass(frozen=True)
class Line:
    """A claim with the verdict of each host."""

    by_host: Mapping[str, Judged]

    @property
    def claim(self) -> Any:
        """Return the claim, which is the same on each host."""
        return next(iter(self.by_host.values())).claim


def write_page(
    folder: Folder,
    name: str,
    reproductions: Sequence[Reproduction],
    judged_papers: Sequence[JudgedPaper],
    searches: Mapping[str, Any],
) -> list[list[Chart]]:
    """Write the page, and the numbers of each figure as figures/NAME.csv. Return the figures of
    each reproduction."""
    charts = [figures(reproduction) for reproduction in reproductions]
    for chart in chain.from_iterable(charts):
        folder.write(f"figures/{chart.file}", chart.csv().encode())
    text = html(
        reproductions, judged_papers, charts, searches={k: v for k, v in searches.items() if v}
    )
    folder.write(name, text.encode())
    return charts


def html(
    reproductions: Sequence[Reproduction],
    judged_papers: Sequence[JudgedPaper] = (),
    charts: Sequence[Sequence[Chart]] | None = None,
    *,
    searches: Mapping[str, Any] | None = None,
) -> str:
    """Write one self-contained page. `charts` has those of each reproduction that are made already;
    `searches` has the results of searches, by paper."""
    charts = charts or [figures(reproduction) for reproduction in reproductions]
    pairs = enumerate(zip(reproductions, charts, strict=True))
    sections = [_section(*pair, place) for place, pair in pairs]
    several: list[dict[str, Any]] = [
        {
            "paper": p.paper,
            "lines": rows,
            "tally": tally(rows),
            "causes": missed(rows),
            "is_decided": p.is_decided,
        }
        for p in judged_papers
        for rows in [lines(p.judged)]
    ]
    every = [line for part in (*sections, *several) for line in part["lines"]]
    total = tally(every)
    answers = _answers(reproductions, charts, every)
    titles = [reproduction.experiment.title for reproduction in reproductions]
    papers = dict.fromkeys(r.experiment.home.title for r in reproductions)
    return render(
        "report.html",
        sections=sections,
        several=several,
        total=total,
        answers=answers,
        causes=missed(every),
        hosts=HOST_NAMES,
        verdicts=VERDICTS,
        searches=searches or {},
        inside=RULE.replace("inside:", "inside if"),
        apart=APART[0].upper() + APART[1:],
        title=titles[0] if len(titles) == 1 else ", ".join(papers),
    )


def answer_of(reproductions: Sequence[Reproduction], every: Iterable[Line]) -> list[str]:
    """Write the sentences that answer a paper, from the simulator's runs of its experiments and the
    verdicts of all its claims."""
    by_id = {r.experiment.id: r for r in reproductions}

    def look(experiment: str, cell: str, algorithm: str, metric: str) -> float | None:
        if experiment not in by_id:
            return None
        measured = by_id[experiment].cell("sim", cell, algorithm, metric)
        return measured.estimate.mean if measured.ran else None

    verdicts = {
        line.claim.id: line.by_host["sim"].verdict for line in every if "sim" in line.by_host
    }
    return answer.sentences(reproductions[0].experiment.home, look, verdicts)


def _answers(
    reproductions: Sequence[Reproduction],
    charts: Sequence[Sequence[Chart]],
    every: Iterable[Line],
) -> list[dict[str, Any]]:
    """Answer the paper of a page that has all of its experiments."""
    homes = {r.experiment.home.folder: r.experiment.home for r in reproductions}
    if len(homes) != 1:
        return []
    (home,) = homes.values()
    if len(reproductions) < len(home.experiments):
        return []
    chart = picture_of(reproductions, charts)
    texts = answer_of(reproductions, every)
    return [{"texts": texts, "picture": drawn(chart, "answer-") if chart else None}]


def picture_of(
    reproductions: Sequence[Reproduction], charts: Sequence[Sequence[Chart]]
) -> Chart | None:
    """Find the picture of a paper's answer among the charts of each of its experiments."""
    by_name = {r.experiment.name: c for r, c in zip(reproductions, charts, strict=True)}
    return answer.picture(reproductions[0].experiment.home, by_name)


def lines(judged: Mapping[str, Iterable[Judged]]) -> list[Line]:
    """List each claim once; a host that was not asked ran none of it."""
    by_claim: dict[str, dict[str, Judged]] = {}
    for host, verdicts in judged.items():
        for verdict in verdicts:
            by_claim.setdefault(verdict.claim.id, {})[host] = verdict
    return [
        Line({host: by_host.get(host) or Judged(host, claim, None, ()) for host in HOSTS})
        for by_host in by_claim.values()
        for claim in [next(iter(by_host.values())).claim]
    ]


def tally(claims: Iterable[Line]) -> dict[str, dict[str, int]]:
    """Count the verdicts by host."""
    rows = list(claims)
    return {host: count(row.by_host[host] for row in rows) for host in HOSTS}


def missed(claims: Iterable[Line]) -> dict[str, dict[str, int]]:
    """Count the claims that are not found by their cause, by host."""
    rows = list(claims)
    return {host: causes(row.by_host[host] for row in rows) for host in HOSTS}


def _section(reproduction: Reproduction, charts: Sequence[Chart], place: int) -> dict[str, Any]:
    experiment = reproduction.experiment
    claims = lines(reproduction.judged)
    in_print = {host: counted(reproduction, host) for host in HOSTS}
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
        "networks": of_page(network(experiment)),
        "words": describe(experiment),
        "abouts": abouts(experiment),
        "window": window(experiment),
        "toml": experiment.scenario.to_toml(),
        "has_system_delay": any(
            metric.startswith("system_delay") for part in groups for metric in part["group"].metrics
        ),
        "lines": claims,
        "tally": tally(claims),
        "causes": missed(claims),
        "cells": {host: counts(cells) for host, cells in in_print.items()},
        "can_miss": {
            host: counts([cell for cell in cells if cell.can_miss])
            for host, cells in in_print.items()
        },
        "groups": groups,
        "pictures": by_signal.get("", []),
        "off": off(reproduction),
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


def _beside_base(reproduction: Reproduction, ablation: Signal) -> list[Change]:
    """Compare each figure of an ablation with the base's, seed by seed."""
    (host,) = reproduction.hosts_of(ablation)
    return [
        Change(
            ablation.short,
            reproduction.cell(host, ablation.base, contender.name, metric),
            reproduction.cell(host, ablation.name, contender.name, metric),
        )
        for metric in ablation.metrics
        for contender in reproduction.experiment.contenders(ablation)
    ]


def cores(reproduction: Reproduction) -> dict[str, str]:
    """Name, for each host that ran, the version that made its runs: one version made them all."""
    first = {str(run.labels["host"]): run for run in reversed(reproduction.result.runs)}
    versions = {}
    for host, run in first.items():
        words = run.entry.core().split()
        kernel = f", Linux {words[2]}" if words[1:2] == ["linux"] else ""
        versions[host] = f"Sojourn {words[0]}{kernel}"
    return versions


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
    groups: dict[tuple[str, str], list[Signal]] = {}
    for signal in reproduction.experiment.signals():
        if not signal.ablates:
            groups.setdefault((signal.name.partition(", ")[0], signal.table), []).append(signal)
    return [
        Group(title, table, signals[0].metrics, signals[0].beside, tuple(signals))
        for (title, table), signals in groups.items()
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
    groups = (cells for _, rows in blocks for _, row in rows for cells in row)
    hosts = [HOST_NAMES[host] for host in HOSTS]
    if all(cells[0].published is None for cells in groups):
        return Grid(label, corner, [(name, hosts) for name in headings], blocks)
    printed: list[tuple[str, list[tuple[str, list[Cells]]]]] = [
        (title, [(name, [[number(c[0].published), *c] for c in row]) for name, row in rows])
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
        (
            column[0][1],
            [HOST_NAMES[host] if name == column[0][1] else name for host, name in column],
        )
        for column in columns
    ]
    metrics = (*group.metrics, *group.beside)

    def of_cell(signal: Signal, metric: str) -> list[list[Measured]]:
        return [
            [reproduction.cell(host, signal.name, name, metric) for host, name in column]
            for column in columns
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


def network(experiment: Experiment) -> Network:
    """Read the network of an experiment, in which a queue has the algorithms in turn."""
    scenario = experiment.scenario
    return of_scenario(scenario, under_test(scenario, scenario.expand()))


def abouts(experiment: Experiment) -> list[tuple[str, str]]:
    """List the algorithms that the paper has not, and describe each."""
    return [(c.name, c.about) for c in experiment.contenders() if c.about]


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
    tested = under_test(experiment.scenario, graph)
    all_queues = [(link, *entry) for link in graph.links for entry in queues(link)]
    for link, name, _, table in all_queues[:_LISTED]:
        queue = table.queue
        limits = _pairs(queue.rows) if queue else ""
        steps = queue_rates(link, name, graph.media)
        rates = [str(Rate(steps[0][1])) if steps else "any"]
        rates += [f"{Rate(rate)} from {Duration(at)}" for at, rate in steps[1:]]
        delay = str(link.delay) if link.delay else ""
        if link.jitter:
            sd = getattr(link.jitter, "sd", "")
            delay += f", {link.jitter.distribution} jitter {sd}"
        manner = "" if link.shaper == "wire" else f"{link.shaper}, burst {link.burst}"
        held = "under test" if name in tested else f"{queue.algorithm} {limits}"
        rows.append((name, f"{link.from_} → {link.to}", ", ".join(rates), delay, manner, held))
    headings = ("link", "from → to", "rate", "delay", "shaper", "queue")
    return Table.of_rows("Network", headings, rows, _more(len(all_queues)))


def _flows(experiment: Experiment) -> Table:
    flows = experiment.scenario.expand().flows
    rows = []
    for flow in flows[:_LISTED]:
        app = flow.app.model_dump(exclude_defaults=True)
        app.pop("kind", None)
        transport = flow.transport
        words: list[str] = [transport.kind]
        words += [str(value) for key in ("tcp", "cc") if (value := getattr(transport, key, None))]
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
    return ", ".join(f"{key} = {_value_text(value)}" for key, value in values.items())


def _value_text(value: Any) -> str:
    try:
        return write_value(value)
    except (TypeError, ValueError):
        return str(value)


def _more(count: int) -> str:
    more = count - _LISTED
    return f"And {more} more: the scenario’s file has all." if more > 0 else ""
