# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Numbers that a metric computes from a report, on reports made by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
from sojourn.core.errors import InputError
from sojourn.result.metrics import METRICS, find
from sojourn.result.stats import Estimate, estimate


def report(*groups: tuple[str, bool, list[float]]) -> dict[str, Any]:
    """Groups: a name, whether it sends datagrams, and each flow's goodput in the second window; in
    the first each flow has 9."""

    def window(name: str, index: int) -> dict[str, Any]:
        return {
            "name": name,
            "groups": [
                {
                    "name": group,
                    "lost_pkts": 3 if is_udp else None,
                    "goodput_mbps": sum((9.0, goodput)[index] for goodput in goodputs),
                }
                for group, is_udp, goodputs in groups
            ],
        }

    return {
        "transport": [window("first", 0), window("second", 1)],
        "flows": [
            {"name": name, "goodput_mbps_of_windows": [9.0, goodput]}
            for name, _, goodputs in groups
            for goodput in goodputs
        ],
    }


MIXED = report(("a", False, [1.0, 3.0]), ("b", False, [2.0]), ("udp", True, [10.0, 4.0]))


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("goodput_tcp_mbps", 6.0),
        ("goodput_udp_mbps", 14.0),
        ("jain_tcp", 6.0**2 / (3 * (1 + 9 + 4))),
    ],
)
def test_a_metric_of_a_transport_is_over_all_its_flows_whatever_their_names(
    metric: str, expected: float
) -> None:
    assert find(metric).measure(MIXED, "bottleneck", "second") == pytest.approx(expected)


def test_each_window_has_its_own_goodputs() -> None:
    assert find("goodput_tcp_mbps").measure(MIXED, "bottleneck", "first") == pytest.approx(27)
    assert find("jain_tcp").measure(MIXED, "bottleneck", "first") == pytest.approx(1)


def test_of_no_flows_there_is_no_fairness() -> None:
    alone = report(("udp", True, [1.0]))
    assert math.isnan(find("jain_tcp").measure(alone, "bottleneck", "second"))
    assert math.isnan(find("goodput_tcp_mbps").measure(alone, "bottleneck", "second"))


def test_jain_is_one_where_all_have_the_same_and_one_over_n_where_one_has_all() -> None:
    for goodputs, expected in (([2.0] * 7, 1), ([0.0, 0.0, 5.0, 0.0], 1 / 4), ([0.0, 0.0], 1)):
        of_all = report(("a", False, goodputs))
        assert find("jain_tcp").measure(of_all, "bottleneck", "second") == pytest.approx(expected)


def test_mean_and_number_of_completion_times_are_those_of_the_report() -> None:
    times = {"fct_s": {"n": 3, "mean": 2.5, "p75": 4.0}}
    of_run = {"transport": [{"name": "whole", **times}]}
    assert find("fct_mean_s").measure(of_run, "bottleneck", "whole") == 2.5
    assert find("fct_n").measure(of_run, "bottleneck", "whole") == 3
    nothing = {"transport": [{"name": "whole", "fct_s": {"n": 0, "mean": None}}]}
    assert math.isnan(find("fct_mean_s").measure(nothing, "bottleneck", "whole"))
    assert find("fct_n").measure(nothing, "bottleneck", "whole") == 0


@pytest.mark.parametrize(
    ("metric", "found", "ends"),
    [
        ("drop_pct", Estimate(0.02, 0.05), (0.0, 0.07)),
        ("utilisation_pct", Estimate(99.9, 0.3), (99.6, 100.0)),
        # A packet on the edge of a window counts whole.
        ("utilisation_pct", Estimate(100.01, 0.02), (99.99, 100.01)),
        ("queue_pkts_cov_pct", Estimate(140.0, 30.0), (110.0, 170.0)),
        ("jain_tcp", Estimate(0.99, 0.03), (0.96, 1.0)),
        ("system_delay_mean_ms", Estimate(3.0, 4.0), (0.0, 7.0)),
    ],
)
def test_an_interval_ends_where_values_do(
    metric: str, found: Estimate, ends: tuple[float, float]
) -> None:
    assert METRICS[metric].interval(found) == pytest.approx(ends)


def test_one_seed_or_none_has_no_interval() -> None:
    assert METRICS["drop_pct"].interval(estimate([1.0])) == (-math.inf, math.inf)
    assert all(map(math.isnan, METRICS["drop_pct"].interval(estimate([]))))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("web.page_p90", "web.page_p90_s"),
        ("web.pagep95_s", "web.page_p95_s"),
        ("call.delay_p95", "call.delay_p95_ms"),
        ("call.dealy_p95_ms", "call.delay_p95_ms"),
        ("queue_delay_ms", "queue_delay_mean_ms"),
        ("queue_delay_p95", "queue_delay_p95_ms"),
        ("utilization_pct", "utilisation_pct"),
    ],
)
def test_an_unknown_metric_gets_the_nearest_one_that_there_is_with_its_place(
    name: str, meant: str
) -> None:
    with pytest.raises(InputError) as error:
        find(name)
    assert str(error.value) == f"unknown metric '{name}'. Did you mean '{meant}'?"
    assert find(meant).name == meant
