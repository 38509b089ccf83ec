# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Whoever moves in brings all that an algorithm has: the library's own list decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from sojourn.algorithms import Algorithm, algorithms

from tests.algorithms import ALGORITHMS
from tests.linux import cases as linux_cases
from tests.linux.parity import FORMS
from tests.models.record import DATA

ROOT = Path(__file__).resolve().parent.parent
OURS = list(algorithms().values())


# What there must be, and whether there is.
HAS: dict[str, Callable[[Algorithm], bool]] = {
    "a page": lambda a: (ROOT / f"docs/reference/algorithms/{a.name}.md").is_file(),
    "a model": lambda a: (ROOT / f"models/{a.name}.py").is_file(),
    "a module of tests": lambda a: a.name in ALGORITHMS,
    "settings to be compared with": lambda a: bool(ALGORITHMS[a.name].settings) or not a.params,
    "rows to be recorded with": lambda a: all(ALGORITHMS[a.name].signalling) or not a.params,
    "arrivals of a closed loop": lambda a: not a.acts or (DATA / f"{a.name}.npz").is_file(),
    "a form for parity": lambda a: a.name in {name for name, _ in FORMS},
    "the cases in a kernel": lambda a: a.name in linux_cases.ALGORITHMS,
}


@pytest.mark.parametrize("algorithm", OURS, ids=lambda algorithm: algorithm.name)
@pytest.mark.parametrize("what", HAS)
def test_every_algorithm_has(what: str, algorithm: Algorithm) -> None:
    assert HAS[what](algorithm), f"{algorithm.name} has not {what}"


LISTS: dict[str, Iterable[str]] = {
    "modules of tests": ALGORITHMS,
    "models that the modules name": (how.algorithm for how in ALGORITHMS.values()),
    "arrivals of a closed loop": (path.stem for path in DATA.glob("*.npz")),
    "pages": (page.stem for page in (ROOT / "docs/reference/algorithms").glob("*.md")),
}


@pytest.mark.parametrize("which", LISTS)
def test_nothing_is_left_of_an_algorithm_that_is_gone(which: str) -> None:
    assert set(LISTS[which]) <= {algorithm.name for algorithm in OURS}


def test_each_module_is_of_the_algorithm_that_it_is_named_after() -> None:
    assert all(how.algorithm == name for name, how in ALGORITHMS.items())
