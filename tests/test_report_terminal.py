# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A reproduction on the terminal: whole at any width."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console
from sojourn.core.hosts import HOSTS
from sojourn.papers import report
from sojourn.papers.claim import VERDICTS
from sojourn.papers.reproduce import Reproduction
from sojourn.show import tables

NUMBER = re.compile(r"\d+\.\d+(?: ± \d+\.\d+)?")


def at(width: int) -> tuple[Console, io.StringIO]:
    sink = io.StringIO()
    return Console(file=sink, width=width, force_terminal=False), sink


def in_tables(text: str) -> list[str]:
    """Lines of numbers, not of claims."""
    return [line for line in text.partition("claims")[0].splitlines() if line[:1] in "│┃"]


@pytest.mark.parametrize("width", [40, 46, 60, 80, 120])
def test_names_and_numbers_of_a_reproduction_are_whole(beside: Reproduction, width: int) -> None:
    full, everything = at(tables._NO_END)
    report.print_tables(beside, full)
    console, sink = at(width)
    report.print_tables(beside, console)
    lines = in_tables(sink.getvalue())
    assert max(map(len, lines)) <= width
    found = sorted(set(NUMBER.findall("\n".join(lines))))
    assert found == sorted(set(NUMBER.findall("\n".join(in_tables(everything.getvalue())))))
    words = {word for line in lines for word in re.split(r"[│┃ ]+", line)}
    for contender in beside.experiment.contenders():
        assert set(contender.name.split()) <= words
    assert {"algorithm", "published", "simulated", "Linux"} <= words


def test_where_metrics_share_no_table_each_has_a_title(beside: Reproduction) -> None:
    console, sink = at(40)
    report.print_tables(beside, console)
    assert "drop (Table I): utilisation (%)\n" in sink.getvalue()
    console, sink = at(100)
    report.print_tables(beside, console)
    assert "drop (Table I)\n" in sink.getvalue()


def counted() -> dict[str, Any]:
    of_hosts = [dict.fromkeys(VERDICTS, 7 + n) for n in range(len(HOSTS))]
    papers = [
        {"title": title, "verdicts": dict(zip(HOSTS, of_hosts, strict=True))}
        for title in ("Stability", "DUK")
    ]
    return {"papers": papers}


@pytest.mark.parametrize("width", [40, 80])
def test_a_ledger_has_every_verdict_at_any_width(width: int) -> None:
    console, sink = at(width)
    report.print_ledger(counted(), console)
    text = sink.getvalue()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    for verdict in VERDICTS:
        assert all(f" {word} " in text for word in verdict.split())
    rows = [line for line in text.splitlines() if line.startswith("│ Stability │ Linux")]
    assert sum(line.count(" 8 ") for line in rows) == len(VERDICTS)
