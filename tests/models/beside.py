# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A model replays what the core replayed, and each event is compared.

Verdicts are compared exactly. Where a decision rests on a number that the core keeps in fixed
point, and the number is nearer to its bound than that format can tell, the model follows the
core; such ties are counted and bounded.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from models.queue import Discipline, Judge, Outcome, Packet
from tests.models.library import (
    ARRIVE,
    DROPPED,
    LIMIT,
    MARKED,
    REQUEST,
    RESET,
    SENT,
    Case,
    Replay,
)

NS = 1e-9


class Follower(Judge):
    """Follows the core in a tie: signals if the core signalled more than the model has so far."""

    def __init__(self) -> None:
        self.slack: dict[str, float] = {}
        self.signal_if_below: Mapping[str, bool] = {}
        self.model: Discipline | None = None
        self.signals = 0
        self.ties = 0
        self.asked = 0

    def below(self, what: str, value: float, bound: float) -> bool:
        self.asked += 1
        if abs(value - bound) > self.slack.get(what, 0.0):
            return value < bound
        if what not in self.signal_if_below:
            return value < bound
        self.ties += 1
        assert self.model is not None
        done = self.model.outcome
        signals = self.signals > len(done.dropped) + len(done.marked)
        return signals == self.signal_if_below[what]


class Beside(ABC):
    """How one algorithm's model is set beside its C; one subclass each."""

    algorithm: str
    # For each judged comparison: does `below` mean a signal?
    signal_if_below: Mapping[str, bool] = {}

    @abstractmethod
    def model(self, case: Case, judge: Judge) -> Discipline:
        """A model with the rows of a case."""

    @abstractmethod
    def agree(self, model: Any, stats: Mapping[str, int]) -> None:
        """Assert that the states agree, within the stated tolerance."""

    # Ties that are no surprise, as a part of all signals.
    tie_share = 0.001

    def slack(self, model: Any) -> dict[str, float]:
        """How near to its bound each judged comparison is a tie."""
        return {}


@dataclass
class Comparison:
    """What a comparison found; a difference has raised already."""

    events: int = 0
    signals: int = 0
    ties: int = 0
    asked: int = 0
    sent: int = 0


def outcomes(replay: Replay, events: int) -> list[Outcome]:
    """The core's outcomes, event by event."""
    found = [Outcome() for _ in range(events)]
    for event, packet, what, _, _ in replay.out.tolist():
        if what == DROPPED:
            found[event].dropped.append(packet)
        elif what == MARKED:
            found[event].marked.append(packet)
        elif what == SENT:
            found[event].sent = packet
    return found


def step(model: Discipline, now_s: float, row: Any, number: int) -> Outcome:
    """One event happens to the model."""
    _, kind, flow, length, ds = row
    if kind == ARRIVE:
        return model.arrive(now_s, Packet(number, length, flow, ds != 0))
    if kind == REQUEST:
        return model.request(now_s)
    if kind == LIMIT:
        return model.lower_limit(now_s, length)
    model.outcome = Outcome()
    model.advance(now_s)
    return model.outcome


def reset(model: Discipline) -> Outcome:
    """Everything that waits is dropped; a model then starts anew."""
    return Outcome(dropped=[packet.number for packet in model.waiting])


def compare(how: Beside, case: Case, replay: Replay) -> Comparison:
    """Replay a case in the model; raise at the first difference."""
    judge = Follower()
    judge.signal_if_below = how.signal_if_below
    model = judge.model = how.model(case, judge)
    result = Comparison()
    number = 0
    expected = outcomes(replay, len(case.events))
    for index, row in enumerate(case.events.tolist()):
        now_ns, kind, *_ = row
        want = expected[index]
        judge.signals = len(want.dropped) + len(want.marked)
        judge.slack = how.slack(model)
        if kind == RESET:
            have = reset(model)
            ties = judge.ties
            fresh = Case(
                case.name,
                case.algorithm,
                case.rows | {"limit": int(model.limit_pkts)},
                case.events,
                case.seed,
                case.mtu,
                now_ns,
            )
            model = judge.model = how.model(fresh, judge)
            judge.ties = ties
        else:
            have = step(model, now_ns * NS, row, number)
        number += kind == ARRIVE
        assert have == want, f"{case.name}: event {index} at {now_ns} ns: model {have}, core {want}"
        stats = dict(zip(replay.names, replay.stats[index].tolist(), strict=True))
        try:
            how.agree(model, stats)
        except AssertionError as difference:
            raise AssertionError(
                f"{case.name}: event {index} at {now_ns} ns: {difference}"
            ) from None
        result.signals += judge.signals if kind in (ARRIVE, REQUEST) else 0
        result.sent += want.sent is not None
    result.events, result.ties, result.asked = len(case.events), judge.ties, judge.asked
    return result


def close(name: str, model: float, core: float, tolerance: float) -> None:
    """Assert that two numbers agree."""
    assert abs(model - core) <= tolerance, f"{name}: model {model}, core {core}"


Q32 = 2.0**32


def probability(raw: int) -> float:
    """Q0.32, where the largest number stands for one."""
    return 1.0 if raw == 0xFFFFFFFF else raw / Q32
