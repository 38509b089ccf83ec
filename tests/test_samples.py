# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Metrics of quantities with many values in a window, metrics with a place, and the overhead of
probes; on runs made by hand, and on one of the simulator."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sojourn
from sojourn.core.errors import InputError
from sojourn.result.metrics import METRICS, find
from sojourn.result.result import Run


def run(
    *,
    echoes: list[dict[str, Any]] | None = None,
    series: dict[str, list[Any]] | None = None,
    statistics: dict[str, list[Any]] | None = None,
    scenario: dict[str, Any] | None = None,
    queues: list[dict[str, Any]] | None = None,
) -> Any:
    """A run that has these tables alone, with windows from 1 to 4 s and over all of it."""
    windows = [
        {"name": "settled", "from_s": 1.0, "to_s": 4.0, "utilisation_pct": 100.0},
        {"name": "all", "from_s": 0.0, "to_s": 5.0, "utilisation_pct": 50.0},
    ]
    both = [{**window, "departed_pkts": 1000} for window in windows]
    queues = queues or [{"name": "up"}, {"name": "back"}]
    report = {"queues": [{"windows": both, **queue} for queue in queues], "echoes": echoes}
    return SimpleNamespace(
        report=report,
        labels={"aqm": "asqm"},
        group_series=lambda: pa.table(series) if series else None,
        statistics=lambda: pa.table(statistics) if statistics else None,
        entry=SimpleNamespace(scenario=lambda: scenario),
    )


def value(name: str, of: Any, window: str = "settled") -> float:
    return METRICS[name].measure_run(of, "up", window)


def ping(name: str, *pairs: tuple[float, float | None]) -> dict[str, Any]:
    return {"name": name, "sent_s": [at for at, _ in pairs], "rtt_ms": [rtt for _, rtt in pairs]}


def test_round_trips_are_of_pings_that_were_sent_in_the_window_and_came_back() -> None:
    of = run(
        echoes=[
            ping("ping 1", (0.9, 900.0), (1.0, 10.0), (2.0, None), (3.9, 30.0), (4.0, 900.0)),
            ping("ping 2", (2.0, 50.0)),
        ]
    )
    assert value("rtt_mean_ms", of) == pytest.approx(30)
    assert value("rtt_max_ms", of) == 50
    assert value("rtt_mean_ms of ping 1", of) == pytest.approx(20)
    assert value("rtt_mean_ms of ping *", of) == pytest.approx(30)
    assert np.isnan(value("rtt_p50_ms", run(echoes=None)))


def test_a_percentile_is_the_least_value_with_that_share_at_or_below_it() -> None:
    hundred = [(1 + n / 100, float(n + 1)) for n in range(100)]
    of = run(echoes=[ping("p", *hundred)])
    found = [value(f"rtt_{shape}_ms", of) for shape in ("p5", "p50", "p90", "p95")]
    assert found == [5, 50, 90, 95]
    assert value("rtt_sd_ms", of) == pytest.approx(np.std(np.arange(100)))


def flow(name: str, from_: str, to: str) -> dict[str, str]:
    return {"name": name, "from": from_, "to": to}


def halves(**goodput_mbps: list[float]) -> dict[str, list[Any]]:
    """A series of half seconds from 0 on."""
    rows = [
        (name, (step + 1) / 2, mbps)
        for name, every in goodput_mbps.items()
        for step, mbps in enumerate(every)
    ]
    groups, times, goodput = zip(*rows, strict=True)
    return {"group": list(groups), "t_s": list(times), "goodput_mbps": list(goodput)}


def test_bandwidth_is_that_of_a_node_in_each_second_of_the_window() -> None:
    flows = [flow("a", "user 1", "cdn"), flow("b", "cdn", "user 1"), flow("c", "user 2", "cdn")]
    of = run(
        scenario={"flows": flows},
        # The first second and the last lie outside the window.
        series=halves(
            a=[9, 9, 1, 3, 2, 2, 5, 3, 9, 9],
            b=[9, 9, 1, 1, 1, 1, 0, 0, 9, 9],
            c=[9, 9, 7, 7, 8, 8, 9, 9, 9, 9],
        ),
    )
    # User 1 has 3, 3 and 4, user 2 has 7, 8 and 9.
    assert value("bandwidth_mean_mbps of user 1", of) == pytest.approx(10 / 3)
    assert value("bandwidth_max_mbps of user 1", of) == pytest.approx(4)
    assert value("bandwidth_mean_mbps of user *", of) == pytest.approx(34 / 6)
    assert value("bandwidth_sd_mbps of user *", of) == pytest.approx(np.std([3, 3, 4, 7, 8, 9]))
    assert value("bandwidth_p5_mbps of user *", of) == pytest.approx(3)


def test_a_series_of_longer_steps_has_no_bandwidth_of_a_second() -> None:
    series: dict[str, list[Any]] = {
        "group": ["a", "a"],
        "t_s": [2.0, 4.0],
        "goodput_mbps": [1.0, 1.0],
    }
    of = run(scenario={"flows": [flow("a", "user", "cdn")]}, series=series)
    assert np.isnan(value("bandwidth_mean_mbps of user", of))
    assert np.isnan(value("bandwidth_mean_mbps of user", run()))


def test_a_metric_with_a_queue_is_of_that_queue_and_says_so() -> None:
    def entry(name: str, utilisation_pct: float) -> dict[str, Any]:
        window = {"name": "all", "from_s": 0.0, "to_s": 5.0, "utilisation_pct": utilisation_pct}
        return {"name": name, "windows": [window]}

    of = run(queues=[entry("up", 50.0), entry("access", 99.0)])
    assert value("utilisation_pct", of, "all") == 50
    metric = find("utilisation_pct of access")
    assert metric.measure_run(of, "up", "all") == 99
    assert (metric.label, metric.kind) == ("utilisation, access", "utilisation_pct")
    assert metric.most == 100


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("jain_tcp of up", "metric 'jain_tcp' has no place; leave out ' of up'"),
        ("rtt_p9_ms of ping", "unknown metric 'rtt_p9_ms'. Did you mean 'rtt_p99_ms'?"),
        ("utilisation_pct of ", "has no place"),
    ],
)
def test_a_metric_with_a_wrong_place_is_refused_with_a_sentence(name: str, sentence: str) -> None:
    assert name not in METRICS
    with pytest.raises(InputError, match=sentence.replace("?", r"\?")):
        find(name)


def link(name: str, **changes: Any) -> dict[str, Any]:
    plain = {"rate": 8_000_000, "schedule": [], "header": 14, "mpu": 0, "queue": {}}
    return {"name": name, **plain, "linklayer": "ethernet", "trace": None, **changes}


def probed(**changes: Any) -> Any:
    """5 s of 8 Mbit/s at 50 % are 2.5 MB, in 1,000 packets, beside 500 probes and 400 answers."""
    probes = {"left_pkts": 500, "left_bytes": 21_000, "answered_pkts": 400}
    scenario = {"duration": 5_000_000_000, "links": [link("up", **changes), link("back")]}
    return run(scenario=scenario, queues=[{"name": "up", "probes": probes}, {"name": "back"}])


def test_probes_are_a_share_of_what_the_link_sent_and_answers_of_what_the_other_did() -> None:
    data, probes, answers = 2_500_000, 500 * 42, 400 * 42
    of = probed()
    assert value("probes_pct", of, "all") == pytest.approx(100 * probes / (data + probes))
    ip = data - 14 * 1000
    assert value("probes_ip_pct", of, "all") == pytest.approx(100 * 14_000 / (ip + 14_000))
    # The other link's bytes have the answers in them, and it sends no probes of its own.
    assert value("answers_pct of back", of, "all") == pytest.approx(100 * answers / data)
    assert value("probes_pct of back", of, "all") == 0


def test_overhead_counts_a_rate_that_changes_and_needs_a_window_of_the_whole_run() -> None:
    slower = probed(schedule=[{"at": 4_000_000_000, "rate": 3_000_000}])
    data = (4 * 8 + 1 * 3) * 1e6 / 8 / 2
    assert value("probes_pct", slower, "all") == pytest.approx(100 * 21_000 / (data + 21_000))
    assert value("probes_pct", probed(), "settled") == value("probes_pct", probed(), "all")
    part = probed()
    part.report["queues"][0]["windows"].pop()
    assert np.isnan(value("probes_pct", part))
    assert np.isnan(value("probes_pct", probed(trace=[1]), "all"))
    assert np.isnan(value("probes_ip_pct", probed(mpu=64), "all"))


def test_the_error_of_probes_is_beside_the_delay_of_all_recorded_queues() -> None:
    of = run(
        statistics={
            "queue": ["up"] * 3,
            "t_s": [2.0, 3.0, 4.0],
            "statistic": ["srtt"] * 3,
            # No probe has come back at first.
            "value": [0.0, 100.0, 50.0],
        }
    )
    of.series = lambda: pa.table(
        {
            "queue": ["up", "access"] * 4,
            "t_s": [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0],
            "system_delay_ms": [9.0, 9.0, 9.0, 9.0, 10.0, 80.0, float("nan"), 70.0],
        }
    )
    assert value("sense_error_ms", of) == pytest.approx((10 + 20) / 2)
    of.statistics = lambda: None
    assert np.isnan(value("sense_error_ms", of))


def slowing(windows: list[float], dropping: list[int]) -> Any:
    """Two senders, each with this window at each step."""
    many = len(windows)
    at = [1 + (n + 1) * 0.1 for n in range(many)]
    return run(
        series={
            "group": ["a"] * many,
            "t_s": at,
            "connections": [2.0] * many,
            "cwnd_pkts": windows,
        },
        statistics={
            "queue": ["up"] * many,
            "t_s": at,
            "statistic": ["dropping"] * many,
            "value": [float(step) for step in dropping],
        },
    )


def test_a_slowdown_along_a_line_is_straight_and_other_slowdowns_are_less() -> None:
    episode = [0, 0, *[1] * 20, 0, 1, 1]
    line = [500.0, 700.0, *(1000.0 - 20 * n for n in range(20)), 900.0, 100.0, 50.0]
    assert value("slowdown_r2", slowing(line, episode)) == pytest.approx(1)
    at_once = [500.0, 700.0, 1000.0, *[100.0] * 19, 900.0, 100.0, 50.0]
    assert value("slowdown_r2", slowing(at_once, episode)) < 0.3
    rising = list(reversed(line))
    assert value("slowdown_r2", slowing(rising, list(reversed(episode)))) == 0
    assert np.isnan(value("slowdown_r2", slowing(line, [0] * 20 + [1] * 5)))
    assert np.isnan(value("slowdown_r2", slowing(line, [0] * 25)))


SMALL = """
format = 2
name = "small"
duration = "6 s"
nodes = ["user", "modem", "cdn"]

[[cables]]
name = "lan"
between = ["user", "modem"]
delay = "10 ms"

[[cables]]
name = "up"
between = ["modem", "cdn"]
rate = "4 Mbit/s"
delay = "5 ms"
queue = "asqm"
back = { queue = "fifo" }

[[flows]]
name = "bulk"
from = "user"
to = "cdn"
count = 2

[[flows]]
name = "ping"
from = "user"
to = "cdn"
app = { kind = "ping", interval = "50 ms" }
transport = "udp"

[record]
queues = ["up", "up back"]
windows = [{ name = "all", from = "0 s", to = "6 s" }]
series = "100 ms"
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.toml").write_text(SMALL)
    return sojourn.run(folder / "small.toml", aqms=["asqm"], out=folder / "out").runs[0]


def test_a_run_of_the_simulator_has_them_all(small: Run) -> None:
    found = {
        name: METRICS[name].measure_run(small, "up", "all")
        for name in (
            "rtt_p5_ms",
            "rtt_p95_ms of ping",
            "bandwidth_mean_mbps of user",
            "utilisation_pct of up back",
            "probes_pct",
            "probes_ip_pct",
            "answers_pct of up back",
        )
    }
    assert 30 <= found["rtt_p5_ms"] < found["rtt_p95_ms of ping"] < 2000
    assert found["bandwidth_mean_mbps of user"] == pytest.approx(3.6, abs=0.4)
    assert 0.4 < found["probes_ip_pct"] < found["probes_pct"] < 1.2
    assert found["utilisation_pct of up back"] < 10
    # Acknowledgements of 40 to 52 bytes for each or each second packet, an answer for each fourth.
    assert 10 < found["answers_pct of up back"] < 40
