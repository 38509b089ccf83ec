# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Flow queueing around an algorithm, beside its model: inputs, rows and how they are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from models.flow_queue import FlowQueue
from models.queue import Discipline, Judge
from tests.algorithms import ALGORITHMS
from tests.models.beside import Beside
from tests.models.inputs import MIXED, Phase, Stream, gusts, overload, stopped
from tests.models.library import Case, Events


class BesideFlows(Beside):
    """The scheduler around one algorithm."""

    resets_in_order = False

    def __init__(self, inside: Beside) -> None:
        self.inside = inside
        self.algorithm = inside.algorithm
        self.tie_share = inside.tie_share

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = dict(case.rows)
        flows, quantum = rows.pop("flows"), rows.pop("quantum", 0) or case.mtu
        limits: dict[str, Any] = {
            "drop_batch": rows.pop("drop_batch", 64),
            "limit_pkts": rows.pop("limit", 1000),
            "limit_bytes": rows.pop("limit_bytes", float("inf")),
        }

        numbers = count(case.seed)

        def make() -> Discipline:
            own = self.inside.model(replace(case, rows=rows, seed=next(numbers)), judge)
            own.limit_pkts = own.limit_bytes = float("inf")
            return own

        return FlowQueue(make, flows=flows, quantum=quantum, **limits)

    @property
    def signal_if_below(self) -> Mapping[str, bool]:  # type: ignore[override]
        return self.inside.signal_if_below

    def slack(self, model: Any) -> dict[str, float]:
        return self.inside.slack(model.flows[0].queue)


def many_sizes(seed: int) -> Events:
    """Packets far larger and far smaller than a quantum, and flows that come and go."""
    s = Stream(seed)
    for flows in (2, 40, 7, 300):
        s.add(Phase(0.6, 1.4, sizes=(40, 1514, 9000, 60_000), flows=flows, ect=0.3))
        s.add(Phase(0.2, 0.3, sizes=MIXED, flows=flows))
        s.add(Phase(0.1, 0.0))
    return s.events()


INPUTS: dict[str, Callable[[int], Events]] = {
    "overload": overload,
    "gusts": gusts,
    "stopped": stopped,
    "many-sizes": many_sizes,
}
ROWS: tuple[dict[str, int], ...] = (
    {"flows": 1024},
    {"flows": 2, "limit": 60, "drop_batch": 5},
    {"flows": 16, "quantum": 300, "limit": 200},
    {"flows": 64, "quantum": 9000, "limit_bytes": 100_000, "drop_batch": 1},
)


def cases(algorithm: str) -> Iterator[Case]:
    """Every input and every row, for an algorithm that is compared in flows."""
    own = ALGORITHMS[algorithm].in_flows
    for kind, make in INPUTS.items() if own is not None else ():
        for number, rows in enumerate(ROWS):
            more = {"ecn": 1} if number % 2 else {}
            name = f"{algorithm}-{kind}-{rows['flows']}"
            yield Case(name, algorithm, {**rows, **more, **(own or {})}, make(number + 1))


def few_cases() -> Iterator[tuple[Beside, Case]]:
    """Those that a mutant of the queue is tried on: each input and each row."""
    for algorithm in ALGORITHMS:
        for number, case in enumerate(cases(algorithm)):
            kind, row = divmod(number, len(ROWS))
            if kind == row:
                yield BesideFlows(ALGORITHMS[algorithm]), case
