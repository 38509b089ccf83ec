# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""rio_ps: model and C side by side, and worked examples."""

from __future__ import annotations

from typing import ClassVar

import pytest

from models.queue import Discipline, Judge, Packet, Why
from models.rio_ps import Edge, RioPs
from tests.algorithms.red import average_off, packet_time_s
from tests.models.beside import NS, Q32_UNIT, Beside, common, plain, probability
from tests.models.generator import Draws, spread
from tests.models.inputs import MS, SECOND, overload
from tests.models.library import Case, core


class BesideRioPs(Beside):
    """p inherits the error of the averages."""

    algorithm = "rio_ps"
    defaults: ClassVar = {
        "short_min": 15,
        "short_max": 30,
        "short_probability": round(0.02 * 2**32),
        "long_min": 5,
        "long_max": 15,
        "long_probability": round(0.1 * 2**32),
        "weight": 9,
        "avpkt": 1000,
        "threshold": 8,
        "expiry": SECOND,
        "records": 4096,
    }
    settings: ClassVar = (
        # Eight flows share four places: some are pushed out again and again.
        {"records": 4, "threshold": 3, "short_min": 2, "short_max": 9, "weight": 3},
        # In silence of 3 ms a flow is forgotten: most arrivals are short.
        {"expiry": 3 * MS, "threshold": 2, "short_min": 3, "short_max": 40, "weight": 5},
        {
            "threshold": 0,
            "long_min": 20,
            "long_max": 60,
            "long_probability": 2**30,
            "weight": 4,
            "bandwidth": 125_000,
            "limit_bytes": 60_000,
        },
        {
            "threshold": 1 << 24,
            "short_min": 1,
            "short_max": 200,
            "short_probability": 2**32 - 1,
            "weight": 1,
            "avpkt": 500,
            "limit": 60,
        },
        {"records": 11, "threshold": 40, "expiry": 20 * MS, "long_max": 200, "weight": 6},
    )
    signalling: ClassVar = (
        {"long_min": 2, "long_max": 30, "weight": 4, "threshold": 100, "expiry": 20 * MS},
        {"short_min": 2, "short_max": 30, "short_probability": 1 << 29, "weight": 2},
    )
    refused: ClassVar = ({"short_min": 10, "short_max": 10}, {"long_min": 10, "long_max": 10})
    accepted: ClassVar = ({"short_min": 10, "short_max": 11}, {"long_min": 10, "long_max": 11})
    signal_if_below: ClassVar = {"signal": True, "max": False}
    reason_of_signal: ClassVar = {"max": Why.THRESHOLD}
    columns: ClassVar = {
        "average": plain,
        "short_average": plain,
        "prob": probability,
        "short_arrivals": plain,
        "short_signals": plain,
    }

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        seed, sets = spread(spread(case.seed)), rows["records"] // 4

        def place(flow: int) -> int:
            """The set, by the upper half of a product."""
            return (spread(seed ^ flow) % 2**32) * sets >> 32

        def curve(of: str) -> tuple[float, float, float]:
            p = rows[f"{of}_probability"] * Q32_UNIT
            return rows[f"{of}_min"], rows[f"{of}_max"], p

        return RioPs(
            edge=Edge(rows["threshold"], rows["expiry"] * NS, place),
            short=curve("short"),
            long=curve("long"),
            weight=2.0 ** -rows["weight"],
            packet_time_s=packet_time_s(rows),
            start_s=case.start_ns * NS,
            uniform=Draws(case.seed).uniform,
            **common(case, judge),
        )

    def slack(self, model: RioPs) -> dict[str, float]:
        off = average_off(model.last.average)
        # RED's p_a is below 1 only where 1 - count p_b is above p_b.
        spread_out = max(model.p_b, 1 - model.last.red.count * model.p_b, 1e-3) ** 2
        signal = self.slope_error(model) / spread_out
        return {"max": off, "signal": signal + Q32_UNIT}

    def slope_error(self, model: RioPs) -> float:
        """An error of the average, along the slope."""
        red = model.last.red
        steep = red.max_p / (red.max_th - red.min_th)
        return 4 * Q32_UNIT + average_off(model.last.average) * steep

    def state(self, model: RioPs, wakes: int) -> list[tuple[float, float]]:
        averages = [model.classes[short].average for short in (False, True)]
        return [
            # Statistics are cut to whole packets.
            *((a.average - 0.5, 0.5 + average_off(a)) for a in averages),
            (model.p_b, self.slope_error(model)),
            (model.short_arrivals, 0),
            (model.short_signals, 0),
        ]


BESIDE = BesideRioPs()


def edge(threshold: int = 2, expiry_s: float = 1.0) -> Edge:
    return Edge(threshold, expiry_s, lambda flow: 0)


def test_rio_ps_the_first_packets_of_a_flow_are_short() -> None:
    """L_t 2. A silence of T_u begins anew, a shorter one does not."""
    e = edge()
    found = [e.is_short(now_s, 7) for now_s in (0, 0.1, 0.2, 1.1, 2.1, 2.2, 2.3)]
    assert found == [True, True, False, False, True, True, False]


def test_rio_ps_forgets_the_flow_that_was_seen_the_longest_ago() -> None:
    """Four places. Flow 1 is met again, so flow 2 makes room for 5."""
    e = edge(threshold=1)
    assert [e.is_short(0, flow) for flow in (1, 2, 3, 4, 1, 5)] == [True] * 4 + [False, True]
    assert not e.is_short(0, 1)
    assert e.is_short(0, 2)


def test_rio_ps_goes_by_two_averages() -> None:
    """Weight 1, so averages are queues, and each draw is 0: the least p_a is a signal. Flow 1 sends
    six packets, L_t 2. The third finds 2 waiting, below long_min 3; the fourth finds 3: p_b is 0.
    The fifth finds 4 and is lost by p_b 1/4, and so is the sixth. Flow 2 finds 4 packets, 2 of them
    of short flows, and joins, since short_min is 3; its second one finds 3 of them: p_b is 0."""
    model = RioPs(edge=edge(), short=(3, 6, 0.5), long=(3, 5, 0.5), weight=1.0, uniform=lambda: 0.0)
    sent = [model.arrive(0.0, Packet(n, 1000, flow=1)) for n in range(6)]
    assert [bool(outcome.dropped) for outcome in sent] == [False] * 4 + [True] * 2
    sent = [model.arrive(0.0, Packet(n, 1000, flow=2)) for n in range(6, 9)]
    assert [bool(outcome.dropped) for outcome in sent] == [False, False, True]
    assert sent[2].why[8] is Why.THRESHOLD
    assert model.short == {0, 1, 6, 7}


@pytest.mark.parametrize(("short", "p_b"), [(True, 0.01), (False, 0.05)])
def test_rio_ps_is_gentler_to_short_flows(short: bool, p_b: float) -> None:
    """Half way between their thresholds, 22.5 and 10 packets."""
    red = RioPs(edge=edge()).classes[short].red
    assert red.slope((red.min_th + red.max_th) / 2) == pytest.approx(p_b)


def test_rio_ps_without_short_flows_is_red() -> None:
    """L_t 0: the same draws lead to the same verdicts, beside red at the curve of long flows."""
    curve = {"min": 5, "max": 15, "probability": round(0.1 * 2**32)}
    events = overload(3)
    ours = core().replay(Case("rio_ps", "rio_ps", {"threshold": 0, "ecn": 1}, events, 3))
    red = core().replay(Case("red", "red", curve | {"ecn": 1}, events, 3))
    assert len(ours.out) > 1000
    assert (ours.out == red.out).all()
