# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""pie: model and C side by side, and worked examples."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from models.pie import LinuxPie, Pie
from models.queue import Discipline, Judge
from tests.models.beside import (
    NS,
    PIE_BOUNDS,
    Q32_UNIT,
    Beside,
    Rows,
    common,
    probability,
    seconds,
    within,
)
from tests.models.generator import Draws
from tests.models.inputs import MS, SECOND
from tests.models.library import Case
from tests.models.witnessed import BEGAN, CLOCK_NS, AsRecorded, Child, Row, Witnessed, Words


def settings_of(rows: Rows, case: Case, judge: Judge) -> dict[str, Any]:
    """What both forms of PIE and pie_2013 take, from their rows."""
    return {
        "target_s": rows["target"] * NS,
        "tupdate_s": rows["tupdate"] * NS,
        "alpha_hz": rows["alpha"] / 16,
        "beta_hz": rows["beta"] / 16,
        "max_burst_s": rows["max_burst"] * NS,
        "start_s": case.start_ns * NS,
        "uniform": Draws(case.seed).uniform,
        **PIE_BOUNDS,
        **common(case, judge),
    }


def change(model: Any, now_s: float, row: str, value: int) -> None:
    """A row that both of them have."""
    if row == "tupdate":
        model.change_tupdate(now_s, value * NS)
    elif row in ("alpha", "beta"):
        setattr(model, f"{row}_hz", value / 16)
    else:
        setattr(model, f"{row}_s", value * NS)
    # What is left of an allowance is no more than the allowance.
    model.burst_s = min(model.burst_s, model.max_burst_s)


# Rows that change while it runs.
CHANGES: tuple[Rows, ...] = (
    {"tupdate": SECOND, "max_burst": 10 * SECOND},
    {"tupdate": 15 * MS, "max_burst": 60 * MS},
    {"tupdate": 300 * MS, "alpha": 8, "beta": 4},
    {"tupdate": 5 * MS, "target": 3 * MS, "max_burst": SECOND},
    {"alpha": 2, "beta": 20, "max_burst": 0},
)


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
    settings: ClassVar = (
        {"target": 2 * MS, "tupdate": MS, "alpha": 0, "beta": 40, "max_burst": 0},
        {"target": 60 * MS, "alpha": 8, "beta": 1, "max_burst": SECOND, "mark_ecnth": 2**32 - 1},
        {"dq_rate_estimator": 1},
        {"form": 1, "tupdate": 15 * MS},
        {"form": 1, "target": 2 * MS, "tupdate": MS, "alpha": 1, "max_burst": 20 * MS},
        {"form": 1, "target": 60 * MS, "tupdate": 15 * MS, "alpha": 1, "max_burst": SECOND},
    )
    signalling: ClassVar = (
        {"target": 5 * MS, "tupdate": 10 * MS, "beta": 2000, "mark_ecnth": 1 << 31},
        {"target": 2 * MS, "alpha": 200, "max_burst": 20 * MS, "dq_rate_estimator": 1, "form": 1},
    )
    changes: ClassVar = CHANGES
    signal_if_below: ClassVar = {"signal": True, "sum-low": False, "sum-high": False}
    columns: ClassVar = {
        "prob": probability,
        "delay": seconds,
        "burst": seconds,
        "drain_time": seconds,
    }

    def ticks(self, rows: Rows) -> tuple[int, int] | None:
        period_ns = rows.get("tupdate")
        # Linux's form ticks first half a second after the start, the other after a period.
        first_ns = SECOND // 2 if rows.get("form") else 0
        return (period_ns, first_ns % period_ns) if period_ns else None

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return (LinuxPie if rows["form"] else Pie)(
            mark_below=rows["mark_ecnth"] * Q32_UNIT,
            from_rate=bool(rows["dq_rate_estimator"]),
            mean_packet=case.mtu,
            **settings_of(rows, case, judge),
        )

    def change(self, model: Pie, now_s: float, row: str, value: int) -> None:
        change(model, now_s, row, value)

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


BESIDE = BesidePie()


class WitnessedPie(Witnessed):
    """The probability after each update. The kernel reads time in 64 ns; a timer of 15 ms fires
    each 16th jiffy, and one of 500 ms at the next multiple of 8 (kernel/time/timer.c)."""

    children: ClassVar = {
        "pie": Child({2: 200, 6: 0}, each=4),
        "pie-ecn": Child({2: 200, 6: 1}, ecn=True, each=4),
    }
    words: ClassVar[Words] = (("prob", 0, "u8"), ("delay_us", 8, "u4"), ("marks", 36, "u4"))
    clock_ns: ClassVar = 64
    # What the kernel's gains lose in a step, with a delay of up to 250 ms.
    off = 2e-9

    def model(self, rows: list[Row], child: Child, judge: AsRecorded) -> Discipline:
        """Jiffies begin with the clock, each a millisecond."""
        [began] = [row for row in rows if row["kind"] == BEGAN]
        first = (began["jiffies"] + 500 + 8) // 8 * 8 - began["jiffies"]
        began_ms = began["ns"] // 1_000_000
        return LinuxPie(
            limit_pkts=200,
            ecn=child.ecn,
            mean_packet=1514,
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


WITNESSED = WitnessedPie


@pytest.mark.parametrize(
    ("p", "divisor"),
    [(0, 2048), (2e-6, 512), (2e-5, 128), (2e-4, 32), (2e-3, 8), (2e-2, 2), (0.2, 1)],
)
def test_pie_step_shrinks_with_the_probability(p: float, divisor: float) -> None:
    model = Pie()
    model.p, model.delay_old_s = p, 20 * 1e-3
    assert model.step(25 * 1e-3) == pytest.approx((0.125 * 0.010 + 1.25 * 0.005) / divisor)


def test_pie_step_is_capped_only_from_a_tenth_on() -> None:
    model = Pie()
    model.p = 0.1
    assert model.step(0.5) == 0.02
    model.p = 0.0999
    assert model.step(0.5) > 0.3


def test_pie_sum_of_probabilities_spaces_the_signals() -> None:
    model = Pie(uniform=lambda: 0.0)
    model.p, model.delay_old_s, model.bytes = 0.3, 1.0, 10**6
    assert [model.drop_early() for _ in range(3)] == [False, False, True]
    unlucky = Pie(uniform=lambda: 0.9999)
    unlucky.p, unlucky.delay_old_s, unlucky.bytes = 0.5, 1.0, 10**6
    assert [unlucky.drop_early() for _ in range(17)] == [False] * 16 + [True]


def test_pie_forgets_through_an_empty_queue() -> None:
    """Section 4.2: a sixty-fourth at each update, beside alpha target."""
    model = Pie()
    model.p = 1.0
    model.advance(1.6)
    assert model.p == pytest.approx(0.1, abs=0.01)
