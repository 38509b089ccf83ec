# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A paper's experiment made small, for tests of tables, figures and reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from sojourn.papers import figures
from sojourn.papers.experiment import Experiment, find
from sojourn.papers.reproduce import Reproduction, reproduce
from sojourn.result.result import Run
from sojourn.runs.run import Case, run_cases
from sojourn.scenario.changes import use_algorithm
from sojourn.show.chart import file_name


def short_experiment() -> Experiment:
    """DUK experiment 1 with two flows on slow links, the bottleneck the slowest."""
    (experiment,) = find(["duk/1"])
    # Two of each signal and one of a single algorithm show as much as all of them.
    few = ("order kept", "no jitter", "begins at 4 ticks")
    ablations = [one for one in experiment.data["ablations"] if one["name"] in few]
    experiment = replace(experiment, data={**experiment.data, "ablations": ablations})

    def change(data: dict) -> None:  # type: ignore[type-arg]
        data["flows"][0]["count"] = 2
        for link in data["links"]:
            for place in (link, *link.get("schedule", ())):
                if "rate" in place:
                    place["rate"] = "2 Mbit/s" if link["name"] == "bottleneck" else "3 Mbit/s"

    experiment.__dict__["scenario"] = experiment.scenario.replace(change)
    # So that a verdict of this kind is to be seen, too.
    found, _ = experiment.claims()
    experiment.__dict__["claims"] = lambda: (found, {("drop", "DUK", "handover_delay_mean_ms")})
    return experiment


@pytest.fixture(scope="session")
def short(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """To see the report made."""
    return reproduce(short_experiment(), quick=True, out=tmp_path_factory.mktemp("short"))


@pytest.fixture(scope="session")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reproduction]:
    """The same with a Linux that is the simulator, where the kernel's own are drop-tail queues."""

    def run_simulated(cases: Sequence[Case], *args: Any, hosts: Any, **rest: Any) -> list[Run]:
        def plain(data: dict[str, Any]) -> None:
            use_algorithm(data, "fifo")

        runnable = [
            replace(case, scenario=case.scenario.replace(plain))
            if str(case.labels["aqm"]).startswith("kernel:")
            else case
            for case in cases
        ]
        runs = run_cases(runnable, *args, **rest)
        return [replace(run, labels={**run.labels, "host": hosts[0]}) for run in runs]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sojourn.papers.reproduce.run_cases", run_simulated)
        out = tmp_path_factory.mktemp("beside")
        yield reproduce(short_experiment(), quick=True, out=out, hosts=("sim", "linux"))


def names_of_charts(made: Reproduction) -> list[str]:
    """The names that an experiment's figures should have on each of its hosts."""
    return [
        file_name(made.experiment.id, name, host)
        for name in figures.names(made.experiment)
        for host in made.hosts
    ]
