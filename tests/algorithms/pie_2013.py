# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""pie_2013: model and C side by side, and worked examples."""

from __future__ import annotations

from typing import ClassVar

import pytest

from models.pie_2013 import Pie2013
from models.queue import Discipline, Judge
from tests.algorithms.pie import CHANGES, change, settings_of
from tests.models.beside import NS, Q32_UNIT, Beside, Rows, plain, probability, seconds, within
from tests.models.inputs import MS, SECOND
from tests.models.library import Case


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
    settings: ClassVar = (
        {"target": 2 * MS, "tupdate": MS, "alpha": 1, "beta": 0, "max_burst": 0},
        {"target": 60 * MS, "alpha": 40, "beta": 1, "dq_threshold": 40_000, "max_burst": SECOND},
    )
    signalling: ClassVar = (
        {"target": 5 * MS, "tupdate": 10 * MS, "beta": 200, "max_burst": 20 * MS},
        {"target": 2 * MS, "alpha": 8, "dq_threshold": 5000},
    )
    changes: ClassVar = CHANGES
    lacks: ClassVar = frozenset({"forget"})
    signal_if_below: ClassVar = {"signal": True}
    columns: ClassVar = {"prob": probability, "delay": seconds, "rate": plain, "burst": seconds}

    def ticks(self, rows: Rows) -> tuple[int, int] | None:
        return (rows["tupdate"], 0) if "tupdate" in rows else None

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return Pie2013(dq_threshold=rows["dq_threshold"], **settings_of(rows, case, judge))

    def change(self, model: Pie2013, now_s: float, row: str, value: int) -> None:
        change(model, now_s, row, value)

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


BESIDE = BesidePie2013()


@pytest.mark.parametrize(
    ("p", "now_ms", "old_ms", "after"),
    [
        (0, 30, 20, 0.00171875),
        (0.05, 30, 20, 0.056875),
        (0.2, 30, 20, 0.21375),
        (0.05, 10, 20, 0.043125),
    ],
)
def test_pie_2013_step(p: float, now_ms: float, old_ms: float, after: float) -> None:
    model = Pie2013()
    model.p, model.delay_old_s = p, old_ms * 1e-3
    assert p + model.step(now_ms * 1e-3) == pytest.approx(after, abs=1e-12)


def test_pie_2013_gathers_through_a_stop() -> None:
    """60 packets, 36 ms at 20 Mbit/s, wait for a minute; then the queue runs dry."""
    model = Pie2013()
    model.rate, model.p, model.delay_old_s = 2.5e6, 0.01, 0.0363
    model.bytes = 60 * 1514
    found = []
    for now_s in (3, 10, 20, 60):
        model.advance(now_s)
        found.append(model.p)
    assert found == pytest.approx([0.14, 0.61, 1, 1], abs=0.03)
    model.bytes = 0
    found = []
    for after_s in (5, 10, 13.5):
        model.advance(60 + after_s)
        found.append(model.p)
    assert found == pytest.approx([0.54, 0.12, 0], abs=0.03)
