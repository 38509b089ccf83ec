# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Whether a value of a search.toml is the ledger's: with it and without it, the same scenario runs,
word by word."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sojourn import algorithms
from sojourn.core.errors import InputError, nearest
from sojourn.papers.experiment import Contender, Experiment, Signal
from sojourn.runs.run import Case
from sojourn.scenario import toml
from sojourn.sweeps.axes import check_quoted
from sojourn.sweeps.file import Mistake

if TYPE_CHECKING:
    from sojourn.papers.search.file import Value


class Ledger:
    """The experiments of a paper as their files have them."""

    def __init__(self, every: Mapping[str, Experiment]) -> None:
        self._every = every
        self._written: dict[tuple[str, str, str], str] = {}

    def has(self, value: Value, path: toml.Keys) -> bool:
        """Tell whether a value changes no run of any experiment. All its keys are tried, and a
        Mistake names the place of one that cannot be set."""
        changes = [
            self._changes(value, place, keys, (*path, place)) for place, keys in value.set.items()
        ]
        return not any(changes)

    def _changes(
        self, value: Value, place: str, keys: Mapping[str, object], path: toml.Keys
    ) -> bool:
        name, _, cell = place.partition(": ")
        if name not in self._every:
            raise Mistake(path, f"there is no experiment '{name}'.{nearest(name, self._every)}")
        check_quoted(keys, path, Mistake)
        if not keys:
            raise Mistake(path, "is empty; what does it set?")
        experiment = self._every[name]
        signals = [signal for signal in experiment.signals() if not signal.ablates]
        meant = [signal for signal in signals if cell in ("", signal.name)]
        if not meant:
            known = [signal.name for signal in signals]
            raise Mistake(path, f"'{name}' has no cell '{cell}'.{nearest(cell, known)}")
        contenders = _contenders(value, experiment, path)
        found = [
            _written(_tried(experiment, signal, contender, keys, path))
            != self._as_it_is(experiment, signal, contender)
            for signal in meant
            for contender in contenders
        ]
        return any(found)

    def _as_it_is(self, experiment: Experiment, signal: Signal, contender: Contender) -> str:
        key = experiment.name, signal.name, contender.name
        if key not in self._written:
            self._written[key] = _written(experiment.case(contender, signal))
        return self._written[key]


def paper_own(experiment: Experiment, signal: str = "") -> list[Contender]:
    """List the algorithms of which the paper prints numbers, or does so under one signal. Our
    variants are not among them. Without a signal, a paper that prints no numbers has all."""
    printed = {
        algorithm for of_signal, algorithm, _ in experiment.published if signal in ("", of_signal)
    }
    every = experiment.contenders()
    return [found for found in every if found.name in printed] or ([] if signal else every)


def _contenders(value: Value, experiment: Experiment, path: toml.Keys) -> list[Contender]:
    """List the algorithms of the paper that the value is for."""
    here = paper_own(experiment)
    names = [contender.name for contender in here]
    for name in value.only:
        if name not in names:
            raise Mistake(
                (*path[:2], "only"),
                f"'{experiment.name}' has no '{name}' of the paper's.{nearest(name, names)}",
            )
    return [contender for contender in here if not value.only or contender.name in value.only]


def _tried(
    experiment: Experiment,
    signal: Signal,
    contender: Contender,
    keys: Mapping[str, object],
    path: toml.Keys,
) -> Case:
    try:
        return experiment.case(contender, signal, keys)
    except InputError as error:
        # The command line's --set is a key of the file here.
        said = re.sub(r"--set ([^:=]+)(=[^:]*)?: ", r"\1: ", str(error))
        said = re.sub(r"--aqm (\S+) sets it too; leave one out", r"paper.toml has it of '\1'", said)
        raise Mistake(path, said) from error


def _written(case: Case) -> str:
    """Write the scenario as the engine reads it, with every row of its queues."""
    data = case.scenario.to_engine()
    for link in data["links"]:
        queue = link["queue"]
        rows = algorithms.find(queue["algorithm"]).rows.values()
        queue["rows"] = {row.name: row.default for row in rows} | queue["rows"]
    return json.dumps(data, sort_keys=True)
