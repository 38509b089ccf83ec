# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A search in its order: first the searched half runs under every set-up. The other half runs when
the best and the median are known and nothing is chosen any more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sojourn.papers.experiment import Experiment
from sojourn.papers.search.file import Search
from sojourn.papers.search.measure import Cell, Cells, Found, measure
from sojourn.papers.search.result import Ranked, Searched
from sojourn.papers.search.setups import Setup, alone, setups
from sojourn.runs.executor import Runner
from sojourn.runs.run import open_store


def search(spec: Search, *, out: Path | None = None, workers: int | None = None) -> Searched:
    """Search a paper's open points. Runs that the store has are taken from there: a search that was
    stopped goes on from that point."""
    tried = setups(spec)
    halves = Halves(spec, Runner(open_store(out), workers))
    return halves.judge(halves.rank(tried))


class Halves:
    """Runs the halves of a search, one after the other."""

    def __init__(self, spec: Search, runner: Runner) -> None:
        self._spec, self._runner = spec, runner

    def rank(self, tried: Sequence[Setup]) -> Ranked:
        """Measure every set-up on the searched half, and on nothing else."""
        return Ranked(self._spec, tuple(tried), self._measure(tried, self._spec.half, "searching"))

    def judge(self, ranked: Ranked) -> Searched:
        """Measure the text's own set-up, the best and the median on the other half. Then measure
        there the effect of each thing changed alone."""
        spec = self._spec
        three = list({setup.number: setup for setup in ranked.judged.values()}.values())
        other = self._measure(three, spec.other, "judging the search of")
        singles = [
            *(setup for setup in ranked.setups if setup.outside or len(setup.changed) == 1),
            *alone(spec, start=len(ranked.setups) + 1),
        ]
        found: dict[int, dict[Cell, Found]] = {
            setup.number: {
                cell: measured
                for cell, measured in ranked.half.get(setup.number, {}).items()
                if _touches(setup, cell.experiment)
            }
            for setup in singles
        }
        for experiment in spec.other:
            touching = [setup for setup in singles if _touches(setup, experiment.name)]
            title = f"reasons in experiment {experiment.name} of"
            for number, cells in self._measure(touching, [experiment], title).items():
                found[number] |= cells
        return Searched(ranked, other, tuple((s, found[s.number]) for s in singles))

    def _measure(
        self, tried: Sequence[Setup], experiments: Sequence[Experiment], title: str
    ) -> dict[int, Cells]:
        return measure(tried, experiments, self._runner, f"{title} {self._spec.paper}")


def _touches(setup: Setup, name: str) -> bool:
    """Tell whether a change from the text sets anything in an experiment."""
    changed = [setup.values[point] for point in setup.changed]
    if setup.outside:
        changed.append(setup.outside.value)
    return any(value.touches([name]) for value in changed)
