# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""docs/evidence/beside.md: our algorithms beside other people's."""

from __future__ import annotations

from typing import Any

import pytest
from sojourn import algorithms
from sojourn.scenario.variant import read

from tests.models.follow import table
from tests.models.witnessed import load
from validation.beside import figures, linux, ns2, page


def test_the_page_is_what_the_kept_figures_give() -> None:
    assert page.PAGE.read_text() == page.text(figures.load()), "run `python -m validation.beside`"


def test_every_queue_of_the_kernel_that_has_one_of_ours_is_on_the_page() -> None:
    stock = {name for name in algorithms.every() if name.startswith("kernel:")} - {"kernel:pfifo"}
    assert {read(pair.kernel).algorithm for pair in linux.pairs()} == stock


@pytest.mark.parametrize(
    ("theirs", "ours", "told"),
    [
        ([10.0, 11.0, 12.0], [10.5, 11.5, 12.4], True),
        ([10.0, 11.0, 12.0], [10.1, 11.1, 12.1], False),  # less than 2 %
        ([10.0, 11.0, 12.0], [9.0, 12.5, 12.5], False),  # less than the seeds vary
        ([0.01, 0.02, 0.01], [0.05, 0.06, 0.05], False),  # less than 0.1
    ],
)
def test_a_difference_is_told_beyond_errors_and_share(
    theirs: list[float], ours: list[float], told: bool
) -> None:
    assert figures.differ(theirs, ours) == told


def queue(name: str) -> dict[str, Any]:
    """An entry of ns2.toml."""
    return next(entry for entry in ns2.QUEUES if entry["name"] == name)


@pytest.mark.parametrize("name", ["red-nowait", "pi-ecn", "avq"])
def test_ours_on_the_arrivals_of_ns_2_gives_the_kept_figures(name: str) -> None:
    kept = figures.load()["ns-2"][name]["ours"]
    found = ns2.by_core(queue(name)["ours"], table(load(name)), 1)
    assert list(found) == [kept[metric][0] for metric in ns2.METRICS]


def test_the_link_is_that_of_ns_2() -> None:
    """Vq draws nothing: with its ways our model at this link drops as many, and holds as many."""
    rows = table(load("avq"))
    assert ns2.by_trial("mapped", "avq", rows, 1) == pytest.approx(ns2.theirs(rows), rel=1e-4)
