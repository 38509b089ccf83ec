# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""experiment.py: the comparison as sweeps of the package, run on its two hosts.

    sojourn sweep validation/dumbbells/together.toml

The sweeps of validation/dumbbells name the cells, what each seed sets, and the queues: of each
kind the kernel's own, which runs on Linux, and Sojourn's in Linux's form and in its own, which run
in the simulator here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

from sojourn._native import fairness
from sojourn.core.algorithm import STOCK_PREFIX
from sojourn.runs.executor import Runner
from sojourn.runs.job import Job
from sojourn.scenario.engine import to_engine
from sojourn.scenario.variant import Variant
from sojourn.store.store import Entry, Store
from sojourn.sweeps import file
from sojourn.sweeps.file import Sweep
from sojourn.sweeps.run import jobs, scenario_of

from validation.cell import FORTH, QUEUES, Cell, cell_of

FOLDER = Path(__file__).resolve().parent / "dumbbells"
SWEEPS = ("grid", "together", "mixed", "mixed_back", "rcvbuf", "rcvbuf_back")
# Linux itself; the simulator with Linux's form of a queue; and with Sojourn's.
SIDES = {"linux": "linux", "engine": "sim", "ours": "sim"}
LINUX_HAS_ITS_FORM = ("codel", "pie")


@dataclass(frozen=True)
class Planned:
    """A cell, and where it stands in its sweep."""

    cell: Cell
    sweep: Sweep
    number: int

    @property
    def seeds(self) -> int:
        """How many there are."""
        return len(self.sweep.by_seed)

    @property
    def sides(self) -> tuple[str, ...]:
        """Of SIDES: pfifo has one form."""
        both = self.cell.queue in LINUX_HAS_ITS_FORM
        return tuple(SIDES) if both else ("linux", "engine")

    @cached_property
    def edges_s(self) -> tuple[int, ...]:
        """Seconds of traffic at the windows' edges."""
        windows = scenario_of(self.sweep, self.number, None).expand().record.windows
        zero_ns = int(windows[0].from_)
        return 0, *(round((int(window.to) - zero_ns) / 1e9) for window in windows)


def variant_of(sweep: Sweep, queue: str, side: str) -> Variant:
    """The queue of this kind on this side."""
    found = [v for v in sweep.variants if (_queue(v), _side(v)) == (queue, side)]
    return found[0]


def _queue(variant: Variant) -> str:
    name = variant.algorithm.removeprefix(STOCK_PREFIX)
    return "pfifo" if name == "fifo" else name


def _side(variant: Variant) -> str:
    if variant.algorithm.startswith(STOCK_PREFIX):
        return "linux"
    return "ours" if _queue(variant) in LINUX_HAS_ITS_FORM and not variant.rows else "engine"


def planned() -> list[Planned]:
    """All cells, the grid first."""
    found = []
    for name in SWEEPS:
        sweep = file.load(FOLDER / f"{name}.toml")
        for number in range(1, len(sweep.cells) + 1):
            scenario = to_engine(scenario_of(sweep, number, None).expand())
            found += [Planned(cell_of(scenario, queue), sweep, number) for queue in QUEUES]
    return sorted(found, key=lambda one: one.cell.order)


# A run: cell, side, seed.
Key = tuple[str, str, int]


def jobs_of(wanted: Mapping[Key, Planned]) -> Iterator[tuple[Key, Job]]:
    """The job of each run. Sweeps check many at once."""

    def alike(item: tuple[Key, Planned]) -> tuple[str, str, str]:
        (_, side, _), one = item
        return one.sweep.source, one.cell.queue, side

    for (_, queue, side), items in groupby(sorted(wanted.items(), key=alike), alike):
        of = list(items)
        sweep = of[0][1].sweep
        alone = replace(sweep, hosts=(SIDES[side],), variants=(variant_of(sweep, queue, side),))
        keys = {(one.number, key[2]): key for key, one in of}
        for seed in sorted({seed for _, seed in keys}):
            numbers = sorted(number for number, of_seed in keys if of_seed == seed)
            for job in jobs(alone, {n: range(seed, seed + 1) for n in numbers}):
                yield keys[int(job.labels["cell"]), seed], job


def run(wanted: Mapping[Key, Planned], store: Store, workers: int | None = None) -> dict[Key, Any]:
    """What came of each run by window, what it cost, and what made it."""
    found = dict(jobs_of(wanted))
    answers = Runner(store, workers).readings(
        list(found.values()), "running the comparison", lambda _, entry: measured(entry)
    )
    return {
        key: {"core": job.core, **answer}
        for (key, job), answer in zip(found.items(), answers, strict=True)
    }


_OF_QUEUE = ("arrived_pkts", "departed_pkts", "dropped_pkts", "queue_delay_ms", "utilisation_pct")
_OF_FLOWS = ("retransmitted_pkts", "timeouts")


def measured(entry: Entry) -> dict[str, Any]:
    """Of the bottleneck, and of the flows forth, which may be of several groups."""
    report = entry.report
    of_windows: Sequence[Mapping[str, Any]] = report["queues"][0]["windows"]
    forth = [flow for flow in report["flows"] if flow["name"].startswith(FORTH)]
    windows = {}
    for i, (queue, transport) in enumerate(zip(of_windows, report["transport"], strict=True)):
        groups = [group for group in transport["groups"] if group["name"].startswith(FORTH)]
        jain, least_share = fairness([flow["goodput_mbps_of_windows"][i] for flow in forth])
        windows[queue["name"]] = {
            **{key: queue[key] for key in _OF_QUEUE},
            **{key: sum(group[key] for group in groups) for key in _OF_FLOWS},
            "jain": jain,
            "least_share": least_share,
        }
    return {"cpu_s": round(report["cpu_s"], 1), "windows": windows}


def each(cells: Iterable[Planned], side: str) -> dict[Key, Planned]:
    """All runs of these cells on one side, but of those that have none there."""
    return {
        (one.cell.name, side, seed): one
        for one in cells
        if side in one.sides
        for seed in range(1, one.seeds + 1)
    }
