# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A search that has run already, read from the store for the page of its paper. Nothing is run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sojourn.papers.experiment import Experiment
from sojourn.papers.search import file
from sojourn.papers.search.measure import SEEDS, Cells, cases_of
from sojourn.papers.search.page import data
from sojourn.papers.search.run import Halves
from sojourn.papers.search.setups import Setup, setups
from sojourn.runs.executor import Runner
from sojourn.runs.run import jobs_of, open_store


class _Missing(Exception):
    """A run of the search is not there."""


class _Stored(Halves):
    """Stops at the first set-up of which a run is missing, before any is made."""

    def _measure(
        self, tried: Sequence[Setup], experiments: Sequence[Experiment], title: str
    ) -> dict[int, Cells]:
        for setup in tried:
            cases = [case for experiment in experiments for case in cases_of(experiment, setup)]
            if not all(self._runner.store.has(job.key) for job in jobs_of(cases, SEEDS, ("sim",))):
                raise _Missing
        return super()._measure(tried, experiments, title)


def found(folder: Path) -> dict[str, Any] | None:
    """Return the data of the search for its page; None where it was not made, or not to its end."""
    if not (folder / "search.toml").is_file():
        return None
    spec = file.load(folder)
    halves = _Stored(spec, Runner(open_store(None)))
    try:
        return data(halves.judge(halves.rank(setups(spec))))
    except _Missing:
        return None
