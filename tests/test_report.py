# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The HTML report: one file that reads well in the dark, on a telephone and aloud."""

from __future__ import annotations

import io
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from sojourn.papers import report
from sojourn.papers.page import abouts, html
from sojourn.papers.reproduce import Reproduction
from sojourn.papers.time_figure import curves, lines
from sojourn.show import theme

from tests.pages import Page, parse


@pytest.fixture(scope="module")
def text(beside: Reproduction) -> str:
    """Two experiments on both hosts: every kind of figure and table, and more than one of each."""
    return html([beside, beside])


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return parse(text)


def test_the_report_is_one_file_with_a_figure_for_each_signal(
    short: Reproduction, tmp_path: Path
) -> None:
    path = report.write_all([short], [], {"experiments": [short.to_json()]}, tmp_path)
    page = path.read_text()
    assert "nan" not in re.split(r"[^a-z]", page)
    # And one of the network.
    assert page.count("<figure>") == len(short.experiment.signals()) + 1
    assert "http" not in page.replace("http://www.w3.org", ""), "nothing is loaded from elsewhere"
    assert all(decision.claim.id in page for decision in short.decisions)
    calibrated = [d for d in short.decisions if d.verdict == "calibrated"]
    assert page.count("otherwise: ") == len(calibrated) > 0


def test_what_was_not_measured_is_null_in_the_reports_json(tmp_path: Path) -> None:
    report.write_all([], [], {"estimate": math.nan, "ci95": [-math.inf, 1.0]}, tmp_path)
    data = json.loads((tmp_path / "reproduction.json").read_text(), parse_constant=pytest.fail)
    assert data == {"estimate": None, "ci95": [None, 1.0]}


def test_with_linux_the_report_has_the_kernels_own_beside_ours(beside: Reproduction) -> None:
    page = html([beside])
    signals = beside.experiment.signals()
    judged = sum(not signal.ablates for signal in signals)
    # The network, and each signal on the simulator; those that are judged also on Linux and beside
    # the kernel's own.
    assert page.count("<figure>") == 1 + len(signals) + 2 * judged
    assert page.count("kernel:pie</th>") == judged
    assert beside.cell("linux", "ecn", "kernel:codel", "mark_pct").published is None


def test_the_page_names_its_language_and_its_experiments(page: Page, short: Reproduction) -> None:
    assert page.named("html")[0].attributes["lang"] == "en"
    (title,) = page.named("title")
    assert "DUK" in title.text
    assert [e.text for e in page.named("h2")].count(short.experiment.title) == 2


def test_every_figure_says_its_numbers_in_words(page: Page, beside: Reproduction) -> None:
    said = [e.attributes["aria-label"] for e in page.named("svg", "img")]
    assert said and all(e.attributes["role"] == "img" for e in page.named("svg"))
    begin_s, end_s = 35, 60
    for host in beside.hosts:
        for curve in curves(beside, "drop", host):
            inside = curve.y[(curve.x >= begin_s) & (curve.x < end_s)]
            clause = f"{curve.name} {inside.mean():.1f}, {np.nanmax(curve.y):.1f} at "
            assert any(clause in words for words in said), clause
    for of_algorithm in lines(beside, "ecn"):
        for line in of_algorithm:
            median = np.median(line.within)
            clause = f"{line.algorithm} ({line.look.label}) {median:.1f} and "
            assert any(clause in words for words in said), clause
    said = [words for words in said if not words.startswith("Network of ")]
    assert said and all("of DUK" in words or "kernel:codel" in words for words in said)


def test_what_an_algorithm_is_that_the_paper_has_not_stands_outside_of_every_fold(
    short: Reproduction,
) -> None:
    page = html([short])
    open_text = re.sub(r"<details.*?</details>", "", page, flags=re.S)
    known = dict(abouts(short.experiment))
    assert list(known) == ["DUK, search", "DUK, tick"]
    for name, about in known.items():
        assert f"<strong>{name}</strong>: {about}. " in open_text
    sink = io.StringIO()
    report.print_tables(short, Console(file=sink, width=500))
    assert all(f"{name}: {about}\n" in sink.getvalue() for name, about in known.items())


def test_every_table_scrolls_in_its_own_box_or_stacks(text: str) -> None:
    tables = re.findall(r"^(.*?)<table(.*?)>", text, re.MULTILINE)
    assert tables
    for before, attributes in tables:
        scrolls = before.startswith('<div class="scroll" tabindex="0" role="region" aria-label="')
        assert scrolls or 'class="claims' in attributes


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    """From 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_curves_stand_out_from_their_ground(scheme: str) -> None:
    for ground in (theme.GROUND, theme.SHADE):
        under = getattr(ground, scheme)
        for colour in theme.TEXTS:
            assert contrast(getattr(colour, scheme), under) >= 4.5, (colour, ground)
        for colour in theme.CURVES:
            assert contrast(getattr(colour, scheme), under) >= 3, (colour, ground)
