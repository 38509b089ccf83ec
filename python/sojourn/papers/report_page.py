# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The page of a paper: verdicts first, then experiment by experiment what was done, tables, figures
and reasons. Everything of a section is worked out here; the template only lays it out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.core.hosts import HOSTS
from sojourn.papers.described import abouts, describe, window
from sojourn.papers.experiment import Signal
from sojourn.papers.figures import figures
from sojourn.papers.judged import VERDICTS, Judged, count
from sojourn.papers.paper import OfPaper, title_of
from sojourn.papers.reasons import Change, Off, counts, off, printed
from sojourn.papers.report_tables import grids, groups_of, peers
from sojourn.papers.reproduce import Reproduction
from sojourn.papers.search.inside import RULE
from sojourn.show.chart import Chart
from sojourn.show.page import drawn, render

NAMES = {"sim": "simulated", "linux": "Linux"}


@dataclass(frozen=True)
class Line:
    """A claim with what each host says of it."""

    by_host: Mapping[str, Judged]

    @property
    def claim(self) -> Any:
        """The same on each host."""
        return next(iter(self.by_host.values())).claim


def html(
    reproductions: Sequence[Reproduction],
    of_papers: Sequence[OfPaper] = (),
    charts: Sequence[Sequence[Chart]] | None = None,
    *,
    searches: Mapping[str, Any] | None = None,
) -> str:
    """Write one self-contained page. `charts` has those of each reproduction, where they are made
    already; `searches` has what a search found, by paper."""
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
        hosts=NAMES,
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
    """Each claim once; a host that was not asked ran none of it."""
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
    """Verdicts by host."""
    every = list(found)
    return {host: count(line.by_host[host] for line in every) for host in HOSTS}


def _total(*parts: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    return tally(line for part in parts for section in part for line in section["lines"])


def _section(reproduction: Reproduction, charts: Sequence[Chart], number: int) -> dict[str, Any]:
    experiment = reproduction.experiment
    found = lines({host: reproduction.claims_of(host) for host in HOSTS})
    by_signal: dict[str, list[dict[str, Any]]] = {}
    for chart in charts:
        by_signal.setdefault(chart.cell, []).append(drawn(chart, f"f{number}-"))
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
        "id": f"e{number}",
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
                "host": signal.host and NAMES[signal.host],
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
    """What one change does to each figure in print, and to those without print that it changes."""
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
        "host": NAMES[one.base.host],
        "reasons": [(change, _share(change)) for change in one.reasons[:3]],
        "nearest": (one.nearest, _share(one.nearest)) if one.nearest else None,
        "tried": len(one.changes),
    }


def _share(change: Change) -> str:
    return "inside" if change.inside else f"{100 * change.closed:.0f} % of the way"


def cores(reproduction: Reproduction) -> dict[str, str]:
    """Of each host that ran, what made its runs: all of a host were made by the same."""
    first = {str(run.labels["host"]): run for run in reversed(reproduction.result.runs)}
    return {host: _made_by(run.entry.core().split()) for host, run in first.items()}


def _made_by(words: Sequence[str]) -> str:
    """Version of the core, and of Linux the kernel's release."""
    kernel = f", Linux {words[2]}" if words[1:2] == ["linux"] else ""
    return f"Sojourn {words[0]}{kernel}"
