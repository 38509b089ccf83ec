# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Each algorithm's model beside its C: rows to quantities, statistics to state, tolerances."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from models.choke import Choke
from models.codel import CoDel, LinuxCoDel
from models.duk import Duk, correction
from models.fifo import Fifo
from models.pie import LinuxPie, Pie
from models.pie_2013 import Pie2013
from models.queue import Discipline, Judge, Packet
from models.sfb import Sfb
from tests.models.beside import NS, Beside, plain, probability, seconds
from tests.models.generator import Draws, spread
from tests.models.library import Case

Q32_UNIT = 2.0**-32
# aqm.h: the queue runs 64 ticks of an empty queue, 1024 of a stuck one; law/pie.h: of an empty
# one PIE works off as many more before it rests.
BOUNDS = {"rest_after": 64 + 2048, "stuck_after": 1024}


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


class BesideFifo(Beside):
    """Nothing but the limits."""

    algorithm = "fifo"

    def model(self, case: Case, judge: Judge) -> Discipline:
        return Fifo(**common(case, judge))


class BesideCoDel(Beside):
    """The core's 1/sqrt is exact to 2^-16; the schedule adds one such error per signal."""

    algorithm = "codel"
    defaults: ClassVar = {
        "target": 5_000_000,
        "interval": 100_000_000,
        "form": 0,
    }
    signal_if_below: ClassVar = {"drop_next": False}
    columns: ClassVar = {"count": plain, "dropping": plain}
    # In long overload: 2 * 15 us of slack, signals one or two packet times of 0.6 ms apart.
    tie_share = 0.05

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return (LinuxCoDel if rows["form"] else CoDel)(
            target_s=rows["target"] * NS,
            interval_s=rows["interval"] * NS,
            mtu=case.mtu,
            **common(case, judge),
        )

    def slack(self, model: CoDel) -> dict[str, float]:
        # The n-th spacing errs by interval / n * 2^-16 and one nanosecond, the first by nothing;
        # this adds up since the state was entered.
        first, last = max(1, model.last_count), max(1, model.count)
        if last == 1 or isinstance(model, LinuxCoDel):
            return {"drop_next": 0.0}
        errors = 1 / first + math.log(last / first)
        return {"drop_next": model.interval_s * 2**-16 * errors + (last - first + 1) * NS}

    def state(self, model: CoDel, wakes: int) -> list[tuple[float, float]]:
        return [(model.count, 0), (model.dropping, 0)]


class BesidePie2013(Beside):
    """p is kept in Q0.56 and read in Q0.32; delays and rates are whole nanoseconds and bytes/s."""

    algorithm = "pie_2013"
    defaults: ClassVar = {
        "target": 20_000_000,
        "tupdate": 30_000_000,
        "alpha": 2,
        "beta": 20,
        "max_burst": 100_000_000,
        "dq_threshold": 10_000,
    }
    signal_if_below: ClassVar = {"signal": True}
    columns: ClassVar = {"prob": probability, "delay": seconds, "rate": plain, "burst": seconds}

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return Pie2013(
            target_s=rows["target"] * NS,
            tupdate_s=rows["tupdate"] * NS,
            alpha_hz=rows["alpha"] / 16,
            beta_hz=rows["beta"] / 16,
            max_burst_s=rows["max_burst"] * NS,
            dq_threshold=rows["dq_threshold"],
            **BOUNDS,
            start_s=case.start_ns * NS,
            uniform=Draws(case.seed).uniform,
            **common(case, judge),
        )

    def slack(self, model: Pie2013) -> dict[str, float]:
        return {"signal": 2 * Q32_UNIT}

    def state(self, model: Pie2013, wakes: int) -> list[tuple[float, float]]:
        delay_s = 2 * NS + (2 * model.delay_old_s / model.rate if model.rate else 0.0)
        step = (model.alpha_hz + model.beta_hz) * delay_s
        return [
            (model.p, 2 * Q32_UNIT + max(1, wakes) * step),
            (model.delay_old_s, delay_s),
            (model.rate or 0.0, 2.0),
            (model.burst_s, NS / 2),
        ]

    def resync(self, model: Pie2013, core: list[float]) -> None:
        model.p = within(model.p, core[0])
        model.delay_old_s = core[1]


class BesidePie(Beside):
    """As pie_2013. The sum of probabilities is kept in Q0.56 and decides at two bounds."""

    algorithm = "pie"
    defaults: ClassVar = {
        "target": 15_000_000,
        "tupdate": 15_000_000,
        "alpha": 2,
        "beta": 20,
        "max_burst": 150_000_000,
        "dq_rate_estimator": 0,
        "form": 0,
        "mark_ecnth": round(0.1 * 2**32),
    }
    signal_if_below: ClassVar = {"signal": True, "sum-low": False, "sum-high": False}
    columns: ClassVar = {
        "prob": probability,
        "delay": seconds,
        "burst": seconds,
        "drain_time": seconds,
    }

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return (LinuxPie if rows["form"] else Pie)(
            target_s=rows["target"] * NS,
            tupdate_s=rows["tupdate"] * NS,
            alpha_hz=rows["alpha"] / 16,
            beta_hz=rows["beta"] / 16,
            max_burst_s=rows["max_burst"] * NS,
            mark_below=rows["mark_ecnth"] * Q32_UNIT,
            from_rate=bool(rows["dq_rate_estimator"]),
            mean_packet=case.mtu,
            **BOUNDS,
            start_s=case.start_ns * NS,
            uniform=Draws(case.seed).uniform,
            **common(case, judge),
        )

    def slack(self, model: Pie) -> dict[str, float]:
        return {"signal": 2 * Q32_UNIT, "sum-low": 100 * Q32_UNIT, "sum-high": 100 * Q32_UNIT}

    def state(self, model: Pie, wakes: int) -> list[tuple[float, float]]:
        delay_s = NS / 2 if not model.from_rate else 2 * NS + 4 * NS * model.bytes / 2**14
        step = (model.alpha_hz + model.beta_hz) * delay_s
        return [
            (min(model.p, 1.0), 2 * Q32_UNIT + max(1, wakes) * step),
            (model.delay_old_s, delay_s),
            (model.burst_s, NS / 2),
            (model.drain_s, 4 * NS),
        ]

    def resync(self, model: Pie, core: list[float]) -> None:
        if model.p < 1:  # the statistic does not say how far beyond
            model.p = within(model.p, core[0])
        model.delay_old_s = core[1]


class ChokeOnRing(Choke):
    """Draws as the core documents it (ring.h, sample.h): a slot of a ring in which drawn packets
    leave holes; three tries, then the head."""

    def __init__(self, *, draws: Draws, cells: int, **rest: Any) -> None:
        super().__init__(draw=self.drawn, uniform=draws.uniform, **rest)
        self.draws = draws
        self.cells = cells
        self.slots: list[Packet | None] = []

    def drawn(self, waiting: list[Packet]) -> int:
        """The place of the drawn packet among those that wait."""
        for _ in range(3):
            packet = self.slots[self.draws.below(len(self.slots))]
            if packet is not None:
                return waiting.index(packet)
        return 0

    def join(self, packet: Packet) -> None:
        super().join(packet)
        if len(self.slots) == self.cells:
            self.slots = [p for p in self.slots if p is not None]
        self.slots.append(packet)

    def take(self) -> Packet | None:
        packet = super().take()
        self.vacate(packet)
        return packet

    def remove(self, now_s: float, position: int) -> None:
        packet = self.waiting[position]
        super().remove(now_s, position)
        self.vacate(packet)

    def vacate(self, packet: Packet | None) -> None:
        """Leave a hole; neither end is ever one."""
        if packet is not None:
            self.slots[self.slots.index(packet)] = None
        while self.slots and self.slots[-1] is None:
            self.slots.pop()
        while self.slots and self.slots[0] is None:
            self.slots.pop(0)


class BesideChoke(Beside):
    """The average is kept to 2^-16 packets; p inherits that."""

    algorithm = "choke"
    defaults: ClassVar = {
        "min": 100,
        "max": 200,
        "probability": round(0.02 * 2**32),
        "weight": 9,
        "avpkt": 1000,
        "bandwidth": 1_250_000,
    }
    signal_if_below: ClassVar = {"signal": True, "max": True}
    columns: ClassVar = {"average": plain, "prob": probability, "matched": plain}

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return ChokeOnRing(
            min_th=rows["min"],
            max_th=rows["max"],
            max_p=rows["probability"] * Q32_UNIT,
            weight=2.0 ** -rows["weight"],
            packet_time_s=rows["avpkt"] / rows["bandwidth"],
            draws=Draws(case.seed),
            cells=2 << (rows["limit"] - 1).bit_length(),
            start_s=case.start_ns * NS,
            **common(case, judge),
        )

    def slack(self, model: Choke) -> dict[str, float]:
        p = self.slope_error(model)
        spread = max(1e-3, 1 - (model.red.count + 1) * model.slope) ** 2
        return {"min": 2**-16, "max": 2**-16, "signal": 2 * p / spread}

    def slope_error(self, model: Choke) -> float:
        """An error of the average, along RED's slope."""
        red = model.red
        return 2 * Q32_UNIT + red.max_p * 2**-16 / (red.max_th - red.min_th)

    def state(self, model: Choke, wakes: int) -> list[tuple[float, float]]:
        # the statistic is cut to whole packets
        return [
            (model.average.average - 0.5, 0.5 + 2**-16),
            (model.slope, self.slope_error(model)),
            (model.matched, 0),
        ]


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
    signal_if_below: ClassVar = {"signal": True}
    columns: ClassVar = {"prob": probability, "penalised": plain}

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        seed = spread(case.seed)

        def place(era: int, flow: int) -> list[int]:
            word = spread(spread((seed + era) % 2**64) ^ flow)
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


class BesideDuk(Beside):
    """U, T and the change of the delay are kept in Q0.20.

    What that does to p depends on how near Eq. 9 is to its pole, so the tolerance is how far p
    moves when they move by two such units.
    """

    algorithm = "duk"
    defaults: ClassVar = {
        "tick": 1_000_000,
        "fixed_interval": 0,
    }
    signal_if_below: ClassVar = {"signal": True}
    columns: ClassVar = {
        "prob": probability,
        "interval": seconds,
        "delay": seconds,
        "rate": plain,
        "level": plain,
    }

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return Duk(
            tick_s=rows["tick"] * NS,
            fixed_s=rows["fixed_interval"] * NS,
            mtu=case.mtu,
            start_s=case.start_ns * NS,
            empty_after=64,
            stuck_after=1024,
            uniform=Draws(case.seed).uniform,
            **common(case, judge),
        )

    def slack(self, model: Duk) -> dict[str, float]:
        return {"signal": 2 * Q32_UNIT}

    def tolerance(self, model: Duk) -> float:
        """How far the core's p may be off."""
        at = model.equation
        if at is None or not at.arrived or not model.wakes:
            return 2 * Q32_UNIT
        unit = 2.0**-19
        moved = [
            replace(
                at,
                used=min(1.0, at.used + a * unit),
                was_used=min(1.0, at.was_used + b * unit),
                delay_change=at.delay_change + d * unit,
            ).p()
            for a in (-1, 0, 1)
            for b in (-1, 0, 1)
            for d in (-1, 0, 1)
        ]
        # what T takes from the bytes sent is whole bytes; T is cut to 2^-20, (1 + n)/n to 2^-16
        term = correction(at.used, at.was_used, at.delay_change, at.interval) if at.known else 0.0
        cut = (1 + (2.0**-20 + 2.0**-16 * abs(term)) * at.could) / at.arrived
        return 2 * Q32_UNIT + cut + max(moved) - min(moved)

    def state(self, model: Duk, wakes: int) -> list[tuple[float, float]]:
        return [
            (model.p, self.tolerance(model) if wakes else 0.0),
            (model.interval_s, NS / 2),
            (model.delay_s, NS / 2),
            (model.capacity.rate, 1.01),
            (model.search.level, 0),
        ]

    def resync(self, model: Duk, core: list[float]) -> None:
        model.p = core[0]


ALGORITHMS: Mapping[str, Beside] = {
    how.algorithm: how
    for how in (
        BesideFifo(),
        BesideCoDel(),
        BesidePie2013(),
        BesidePie(),
        BesideChoke(),
        BesideSfb(),
        BesideDuk(),
    )
}
