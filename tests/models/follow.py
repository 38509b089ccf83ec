# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A model is given what the kernel's own qdisc was given, and must do what that one did.

Nothing of the C core takes part. What a qdisc decides by chance the model decides alike; how often
that was to be expected is then compared with how often it happened.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from models.codel import LinuxCoDel
from models.flow_queue import FlowQueue
from models.pie import LinuxPie
from models.queue import Discipline, Judge, Packet
from tests.models.beside import NS
from tests.models.witnessed import ARRIVED, BEGAN, CLOCK_NS, Recorded

MTU = 1514
CE = 3
Row = dict[str, int]


@dataclass
class Found:
    """What a replay came to; a difference has raised already."""

    events: int = 0
    drops: int = 0
    marks: int = 0
    draws: list[tuple[float, bool]] = field(default_factory=list)

    def surprise(self) -> float:
        """By how many standard deviations the draws came out otherwise than expected."""
        expected = sum(p for p, _ in self.draws)
        variance = sum(p * (1 - p) for p, _ in self.draws)
        return (sum(hit for _, hit in self.draws) - expected) / math.sqrt(variance)


class AsRecorded(Judge):
    """Decides by chance as the kernel did. A sum at its bound is a tie."""

    slack = 1e-7

    def __init__(self) -> None:
        self.signalled = False
        self.draws: list[tuple[float, bool]] = []

    def below(self, what: str, value: float, bound: float) -> bool:
        if what == "signal":
            self.draws.append((bound, self.signalled))
            return self.signalled
        if what.startswith("sum") and abs(value - bound) < self.slack:
            return self.signalled == (what == "sum-high")
        return value < bound


class Codel:
    """Packet by packet, with the whole state that the kernel shows."""

    clock_ns = 1

    def begin(self, model: Any, row: Row) -> None:
        """Before an event."""

    def model(self, rows: list[Row], ecn: bool, judge: Judge) -> Discipline:
        """With the limit that the kernel's was given."""
        return LinuxCoDel(limit_pkts=200, ecn=ecn, mtu=MTU, judge=judge)

    def check(self, model: Any, row: Row) -> None:
        """count, lastcount, dropping."""
        have = model.count, model.last_count, int(model.dropping)
        want = row["count"], row["lastcount"], row["dropping"]
        assert have == want, f"state {have}, kernel {want}"


class FqCodel(Codel):
    """Packet by packet; the kernel shows no state of a flow."""

    def model(self, rows: list[Row], ecn: bool, judge: Judge) -> Discipline:
        def make() -> Discipline:
            return LinuxCoDel(ecn=ecn, mtu=MTU, judge=judge)

        return FlowQueue(make, flows=64, quantum=MTU, limit_pkts=1000)

    def check(self, model: Any, row: Row) -> None:
        return


class Pie:
    """The probability after each update. The kernel reads time in 64 ns; a timer of 15 ms fires
    each 16th jiffy, and one of 500 ms at the next multiple of 8 (kernel/time/timer.c)."""

    clock_ns = 64
    # What the kernel's gains lose in a step, with a delay of up to 250 ms.
    off = 2e-9

    def model(self, rows: list[Row], ecn: bool, judge: Judge) -> Discipline:
        """Jiffies begin with the clock, each a millisecond."""
        [began] = [row for row in rows if row["kind"] == BEGAN]
        first = (began["jiffies"] + 500 + 8) // 8 * 8 - began["jiffies"]
        began_ms = began["ns"] // 1_000_000
        return LinuxPie(
            limit_pkts=200,
            ecn=ecn,
            mean_packet=MTU,
            tupdate_s=0.016,
            start_s=(began_ms + first - 500) / 1000,
            judge=judge,
            uniform=lambda: 0.0,
        )

    def begin(self, model: Any, row: Row) -> None:
        """A packet that is taken in the very instant of an update goes before or behind it: the
        kernel's probability tells."""
        model.next_s = round(model.next_s, 3)
        at_once = 0 <= row["ns"] * NS - model.next_s < 2 * CLOCK_NS * NS
        if at_once and row["prob"] / 2**64 == model.p:
            model.next_s += 2 * CLOCK_NS * NS

    def check(self, model: Any, row: Row) -> None:
        """The model's next step starts from the kernel's probability."""
        kernel = row["prob"] / 2**64
        assert abs(model.p - kernel) <= self.off, f"p {model.p}, kernel {kernel}"
        model.p = kernel


KINDS: dict[str, Callable[[], Codel | Pie]] = {"codel": Codel, "fq_codel": FqCodel, "pie": Pie}


def table(recorded: Recorded) -> list[Row]:
    """Row by row."""
    names = [name for name, column in recorded.items() if column.ndim]
    rows = zip(*(recorded[name].tolist() for name in names), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def follow(name: str, recorded: Recorded) -> Found:
    """Replay a recording in its model; raise at the first difference."""
    kind = KINDS[name.removesuffix("-ecn")]()
    rows = table(recorded)
    judge = AsRecorded()
    model = kind.model(rows, name.endswith("-ecn"), judge)
    found = Found(draws=judge.draws)
    ecn: dict[int, int] = {}
    for index, row in enumerate(rows):
        if row["kind"] == BEGAN:
            continue
        now_s = row["ns"] // kind.clock_ns * kind.clock_ns * NS
        number, before = row["packet"], ecn.get(row["packet"], row["ecn_before"])
        marked = [number] if row["ecn_after"] == CE != before else []
        where = f"{name}: record {index} at {row['ns']} ns"
        kind.begin(model, row)
        if row["kind"] == ARRIVED:
            judge.signalled = not row["let_in"] or bool(marked)
            have = model.arrive(now_s, Packet(number, row["len"], row["flow"], before != 0))
            assert (number not in have.dropped) == row["let_in"], f"{where}: {have}"
        else:
            have = model.request(now_s)
            assert (have.sent or 0) == number, f"{where}: {have}, kernel sent {number}"
        # one that came with CE looks like one that was marked
        seen = [packet for packet in have.marked if ecn.get(packet, before) != CE]
        assert seen == marked, f"{where}: {have}, kernel marked {marked}"
        ecn[number] = row["ecn_after"]
        found.events += 1
        found.drops += len(have.dropped)
        found.marks += len(marked)
        assert found.drops == row["drops"], f"{where}: {found}, kernel's drops {row['drops']}"
        held = len(model.all_waiting())
        assert held == row["held"], f"{where}: {held} wait, kernel {row['held']}"
        try:
            kind.check(model, row)
        except AssertionError as error:
            raise AssertionError(f"{where}: {error}") from None
    return found
