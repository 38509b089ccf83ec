# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""afd: model and C side by side, and worked examples."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from models.afd import Afd
from models.queue import Discipline, Judge, Packet, Why
from tests.models.beside import NS, Q32_UNIT, Beside, Rows, common, plain, probability
from tests.models.generator import Draws
from tests.models.inputs import MS
from tests.models.library import Case

TICK = 6_250_000


class BesideAfd(Beside):
    """m_fair is in hundredths of a byte, exact but for where it stands at its bound; D_i is cut to
    Q0.32."""

    algorithm = "afd"
    defaults: ClassVar = {
        "qref": 50_000,
        "alpha": 170,
        "beta": 180,
        "interval": TICK,
        "sample": 5,
        "shadow": 1000,
    }
    settings: ClassVar[tuple[Rows, ...]] = (
        {"qref": 5_000, "sample": 1, "shadow": 16},
        {"qref": 20_000, "alpha": 0, "beta": 30, "interval": 30 * MS, "sample": 2, "shadow": 1024},
        {"qref": 3_000, "alpha": 990, "beta": 1000, "sample": 1, "shadow": 1, "limit": 30},
        {"qref": 1_000, "alpha": 10, "beta": 25, "sample": 3, "shadow": 100, "limit_bytes": 30_000},
    )
    signalling: ClassVar = (
        {"qref": 2_000, "sample": 1, "shadow": 50},
        {"qref": 6_000, "alpha": 100, "beta": 130, "interval": 5 * MS, "sample": 2},
    )
    refused: ClassVar = ({"alpha": 180, "beta": 180},)
    signal_if_below: ClassVar = {"signal": True}
    columns: ClassVar = {"fair": plain, "own": plain, "prob": probability, "flows": plain}

    def ticks(self, rows: Rows) -> tuple[int, int] | None:
        return rows.get("interval", TICK), 0

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        draws = Draws(case.seed)
        return Afd(
            draw=draws.below,
            q_target=rows["qref"],
            alpha=rows["alpha"] / 100,
            beta=rows["beta"] / 100,
            rate_hz=1 / (rows["interval"] * NS),
            s=rows["sample"],
            b=rows["shadow"],
            mtu=case.mtu,
            start_s=case.start_ns * NS,
            uniform=draws.uniform,
            **common(case, judge),
        )

    def share_error(self, model: Afd) -> float:
        return 2 * Q32_UNIT + 0.01 / max(model.m_i, 1)

    def slack(self, model: Afd) -> dict[str, float]:
        return {"signal": self.share_error(model)}

    def state(self, model: Afd, wakes: int) -> list[tuple[float, float]]:
        # the first is cut to whole bytes
        return [
            (model.m_fair - 0.5, 0.5 + 0.01 + 1e-6),
            (model.m_i, 0),
            (model.d_i, self.share_error(model)),
            (sum(samples > 0 for samples in model.m.values()), 0),
        ]


BESIDE = BesideAfd()


def afd(*places: int, **rest: Any) -> Afd:
    """Each arrival is sampled, to these places."""
    draws = iter([n for place in places for n in (0, place)])
    return Afd(draw=lambda n: next(draws), uniform=lambda: 0.5, **rest)


def test_afd_counts_bytes_of_the_samples_that_are_left() -> None:
    model = afd(0, 1, 0, b=3)
    for number, (flow, size) in enumerate([(7, 1000), (7, 500), (8, 200)]):
        model.arrive(0.0, Packet(number, size, flow=flow))
    assert model.m == {7: 500, 8: 200}


def test_afd_drops_what_exceeds_the_fair_share() -> None:
    """m_i 3000 and m_fair 1000: two of three."""
    model = afd(0, 1, 2, b=3)
    model.m_fair = 1000.0
    for number in range(2):
        model.arrive(0.0, Packet(number, 500, flow=7))
    assert len(model.waiting) == 2
    done = model.arrive(0.0, Packet(2, 2000, flow=7, ect=True))
    assert model.d_i == pytest.approx(2 / 3)
    assert done.dropped == [2]
    assert done.why == {2: Why.RATE}


@pytest.mark.parametrize(("m_fair", "marks"), [(900.0, True), (899.0, False)])
def test_afd_marks_a_small_excess_only(m_fair: float, marks: bool) -> None:
    model = Afd(draw=lambda n: 0, uniform=lambda: 0.01, ecn=True, b=1)
    model.m_fair = m_fair
    done = model.arrive(0.0, Packet(0, 1000, ect=True))
    assert bool(done.marked) == marks
    assert bool(done.dropped) != marks


def test_afd_moves_the_fair_share_by_the_queue() -> None:
    """By hand: 1.7 (30000 - 50000) - 1.8 (60000 - 50000) = -52000."""
    model = Afd(draw=lambda n: 0, uniform=lambda: 1.0)
    model.m_fair, model.q_before, model.bytes = 100_000.0, 30_000.0, 60_000
    model.update(0.0)
    assert model.m_fair == pytest.approx(48_000)
    assert model.q_before == 60_000


def test_afd_holds_the_queue_at_its_target() -> None:
    model = Afd(draw=lambda n: 0, uniform=lambda: 1.0)
    model.m_fair, model.q_before, model.bytes = 77.0, 50_000.0, 50_000
    model.update(0.0)
    assert model.m_fair == 77


def test_afd_leaves_large_packets_alone_while_nothing_limits() -> None:
    """A share that limits nobody follows the samples up and, when they have gone, down again."""
    model = afd(0, 1, 0, 1, b=2, mtu=1500)
    seen = []
    for number, size in enumerate([64_000, 64_000, 1000, 1000]):
        done = model.arrive(0.0, Packet(number, size, flow=7))
        assert not done.dropped
        seen.append(model.m_fair)
    assert seen == [128_000, 128_000, 65_000, 2_000]


def test_afd_keeps_a_share_that_limits_where_it_is() -> None:
    model = afd(0, b=2, mtu=1500)
    model.m_fair = 2_000.0
    model.arrive(0.0, Packet(0, 64_000, flow=7))
    assert model.m_fair == 2_000
