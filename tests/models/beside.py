# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A model replays what the core replayed, and each event is compared.

Verdicts and their reasons are compared exactly. Where a decision rests on a number that the core
keeps in fixed point, and the number is nearer to its bound than that format can tell, the model
follows the core; such ties are counted and bounded.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from models.queue import Discipline, Judge, Outcome, Packet, Why
from tests.models.library import (
    ANSWER,
    ARRIVE,
    DROPPED,
    LIMIT,
    MARKED,
    REQUEST,
    RESET,
    ROW,
    SENT,
    Case,
    Core,
    Replay,
    core,
)

NS = 1e-9
Q32_UNIT = 2.0**-32
# aqm.h: the queue runs 64 ticks of an empty queue, 1024 of a stuck one; law/pie.h: of an empty
# one PIE works off as many more before it rests.
PIE_BOUNDS = {"rest_after": 64 + 2048, "stuck_after": 1024}
Rows = Mapping[str, int]


def common(case: Case, judge: Judge) -> dict[str, Any]:
    """Rows of the queue itself."""
    return {
        "limit_pkts": case.rows.get("limit", 1000),
        "limit_bytes": case.rows.get("limit_bytes", math.inf),
        "ecn": bool(case.rows.get("ecn", 0)),
        "judge": judge,
    }


def within(p: float, core: float) -> float:
    """The probability nearest to p that the core's statistic, cut to Q0.32, can stand for."""
    return min(max(p, core), core + Q32_UNIT) if 0 < core < 1 else core


class Follower(Judge):
    """Follows the core in a tie: signals if the core signalled more than the model has so far."""

    def __init__(self, how: Beside) -> None:
        self.how = how
        self.model: Discipline | None = None
        self.signals = 0
        self.reasons: set[Why] = set()
        self.ties = 0
        self.asked = 0

    def below(self, what: str, value: float, bound: float) -> bool:
        self.asked += 1
        assert self.model is not None
        if what not in self.how.signal_if_below:
            return value < bound
        if abs(value - bound) > self.how.slack(self.model)[what]:
            return value < bound
        self.ties += 1
        if what in self.how.reason_of_signal:
            signals = self.how.reason_of_signal[what] in self.reasons
            return signals == self.how.signal_if_below[what]
        done = self.model.so_far()
        signals = self.signals > len(done.dropped) + len(done.marked)
        return signals == self.how.signal_if_below[what]


Unit = Callable[[NDArray[np.uint64]], NDArray[np.float64]]


def plain(raw: NDArray[np.uint64]) -> NDArray[np.float64]:
    """A count, a flag, bytes."""
    return raw.astype(np.float64)


def seconds(raw: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Nanoseconds."""
    return np.asarray(raw, np.float64) * NS


def probability(raw: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Q0.32, whose largest number stands for one."""
    return np.where(raw == 0xFFFFFFFF, 1.0, raw / 2.0**32)


class Beside(ABC):
    """One algorithm's description for tests; one subclass each, in tests/algorithms. Values of rows
    are in the rows' units."""

    algorithm: str
    # The published settings.
    defaults: ClassVar[Rows] = {}
    # Others that it is compared with too.
    settings: ClassVar[tuple[Rows, ...]] = ()
    # Rows that each are in range and contradict each other; the last that are possible together.
    refused: ClassVar[tuple[Rows, ...]] = ()
    accepted: ClassVar[tuple[Rows, ...]] = ()
    # Rows by which it signals early and often at 20 Mbit/s, and others to change to: with these
    # it is recorded in a kernel.
    signalling: ClassVar[tuple[Rows, Rows]] = ({}, {})
    # Values that rows take one after the other while packets come and go.
    changes: ClassVar[tuple[Rows, ...]] = ()
    # What else it is set to meanwhile.
    changed_beside: ClassVar[Rows] = {}
    # Its rows where it is compared inside of flow queueing too; None: it is not.
    in_flows: ClassVar[Rows | None] = None
    # Files that are compared otherwise too: does a build of the core answer as the model?
    laws: ClassVar[Mapping[str, Callable[[Core], bool]]] = {}
    # For each judged comparison: does `below` mean a signal?
    signal_if_below: ClassVar[Mapping[str, bool]] = {}
    # The reason of that signal, where without it there may be a signal too, for another reason.
    reason_of_signal: ClassVar[Mapping[str, Why]] = {}
    # Statistics of the core that are compared after each event.
    columns: ClassVar[Mapping[str, Unit]] = {}
    # Ties that are no surprise, as a part of all signals.
    tie_share = 0.001
    # It asks for probes: inputs have answers to such.
    probes: ClassVar[bool] = False
    # Properties of `sojourn check` that it lacks by its design; why, its page says.
    lacks: ClassVar[frozenset[str]] = frozenset()
    # The order in which a reset takes the packets of several flows is not compared.
    resets_in_order = True

    @abstractmethod
    def model(self, case: Case, judge: Judge) -> Discipline:
        """A model with the rows of a case."""

    def change(self, model: Any, now_s: float, row: str, value: int) -> None:
        """The model has the row's new value from now on."""
        raise NotImplementedError

    def ticks(self, rows: Rows) -> tuple[int, int] | None:
        """Period and first time of ticks after each of which the statistics are read, in ns."""
        return None

    def state(self, model: Any, wakes: int) -> list[tuple[float, float]]:
        """For each column the model's number and how far the core's may be from it.

        `wakes` is how often this event woke the algorithm.
        """
        return []

    def resync(self, model: Any, core: list[float]) -> None:
        """Take over the core's numbers, so that the next step is compared by itself."""
        return

    def slack(self, model: Any) -> dict[str, float]:
        """How near to its bound each judged comparison is a tie."""
        return {}


@dataclass
class Comparison:
    """The result of a comparison; a difference has raised already."""

    events: int = 0
    signals: int = 0
    ties: int = 0
    asked: int = 0
    sent: int = 0
    tie_events: set[int] = field(default_factory=set)
    state: list[list[tuple[float, float]]] = field(default_factory=list)


def outcomes(replay: Replay) -> defaultdict[int, Outcome]:
    """The core's outcomes, by the number of the event."""
    found: defaultdict[int, Outcome] = defaultdict(Outcome)
    for event, packet, what, why, _ in replay.out.tolist():
        if what != SENT:
            found[event].why[packet] = Why(replay.reasons[why])
        if what == DROPPED:
            found[event].dropped.append(packet)
        elif what == MARKED:
            found[event].marked.append(packet)
        else:
            found[event].sent = packet
    return found


def step(model: Discipline, now_s: float, row: Any, number: int) -> Outcome:
    """One event happens to the model."""
    _, kind, flow, length, ds = row
    if kind == ARRIVE:
        return model.arrive(now_s, Packet(number, length, flow, ds != 0, ecn=ds))
    if kind == REQUEST:
        return model.request(now_s)
    if kind == ANSWER:
        return model.answer(now_s, length * NS)
    if kind == LIMIT:
        return model.lower_limit(now_s, length)
    model.outcome = Outcome()
    model.advance(now_s)
    return model.outcome


def reset(model: Discipline) -> Outcome:
    """The whole backlog is dropped; a model then starts anew."""
    gone = [packet.number for packet in model.all_waiting()]
    return Outcome(dropped=gone, why=dict.fromkeys(gone, Why.RESET))


def columns_of(how: Beside, replay: Replay) -> NDArray[np.float64]:
    """The compared statistics in the model's units, a row for each event."""
    found = [unit(replay.stats[:, replay.names.index(name)]) for name, unit in how.columns.items()]
    return np.array(found).T if found else np.zeros((len(replay.stats), 0))


def restarted(case: Case, model: Discipline, now_ns: int) -> Case:
    """After a reset everything begins again, with the limit as it stands."""
    rows = case.rows | {"limit": int(model.limit_pkts)}
    return replace(case, rows=rows, start_ns=now_ns)


def change(how: Beside, model: Discipline, case: Case, event: Any) -> Outcome:
    """A row changes."""
    now_ns, _, number, low, high = event
    names = {core().row(case.algorithm, name): name for rows in how.changes for name in rows}
    value = high << 32 | low
    model.change(now_ns * NS, lambda now_s: how.change(model, now_s, names[number], value))
    return Outcome()


def where(case: Case, index: int) -> str:
    """An event, as a sentence begins."""
    return f"{case.name}: event {index} at {case.events['now_ns'][index]} ns"


def named(how: Beside, state: list[tuple[float, float]], core: list[float]) -> str:
    """What the model's state may be, and what the core's is."""
    pairs = zip(how.columns, state, core, strict=True)
    return ", ".join(f"{name} {value} ± {by}, core {found}" for name, (value, by), found in pairs)


def compare(how: Beside, case: Case, replay: Replay) -> Comparison:
    """Replay a case in the model; raise at the first difference."""
    judge = Follower(how)
    model = judge.model = how.model(case, judge)
    result = Comparison(events=len(case.events))
    number = 0
    expected = outcomes(replay)
    columns = columns_of(how, replay).tolist()
    for index, row in enumerate(case.events.tolist()):
        now_ns, kind = row[:2]
        want = expected[index]
        judge.signals = len(want.dropped) + len(want.marked)
        judge.reasons = set(want.why.values())
        ties, wakes = judge.ties, model.wakes
        if kind == RESET:
            have = reset(model)
            if not how.resets_in_order:
                have.dropped.sort()
                want.dropped.sort()
            model = judge.model = how.model(restarted(case, model, now_ns), judge)
            wakes = 0
        elif kind == ROW:
            have = change(how, model, case, row)
        else:
            have = step(model, now_ns * NS, row, number)
        number += kind == ARRIVE
        assert have == want, f"{where(case, index)}: model {have}, core {want}"
        state, core = how.state(model, model.wakes - wakes), columns[index]
        for (value, tolerance), found in zip(state, core, strict=True):
            if not abs(value - found) <= tolerance:
                raise AssertionError(f"{where(case, index)}: {named(how, state, core)}")
        how.resync(model, core)
        result.state.append(state)
        result.signals += judge.signals if kind in (ARRIVE, REQUEST) else 0
        result.sent += want.sent is not None
        if judge.ties > ties:
            result.tie_events.add(index)
    result.ties, result.asked = judge.ties, judge.asked
    return result
