# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""ns2_trials.py: our models with one thing as in ns-2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from models.avq import Avq
from models.queue import Act, Discipline, Judge, Packet
from models.red import Red
from models.rem import Rem
from tests.algorithms.avq import NS2_BEGINS
from tests.algorithms.red import Ns2Red, waited
from tests.models.follow import CHILDREN, KINDS
from tests.models.witnessed import Row

CAPACITY = 10e6 / 8
# As in tests/models/ns2_red.tcl.
RED = {"min_th": 5, "max_th": 15, "max_p": 0.1, "weight": 2**-9, "limit_pkts": 60}


class Sparing(Red):
    """No signal where no more than one packet waits."""

    def decide(self, packet: Packet, average: float) -> Act:
        if len(self.waiting) <= 1 and average >= self.red.min_th:
            self.red.count += 1
            return Act.PASS
        return super().decide(packet, average)


class Waiting(Sparing):
    """And distances of 1 to 2 over p_b between signals."""

    def between(self, packet: Packet, p: float) -> Act:
        self.red.count += 1
        p_a = waited(p, self.red.count * p)
        if p_a < 1 and not (p_a and self.judge.below("signal", self.uniform(), p_a)):
            return Act.PASS
        self.red.count = 0
        return self.signal(packet)


class Begun(Avq):
    """The virtual capacity is ns-2's first one when the first packet comes."""

    begun = False

    def arrived(self, now_s: float, packet: Packet) -> bool:
        if not self.begun:
            self.begun, self.virtual_rate = True, NS2_BEGINS * CAPACITY
            self.last_s = self.adapted_s = now_s
        return super().arrived(now_s, packet)


def red(kind: type[Red], judge: Judge) -> Discipline:
    """With the settings of the recording."""
    settings: dict[str, Any] = dict(RED)
    return kind(packet_time_s=1000 / Ns2Red.RATE_BYTES_S, judge=judge, **settings)


def avq(judge: Judge, *, ecn: bool) -> Discipline:
    """Begun as ns-2's."""
    size: dict[str, Any] = {"capacity": CAPACITY, "buffer": 0.8 * 30_000, "limit_bytes": 30_000}
    return Begun(ecn=ecn, judge=judge, **size)


def rem(judge: Judge) -> Discipline:
    """A limit of one packet less."""
    return Rem(capacity=CAPACITY, gamma=0.5, interval_s=0.004, judge=judge, limit_pkts=60 - 1)


ONE_THING: dict[str, Callable[[Judge], Discipline]] = {
    "spares": lambda judge: red(Sparing, judge),
    "waits": lambda judge: red(Waiting, judge),
    "begins": lambda judge: avq(judge, ecn=False),
    "begins-ecn": lambda judge: avq(judge, ecn=True),
    "limit": rem,
}


def make(trial: str, name: str, rows: Sequence[Row], judge: Any) -> Discipline:
    """The model of a trial; of `mapped` the one that follows this recording."""
    if trial in ONE_THING:
        return ONE_THING[trial](judge)
    kind, child = CHILDREN[name]
    return KINDS[kind].model(list(rows), child, judge)
