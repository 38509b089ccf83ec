# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""asqm: model and C side by side, and worked examples."""

from __future__ import annotations

import math
from typing import ClassVar

import pytest

from models.asqm import PROBE_BYTES, Asqm
from models.queue import Discipline, Judge, Packet
from tests.algorithms.codel import schedule_error
from tests.models.beside import NS, Beside, common, plain, seconds
from tests.models.inputs import MS, SECOND
from tests.models.library import ARRIVE, Case


class BesideAsqm(Beside):
    """SRTT is kept in eighths of a nanosecond and cut; RTTVAR is cut in each of its two terms."""

    algorithm = "asqm"
    defaults: ClassVar = {
        "target": 100 * MS,
        "interval": 100 * MS,
        "ratio": 4,
        "entry": 0,
        "base": 0,
        "period": 0,
        "first": 0,
    }
    settings: ClassVar = (
        {"target": 20 * MS, "interval": 30 * MS, "ratio": 1},
        {"target": 60 * MS, "entry": 1, "ratio": 7, "limit": 30},
        {"target": 30 * MS, "interval": SECOND, "base": 1, "limit_bytes": 20_000},
        {"target": 20 * MS, "interval": SECOND, "period": 5 * MS, "first": 1},
    )
    signalling: ClassVar = (
        {"target": MS, "interval": 20 * MS, "ratio": 2},
        {"target": 10 * MS, "interval": 5 * MS, "entry": 1, "base": 1},
    )
    probes = True
    signal_if_below: ClassVar = {"next": False}
    columns: ClassVar = {
        "rtt": seconds,
        "srtt": seconds,
        "rttvar": seconds,
        "base_rtt": seconds,
        "count": plain,
        "dropping": plain,
        "answers": plain,
    }

    # In a long episode signals are packet times of 0.1 to 1 ms apart, and the slack is 10 us.
    tie_share = 0.01

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return Asqm(
            probes_from=int((case.events["kind"] == ARRIVE).sum()),
            target_s=rows["target"] * NS,
            interval_s=rows["interval"] * NS,
            ratio=rows["ratio"],
            as_printed=bool(rows["entry"]),
            above_least=bool(rows["base"]),
            period_s=rows["period"] * NS,
            first_after_interval=bool(rows["first"]),
            **common(case, judge),
        )

    def slack(self, model: Asqm) -> dict[str, float]:
        # The gaps of an episode are those of CoDel from a count of 1 on.
        count = model.count
        return {"next": schedule_error(model.interval_s, 1, count) if count else 0.0}

    def state(self, model: Asqm, wakes: int) -> list[tuple[float, float]]:
        least_s = 0.0 if math.isinf(model.least_s) else model.least_s
        # Each step cuts less than a nanosecond of SRTT times 8 and keeps 7/8 of what it had:
        # 8 ns in all, an eighth of that in SRTT, and one more where it is shown. RTTVAR cuts two,
        # keeps 3/4 and takes a quarter of SRTT's error.
        return [
            (model.rtt_s, NS),
            (model.srtt_s or 0.0, 2 * NS),
            (model.rttvar_s, 10 * NS),
            (least_s, NS),
            (model.count, 0),
            (model.dropping, 0),
            (model.answers, 0),
        ]


BESIDE = BesideAsqm()


def busy(**rows: float) -> Asqm:
    """A queue that never runs dry, with ECN."""
    model = Asqm(probes_from=1000, ecn=True, ratio=1000, **rows)  # type: ignore[arg-type]
    for number in range(400):
        model.arrive(0.0, Packet(number, 1500, ect=True))
    return model


def test_asqm_sends_a_probe_behind_each_fourth_packet() -> None:
    model = Asqm(probes_from=1000)
    for number in range(9):
        model.arrive(0.0, Packet(number, 1500))
    assert [p.number for p in model.waiting] == [0, 1, 2, 3, 1003, 4, 5, 6, 7, 1007, 8]
    assert model.bytes == 9 * 1500 + 2 * PROBE_BYTES


def test_asqm_refuses_a_probe_where_the_limit_is_reached() -> None:
    model = Asqm(probes_from=1000, limit_pkts=4)
    done = [model.arrive(0.0, Packet(number, 1500)) for number in range(4)]
    assert done[-1].dropped == [1003]


def test_asqm_with_a_period_sends_a_probe_with_the_first_packet_behind_it() -> None:
    """Periods of 10 ms and packets each 4 ms: probes with those of 0, 12, 24 and 36 ms."""
    model = Asqm(probes_from=1000, period_s=0.01)
    for number in range(11):
        model.arrive(number * 4e-3, Packet(number, 1500))
    assert [p.number - 1000 for p in model.waiting if p.probe] == [0, 3, 6, 9]


def test_asqm_smooths_as_rfc_6298_does() -> None:
    """Samples of 100, 180 and 20 ms: SRTT 100, 110, 98.75; RTTVAR 50, 57.5, 65.625 ms."""
    model = Asqm(probes_from=0)
    found = []
    for rtt_s in (0.1, 0.18, 0.02):
        model.answer(0.0, rtt_s)
        found += [model.srtt_s, model.rttvar_s]
    assert found == pytest.approx([0.1, 0.05, 0.11, 0.0575, 0.09875, 0.065625])


def test_asqm_signals_at_once_and_then_after_interval_over_the_root() -> None:
    """0, 100, 170.7, 228.4, 278.4, 323.2 ms behind the sample that begins the episode."""
    model = busy()
    model.answer(1.0, 0.15)
    times = []
    for step in range(340):
        now_s = 1.0 + step * 1e-3
        model.heard_s = now_s
        if model.request(now_s).marked:
            times.append(step)
    assert times == [0, 100, 171, 229, 279, 324]


def test_asqm_with_the_first_signal_after_an_interval_has_the_same_gaps_later() -> None:
    """The first at 100 ms, and then after 100, 70.7, 57.7, 50 ms as before."""
    model = busy(first_after_interval=True)
    model.answer(1.0, 0.15)
    times = []
    for step in range(400):
        model.heard_s = 1.0 + step * 1e-3
        if model.request(model.heard_s).marked:
            times.append(step)
    assert times == [100, 200, 271, 329, 379]


def test_asqm_ends_with_one_sample_below_target_and_does_not_flap() -> None:
    model = busy()
    for rtt_s in (0.3, 0.3, 0.05):
        model.answer(1.0, rtt_s)
    assert not model.dropping and model.srtt_s is not None and model.srtt_s > 0.2
    model.answer(1.0, 0.05)
    assert not model.dropping, "SRTT is above target still, the sample is not"
    printed = busy(as_printed=True)
    for rtt_s in (0.3, 0.3, 0.05, 0.05):
        printed.answer(1.0, rtt_s)
    assert printed.dropping, "as printed SRTT alone begins another episode"


def test_asqm_says_nothing_where_no_probe_comes_back() -> None:
    model = busy()
    model.answer(1.0, 0.15)
    assert model.request(1.5).marked
    assert not model.request(2.1).marked and not model.dropping


def test_asqm_subtracts_the_least_round_trip_where_it_is_told_to() -> None:
    model = busy(above_least=True)
    for rtt_s in (0.12, 0.15, 0.15, 0.15):
        model.answer(1.0, rtt_s)
    assert not model.dropping
    for _ in range(30):
        model.answer(1.0, 0.3)
    assert model.dropping
