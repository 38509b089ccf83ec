# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Metrics that read more of a run than its report, and the cost of laws by themselves."""

from __future__ import annotations

import math
import platform
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
import sojourn
from sojourn.core.errors import InputError, RunError
from sojourn.result import law
from sojourn.result.metrics import METRICS, RUN_METRICS, find

SPAN = {
    "name": "settled",
    "from_s": 1.0,
    "to_s": 3.0,
    "mark_pct": 4.0,
    "drop_pct": 0.5,
    "arrived_pkts": 500,
    "departed_pkts": 400,
}


def times(*cells: tuple[str, str, int, int]) -> dict[str, list[Any]]:
    """Cells of a histogram: quantity, group, milliseconds, count."""
    return {
        "quantity": [cell[0] for cell in cells],
        "of": [cell[1] for cell in cells],
        "window": ["settled"] * len(cells),
        "from_ns": [cell[2] * 1_000_000 for cell in cells],
        "count": [cell[3] for cell in cells],
    }


def run(seed: int = 1, **tables: Any) -> Any:
    """A run that has these tables alone."""
    report = {"queues": [{"name": "bottleneck", "windows": [SPAN]}]}
    found = {name: pa.table(columns) if columns else None for name, columns in tables.items()}
    methods = {name: (lambda table=table: table) for name, table in found.items()}
    labels, entry = {"aqm": "duk:tick=4ms"}, SimpleNamespace(**methods)
    return SimpleNamespace(report=report, labels=labels, seed=seed, entry=entry, **methods)


def value(name: str, of: Any) -> float:
    return METRICS[name].measure_run(of, "bottleneck", "settled")


def statistics(name: str, values: list[float]) -> dict[str, list[Any]]:
    many = len(values)
    return {
        "queue": ["bottleneck"] * many,
        "t_s": [float(n) for n in range(1, many + 1)],
        "statistic": [name] * many,
        "value": values,
    }


def test_a_statistic_has_its_mean_over_the_readings_within_the_window() -> None:
    # The reading at 1 s is of before, that at 4 s of behind.
    of = run(statistics=statistics("prob", [0.9, 0.1, 0.3, 0.9]))
    assert value("prob_mean_pct", of) == pytest.approx(20)


def test_the_most_flows_that_an_algorithm_held_are_of_the_window() -> None:
    assert value("cached_flows", run(statistics=statistics("flows", [90.0, 10.0, 30.0]))) == 30


def test_an_algorithm_without_the_statistic_has_none() -> None:
    of = run(statistics=statistics("count", [1.0, 2.0, 3.0]))
    assert value("prob_mean_pct", of) != value("prob_mean_pct", of)
    assert value("evaluations_per_s", run(statistics=None)) != 0


def test_evaluations_are_one_for_each_interval() -> None:
    of = run(statistics=statistics("interval", [8.0, 1.0, 3.0]))
    assert value("evaluations_per_s", of) == pytest.approx(500)
    assert value("evaluations_per_pkt", of) == pytest.approx(2)  # 250 packets came in a second


def test_marks_that_keep_the_square_root_law_are_all_of_it() -> None:
    # sqrt(2 / 0.045) (10 / 0.1 s + 5 / 0.2 s) = 833 packets/s beside 200 that left.
    groups = {
        "t_s": [2.0, 3.0, 2.0, 3.0, 4.0],
        "group": ["near", "near", "far", "far", "far"],
        "connections": [10.0, 10.0, 5.0, 5.0, 99.0],
        "srtt_ms": [100.0, 100.0, 200.0, 200.0, 9.0],
    }
    asked = 2 * ((10 / 0.1 + 5 / 0.2) / 200) ** 2
    assert value("square_law", run(group_series=groups)) == pytest.approx(0.045 / asked)
    assert value("square_law", run(group_series=None)) != 0


@pytest.mark.parametrize(("shaper", "found"), [("wire", 2.0), ("tbf", 7.0)])
def test_a_bucket_is_part_of_the_delay_until_the_driver_and_a_wire_is_not(
    shaper: str, found: float
) -> None:
    delays = {"queue_delay_ms": {"mean": 2.0}, "system_delay_ms": {"mean": 7.0}}
    report = {"queues": [{"name": "bottleneck", "windows": [{**SPAN, **delays}]}]}
    scenario = {"links": [{"name": "bottleneck", "shaper": shaper, "queue": {}}]}
    of = SimpleNamespace(report=report, entry=SimpleNamespace(scenario=lambda: scenario))
    assert value("handover_delay_mean_ms", of) == found


def test_the_law_of_duk_has_four_divisions_and_can_be_evaluated() -> None:
    found = law.cost("duk")
    assert found
    assert found.million_per_s > 1
    if platform.machine() == "x86_64":
        # The quotients of U, of (1 + n)/n, of T and of p; y^2, its multiple, the bracket, C T, U.
        assert (found.divisions, found.multiplications) == (4, 5)
    assert value("law_million_per_s", run()) > 1
    assert law.cost("codel") is None


def test_a_law_that_divides_once_more_is_counted_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if platform.machine() != "x86_64":
        pytest.skip("instructions are counted on x86-64")
    source = (law.LAWS / "duk.c").read_text()
    assert "return duk_probability(sample, true, used);" in source
    again = "return (u32)div64(duk_probability(sample, true, used), sample->could);"
    changed = source.replace("return duk_probability(sample, true, used);", again)
    (tmp_path / "once_more.c").write_text(changed)
    (tmp_path / "timed.h").write_text((law.LAWS / "timed.h").read_text())
    (tmp_path / "broken.c").write_text("nothing")
    monkeypatch.setattr(law, "LAWS", tmp_path)
    found = law.cost("once_more")
    assert found and found.divisions > 4  # a compiler may have it in several branches
    with pytest.raises(RunError, match=r"broken.c does not compile here"):
        law.cost("broken")


def test_without_a_compiler_the_cost_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise RunError("no C compiler is on PATH")

    monkeypatch.setattr("sojourn.user_aqm.compiler.path", missing)
    assert law.cost("duk", 77) is None
    nothing = METRICS["law_million_per_s"].measure_run(run(seed=77), "bottleneck", "settled")
    assert nothing != nothing


def test_a_run_of_the_simulator_has_them_all(tmp_path: Path) -> None:
    text = """
format = 2
name = "small"
duration = "3 s"
[dumbbell]
rate = "5 Mbit/s"
rtt = "20 ms"
aqm = "duk"
[[dumbbell.flows]]
count = 4
transport = { ecn = true }
"""
    (tmp_path / "small.toml").write_text(text)
    (made,) = sojourn.run(tmp_path / "small.toml", out=tmp_path / "out").runs
    names = [metric.name for metric in RUN_METRICS]
    found = {name: METRICS[name].measure_run(made, "bottleneck", "whole run") for name in names}
    assert found["evaluations_per_s"] == pytest.approx(1000, rel=0.7)
    assert 0 < found["prob_mean_pct"] < 100
    assert 0 < found["square_law"] < 10


def test_delay_stays_within_a_bound_from_the_last_step_above_it_on() -> None:
    changed = [{"at_s": at_s, "to_s": at_s + 0.5} for at_s in (0.5, 1.0, 1.5, 2.0, 3.0)]
    delays_ms = {0.8: 99, 1.1: 50, 1.2: 30, 1.3: 41, 1.4: 40, 2.0: 60, 2.1: float("nan"), 2.2: 9}
    series = {
        "queue": ["bottleneck"] * len(delays_ms) + ["other"],
        "t_s": [*delays_ms, 1.5],
        "queue_delay_ms": [*map(float, delays_ms.values()), 99.0],
    }
    of = run(series=series)
    of.report["queues"][0]["steps"] = changed
    # Within the window are the changes at 1, 1.5 and 2 s; the second never comes back.
    assert value("step_within_40ms_s", of) == pytest.approx((0.3 + 0.5 + 0) / 3)
    assert value("step_within_100ms_s", of) == 0
    assert math.isnan(value("step_within_40ms_s", run(series=None)))
    assert "step_within_ms_s" not in METRICS


TIMES = times(
    ("fct", "users at A", 100, 70),
    ("fct", "users at A", 2_000, 9),
    ("fct", "users at B", 500, 20),
    ("fct", "users at B", 2_000_000, 1),
    ("page", "users at B", 900, 4),
    ("queue_delay", "users at A", 1, 500),
)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("fct_p70_s", 0.1),
        ("fct_p70.5_s", 0.5),
        ("fct_p80_s", 0.5),
        ("fct_p99_s", 2.0),
        ("fct_p99.9_s", 2000.0),
        ("fct_above_1000s_pct", 1.0),
        ("fct_above_0.3s_pct", 30.0),
        ("fct_p75_s of users at B", 0.5),
        ("fct_n of users at *", 100.0),
        ("fct_n of users at B", 21.0),
        ("fct_mean_s of users at A", (70 * 0.1 + 9 * 2.0) / 79),
        ("page_p10_s", 0.9),
    ],
)
def test_times_have_a_quantile_at_any_share_and_a_share_above_any_time(
    metric: str, expected: float
) -> None:
    of = run(distributions=TIMES)
    # Cells are a thousandth wide, and the middle of one is its value.
    assert value(metric, of) == pytest.approx(expected, rel=1e-3)


def test_times_that_there_are_not_have_no_quantiles() -> None:
    of = run(distributions=TIMES)
    for metric in ("fct_p50_s of others", "page_p50_s of users at A", "fct_above_1s_pct of none"):
        assert value(metric, of) != value(metric, of)
    assert value("fct_p50_s", run(distributions=None)) != 0


@pytest.mark.parametrize("metric", ["fct_p0_s", "fct_p100_s", "fct_p_s", "fct_above_s_pct"])
def test_a_share_that_is_none_is_no_metric(metric: str) -> None:
    assert metric not in METRICS
    with pytest.raises(InputError, match=f"unknown metric '{metric}'"):
        find(metric)
