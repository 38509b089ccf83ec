# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The index of a ledger: one page of all papers, made from its data alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sojourn.core.hosts import HOST_NAMES, HOSTS, seeds_text
from sojourn.papers.claims import SEEDS
from sojourn.papers.judged import VERDICTS
from sojourn.show.page import render


def index(ledger: Mapping[str, Any]) -> str:
    """Render one self-contained page, which links to the pages beside it."""
    papers = [{**paper, "by_verdict": by_verdict(claims_of(paper))} for paper in ledger["papers"]]
    return render(
        "ledger.html",
        ledger=ledger,
        papers=papers,
        total=total(ledger),
        hosts=HOST_NAMES,
        verdicts=VERDICTS,
        enough=SEEDS,
        seeds=seeds_text,
    )


def claims_of(paper: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """List the claims on several experiments, then those of each experiment."""
    return [
        *paper["claims"],
        *(claim for experiment in paper["experiments"] for claim in experiment["claims"]),
    ]


def by_verdict(claims: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Group claims by the simulator's verdict, in the order of verdicts."""
    found: dict[str, list[Mapping[str, Any]]] = {verdict: [] for verdict in VERDICTS}
    for claim in claims:
        found[claim["verdicts"]["sim"]].append(claim)
    return {verdict: of for verdict, of in found.items() if of}


def total(ledger: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Sum the verdicts of all papers, by host."""
    return {
        host: {
            verdict: sum(paper["verdicts"][host][verdict] for paper in ledger["papers"])
            for verdict in VERDICTS
        }
        for host in HOSTS
    }
