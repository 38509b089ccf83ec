# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Whoever moves in brings all that an algorithm has: the library's own list decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from sojourn.algorithms import Algorithm, algorithms
from sojourn.linux.stock import is_stock

from tests.linux import cases as linux_cases
from tests.linux.parity import FORMS
from tests.linux.parity_traffic import ROWS
from tests.models.algorithms import ALGORITHMS
from tests.models.cases import SETTINGS
from tests.models.record import DATA, RECORDED

ROOT = Path(__file__).resolve().parent.parent
OURS = [algorithm for algorithm in algorithms().values() if not is_stock(algorithm.name)]


# What there must be, and whether there is.
HAS: dict[str, Callable[[Algorithm], bool]] = {
    "a page": lambda a: (ROOT / f"docs/algorithms/{a.name}.md").is_file(),
    "a model": lambda a: (ROOT / f"models/{a.name}.py").is_file(),
    "its model beside its C": lambda a: a.name in ALGORITHMS,
    "settings to be compared with": lambda a: a.name in SETTINGS or not a.params,
    "arrivals of a closed loop": lambda a: not a.acts or (DATA / f"{a.name}.npz").is_file(),
    "a recording of such arrivals": lambda a: not a.acts or a.name in RECORDED,
    "rows to be recorded with": lambda a: a.name in ROWS or not a.params,
    "a form for parity": lambda a: a.name in {name for name, _ in FORMS},
    "the cases in a kernel": lambda a: a.name in linux_cases.ALGORITHMS,
}


@pytest.mark.parametrize("algorithm", OURS, ids=lambda algorithm: algorithm.name)
@pytest.mark.parametrize("what", HAS)
def test_every_algorithm_has(what: str, algorithm: Algorithm) -> None:
    assert HAS[what](algorithm), f"{algorithm.name} has not {what}"


LISTS: dict[str, Iterable[str]] = {
    "beside their models": ALGORITHMS,
    "with settings": SETTINGS,
    "with rows to be recorded with": ROWS,
    "with arrivals of a closed loop": [path.stem for path in DATA.glob("*.npz")],
    "whose arrivals are recorded": RECORDED,
    "with the cases in a kernel": linux_cases.ALGORITHMS,
}


@pytest.mark.parametrize("which", LISTS)
def test_no_list_has_what_is_no_algorithm(which: str) -> None:
    assert set(LISTS[which]) <= {algorithm.name for algorithm in OURS}


def test_those_without_flows_in_a_kernel_are_those_that_sample() -> None:
    assert set(linux_cases.ALONE) == {algorithm.name for algorithm in OURS if algorithm.samples}


def test_no_page_is_of_an_algorithm_that_is_gone() -> None:
    pages = {page.stem for page in (ROOT / "docs/algorithms").glob("*.md")}
    assert pages == {algorithm.name for algorithm in OURS}
