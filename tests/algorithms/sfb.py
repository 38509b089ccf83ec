# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""sfb: model and C side by side."""

from __future__ import annotations

import struct
from typing import Any, ClassVar

import pytest

from models.queue import NEVER, Act, Discipline, Judge, Packet
from models.sfb import Penalty, Sfb
from tests.models.beside import NS, Q32_UNIT, Beside, common, plain, probability
from tests.models.generator import Draws, spread
from tests.models.inputs import MS, SECOND
from tests.models.library import Case
from tests.models.witnessed import (
    ARRIVED,
    ASKED,
    BEGAN,
    HASHES,
    SFB_WORDS,
    XSTATS,
    AsRecorded,
    Child,
    Row,
    Witnessed,
    Words,
)


class BesideSfb(Beside):
    """Bins move by the same Q0.32 steps on both sides, so p is exact but for the float's sum."""

    algorithm = "sfb"
    defaults: ClassVar = {
        "increment": 66 * 2**16,
        "decrement": 11 * 2**16,
        "bin_target": 20,
        "bin_max": 25,
        "penalty_rate": 10,
        "penalty_burst": 20,
        "rehash": 600 * 10**9,
        "warmup": 60 * 10**9,
    }
    settings: ClassVar = (
        {
            "bin_target": 3,
            "bin_max": 60,
            "increment": 2**26,
            "decrement": 2**22,
            "rehash": SECOND,
            "warmup": SECOND // 2,
            "penalty_rate": 2,
            "penalty_burst": 7,
        },
        {
            "bin_target": 2,
            "bin_max": 200,
            "increment": 2**30,
            "decrement": 2**29 + 1,
            "rehash": SECOND,
            "warmup": 0,
            "penalty_rate": 0,
        },
    )
    signalling: ClassVar = (
        {"bin_target": 5, "bin_max": 30, "increment": 1 << 26, "rehash": 1000 * MS, "warmup": MS},
        {"bin_target": 3, "bin_max": 9, "penalty_rate": 100, "penalty_burst": 5},
    )
    refused: ClassVar = (
        {"bin_target": 26, "bin_max": 25},
        {"rehash": 2 * SECOND, "warmup": 2 * SECOND},
    )
    accepted: ClassVar = ({"bin_target": 25, "bin_max": 25},)
    lacks: ClassVar = frozenset({"forget", "changes"})
    signal_if_below: ClassVar = {"signal": True}
    columns: ClassVar = {"prob": probability, "penalised": plain}

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        seed = spread(case.seed)

        def place(era: int, flow: int) -> list[int]:
            word = spread(spread((seed + 2 * era) % 2**64) ^ flow)
            return [word >> 4 * level & 15 for level in range(8)]

        return Sfb(
            place=place,
            increment=rows["increment"] * Q32_UNIT,
            decrement=rows["decrement"] * Q32_UNIT,
            bin_target=rows["bin_target"],
            bin_max=rows["bin_max"],
            penalty_pps=rows["penalty_rate"],
            penalty_burst=rows["penalty_burst"],
            rehash_s=rows["rehash"] * NS,
            warmup_s=rows["warmup"] * NS,
            start_s=case.start_ns * NS,
            uniform=Draws(case.seed).uniform,
            **common(case, judge),
        )

    def slack(self, model: Sfb) -> dict[str, float]:
        return {"signal": 2 * Q32_UNIT}

    def state(self, model: Sfb, wakes: int) -> list[tuple[float, float]]:
        # one is 1 - 2^-32 there, and steps down from it
        return [(model.p, 2 * Q32_UNIT), (model.penalised, 0)]


BESIDE = BesideSfb()


HZ = 1000
ONE = 65535  # the kernel's largest probability, of 16 bits


class LinuxPenalty(Penalty):
    """sfb_rate_limit(): an empty box gets what its rate gave since it was last looked into empty,
    in whole packets, and forgets the rest."""

    def __init__(self, rate_pps: float, burst: int, jiffies: int) -> None:
        super().__init__(rate_pps, burst, burst, 0.0)
        self.jiffies = self.looked = jiffies
        self.exact = Penalty(rate_pps, burst, burst, jiffies / HZ)
        self.exact_let_in = self.let_in = 0

    def allows(self, now_s: float) -> bool:
        self.exact_let_in += self.exact.allows(self.jiffies / HZ)
        if self.tokens < 1:
            earned = min(10 * HZ, self.jiffies - self.looked) * self.rate_pps // HZ
            self.tokens = min(self.burst, earned)
            self.looked = self.jiffies
            if self.tokens < 1:
                return False
        self.tokens -= 1
        self.let_in += 1
        return True


class LinuxSfb(Sfb):
    """sch_sfb.c: hashes are the kernel's, of a packet as recorded; the next period begins with the
    first arrival behind the last one, and that packet is still the old set's; the penalty box is
    its own."""

    def __init__(self, jiffies: int, **rest: Any) -> None:
        super().__init__(place=self.recorded, **rest)
        self.next_s = NEVER
        self.turns = False
        self.hashes = [0, 0]
        self.jiffies = self.changed = jiffies
        self.box = LinuxPenalty(self.penalty.rate_pps, int(self.penalty.burst), jiffies)
        self.penalty = self.box

    def recorded(self, era: int, flow: int) -> list[int]:
        word = self.hashes[(era - 1) % 2]
        assert word, "kernel has no hash of this packet"
        return [word >> 4 * level & 15 for level in range(8)]

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        """The kernel notes which set decides before it lets the sets take turns."""
        self.turns = False
        act = super().on_arrival(now_s, packet)
        self.era += self.turns
        return act

    def change_hash(self, now_s: float) -> None:
        """`next_s` tells `teach` whether it is time."""
        since = (self.jiffies - self.changed) / HZ
        if since > self.rehash_s:
            self.turns = True
            self.changed = self.jiffies
            self.next_s = NEVER
        elif self.warmup_s and since > self.rehash_s - self.warmup_s:
            self.next_s = now_s

    def state(self) -> tuple[int, int, int]:
        """sfb_compute_qlen(), of the set that decides."""
        bins = [b for row in self.sets[self.era % 2] for b in row]
        p = [round(b.p * ONE) for b in bins]
        return max(b.length for b in bins), max(p), sum(p) // len(p)


class SfbAsRecorded(AsRecorded):
    """A draw that is below p is a signal; that it is policed shows where it might be a mark."""

    ect = False
    let_in = False

    def below(self, what: str, value: float, bound: float) -> bool:
        if what == "one":
            return value < bound - self.slack
        if what == "policing":
            if self.ect and bound > 0:
                self.draws.append((bound / ((bound + 1) / 2), not self.let_in))
            return self.ect and not self.let_in
        return super().below(what, value, bound)


class WitnessedSfb(Witnessed):
    """Packet by packet, with the longest bin, the largest and the mean probability; the hash
    changes each 4 s and is learnt for 2 s. It has no setting without ECN."""

    REHASH_MS, WARMUP_MS, BIN_MAX, BIN_TARGET = 4000, 2000, 40, 4
    INCREMENT, DECREMENT, LIMIT, RATE, BURST = 2500, 50, 120, 40, 10
    children: ClassVar = {
        "sfb": Child(
            {
                1: struct.pack(
                    "=9I",
                    *(REHASH_MS, WARMUP_MS, BIN_MAX, BIN_TARGET),
                    *(INCREMENT, DECREMENT, LIMIT, RATE, BURST),
                )
            },
            ecn=True,
            each=4,
        )
    }
    shows: ClassVar = XSTATS | HASHES
    words: ClassVar[Words] = (
        ("maxqlen", 24, "u4"),
        ("maxprob", 28, "u4"),
        ("avgprob", 32, "u4"),
        *SFB_WORDS,
    )
    changes: ClassVar = (
        ("jiffies", ARRIVED, 100),
        ("hash1", ARRIVED, 1),
        ("maxqlen", ASKED, 1),
        ("avgprob", ARRIVED, 1),
        ("packet", ASKED, 1),
        ("drops", ASKED, 1),
    )

    def judge(self) -> AsRecorded:
        return SfbAsRecorded()

    def model(self, rows: list[Row], child: Child, judge: AsRecorded) -> Discipline:
        [began] = [row for row in rows if row["kind"] == BEGAN]
        return LinuxSfb(
            began["jiffies"],
            increment=self.INCREMENT / ONE,
            decrement=self.DECREMENT / ONE,
            bin_target=self.BIN_TARGET,
            bin_max=self.BIN_MAX,
            penalty_pps=self.RATE,
            penalty_burst=self.BURST,
            rehash_s=self.REHASH_MS / 1000,
            warmup_s=self.WARMUP_MS / 1000,
            limit_pkts=self.LIMIT,
            ecn=True,
            judge=judge,
            uniform=lambda: 0.0,
        )

    def begin(self, model: LinuxSfb, row: Row) -> None:
        judge = model.judge
        assert isinstance(judge, SfbAsRecorded)
        judge.ect, judge.let_in = row["ecn_before"] != 0, row["let_in"] != 0
        model.jiffies = model.box.jiffies = row["jiffies"]
        model.hashes = [row["hash0"], row["hash1"]]

    def check(self, model: LinuxSfb, row: Row) -> None:
        want = row["maxqlen"], row["maxprob"], row["avgprob"]
        assert model.state() == want, f"bins {model.state()}, kernel {want}"

    def figures(self, model: LinuxSfb) -> str:
        box = model.box
        return (
            f"{model.penalised} penalised, {box.let_in} let in; an exact token bucket would have "
            f"let in {box.exact_let_in}; the hash changed {model.era - 1} times"
        )


WITNESSED = WitnessedSfb


def bad_flows(sfb: Sfb, now_s: float, arrivals: int, flow: int = 0) -> int:
    """So many packets of a flow at one moment; how many are let in."""
    first = len(sfb.waiting)
    for number in range(arrivals):
        sfb.arrive(now_s, Packet(1000 * flow + first + number, 1000, flow))
    return len(sfb.waiting) - first


def one_level(increment: float = 1.0) -> Sfb:
    """Two bins; in every other era flows 0 and 1 change places. Who may be lucky is."""
    return Sfb(
        place=lambda era, flow: [(flow + era // 2) % 2],
        levels=1,
        bins=2,
        bin_target=1,
        bin_max=10**6,
        rehash_s=10,
        warmup_s=5,
        increment=increment,
        decrement=0.0,
        uniform=lambda: 0.99,
    )


def test_sfb_s_penalty_box_keeps_fractions() -> None:
    """100 arrivals at 0.07 s from each other earn 0.7 packets each, behind two at once."""
    box = Penalty(rate_pps=10, burst=2, tokens=2, counted_s=0.0)
    assert sum(box.allows(0.07 * number) for number in range(101)) == 2 + 70


def test_sfb_learns_only_of_who_does_not_respond() -> None:
    sfb = one_level(increment=0.01)
    bad_flows(sfb, 6.0, 20)
    assert sfb.p == pytest.approx(0.19)
    assert not any(b.p or b.length for b in sfb.sets[0][0])
    sfb = one_level()
    bad_flows(sfb, 6.0, 4)
    assert [(b.p, b.length) for b in sfb.sets[0][0]] == [(0.0, 0), (1.0, 3)]


def test_sfb_keeps_its_bins_when_the_hash_changes() -> None:
    sfb = one_level()
    bad_flows(sfb, 0.0, 2)
    bad_flows(sfb, 10.0, 1)
    assert sfb.p == 0
    bad_flows(sfb, 20.0, 1)
    assert sfb.p == 0, "flow 0 has another bin now"
    bad_flows(sfb, 20.0, 1, flow=1)
    assert sfb.p == 1, "and flow 1 the one that was flow 0's"
