# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The delay-utilisation curve of an experiment, its knees, and the figure of it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest
from rich.console import Console
from sojourn.core.errors import InputError
from sojourn.papers import report
from sojourn.papers.curve_figure import Point, Work, charts, knee, rows, summary, words, works
from sojourn.papers.experiment import Experiment, find
from sojourn.papers.page import html
from sojourn.papers.reproduce import Reproduction, reproduce
from sojourn.result.metrics import METRICS
from sojourn.runs.executor import Runner
from sojourn.runs.run import run_cases
from sojourn.show.chart import NARROW_IN, WIDE_IN
from sojourn.show.drawing import draw
from sojourn.store.store import Store

from tests.reproductions import names_of_charts


def of_queue(s: float, steps: int = 200) -> list[Point]:
    """The curve of the queue M/D/1 with the service time s, up to 95 %."""
    loads = [0.95 * n / steps for n in range(1, steps + 1)]
    return [Point(f"{u:g}", 100 * u, s * (1 + u / 2 / (1 - u))) for u in loads]


@pytest.mark.parametrize("unit", [1.0, 3.0, 10.0])
def test_the_knee_of_a_known_curve_is_where_calculus_has_it(unit: float) -> None:
    s = 0.596
    found = knee(of_queue(s), unit).point
    assert found
    share = 1 - (s / 2 / unit) ** 0.5
    assert found.x == pytest.approx(100 * share, abs=0.05)
    assert found.y == pytest.approx(s * (1 + share / 2 / (1 - share)), rel=0.002)


def test_the_measured_curve_of_duks_figure_1_is_that_of_its_closed_form(tmp_path: Path) -> None:
    (experiment,) = find(["duk/curve"])
    (queue,) = (c for c in experiment.contenders() if c.name == experiment.data["figure"]["of"])
    seeds, s = range(1, 11), 1490 * 8 / 20e3
    wanted = [f"drop, {load} %" for load in (30, 40, 50, 60)]
    signals = [signal for signal in experiment.signals() if signal.name in wanted]
    cases = [experiment.case(queue, signal) for signal in signals]
    runs = run_cases(cases, seeds, Runner(Store(tmp_path), workers=1))
    place = experiment.data["queue"], experiment.data["window"]
    points = []
    for signal in signals:
        x, y = (
            fmean(
                METRICS[metric].measure_run(run, *place)
                for run in runs
                if run.labels["signal"] == signal.name
            )
            for metric in ("utilisation_pct", "system_delay_mean_ms")
        )
        points.append(Point(signal.name, x, y))
        assert y == pytest.approx(s * (1 + x / 2 / (100 - x)), rel=0.004)
    found = knee(points, 1.0).point
    assert found
    assert found.x == pytest.approx(100 * (1 - (s / 2) ** 0.5), abs=1)


def test_a_unit_that_the_curve_never_has_has_no_knee() -> None:
    assert knee(of_queue(0.596), 0.1) == replace(knee([], 0.1), steeper=True)
    assert knee(of_queue(0.596), 1e6).point is None
    assert not knee(of_queue(0.596), 1e6).steeper


def test_a_knee_lies_on_the_curve_however_far_apart_its_points_are() -> None:
    points = [Point("", 100 * u, 0.596 * (1 + u / 2 / (1 - u))) for u in (0.5, 0.7, 0.8, 0.9, 0.95)]
    found = knee(points, 10.0).point
    assert found and 80 < found.x < 90
    share = (found.x - 80) / 10
    assert found.y == pytest.approx(points[2].y ** (1 - share) * points[3].y ** share)


def test_a_host_that_ran_none_of_it_has_no_figure_and_no_knee(small: Reproduction) -> None:
    nothing = {"linux": small.judged["sim"]}
    both = replace(small, judged={**small.judged, **nothing})
    assert [work.host for work in works(both)] == ["sim"]
    sink = io.StringIO()
    report.print_tables(both, Console(file=sink, width=200))
    assert sink.getvalue().count("No knee for 0.1 ms") == 1


def test_points_without_a_number_and_points_that_do_not_grow_are_left_out() -> None:
    nothing = float("nan")
    points = of_queue(0.596)
    points = [*points[:50], Point("", nothing, nothing), replace(points[50], x=points[49].x)]
    points += of_queue(0.596)[51:]
    found = knee(points, 1.0).point
    assert found and found.x == pytest.approx(45.4, abs=0.5)
    assert knee([Point("", nothing, nothing)] * 3, 1.0).point is None
    assert knee([Point("", 50.0, 1.0)], 1.0).point is None
    back = [Point("", x, y) for x, y in ((60.0, 1.0), (70.0, 1.01), (40.0, 1.1), (50.0, 2.0))]
    assert knee(back, 1.0).point


def short() -> Experiment:
    """The experiment of the paper with three loads of two seconds."""
    (experiment,) = find(["duk/curve"])
    (axis,) = experiment.data["axes"]
    loads = [
        value for value in axis["values"] if value["name"] in ("50 %", "80 %", "95 %", "120 %")
    ]
    data = {**experiment.data, "axes": [{**axis, "values": loads}]}
    found = replace(experiment, data=data)

    def change(scenario: dict) -> None:  # type: ignore[type-arg]
        scenario["duration"] = "7 s"
        scenario["record"]["windows"] = [{"name": "settled", "from": "1 s", "to": "7 s"}]

    found.__dict__["scenario"] = experiment.scenario.replace(change)
    found.__dict__["claims"] = lambda: ([], set())
    return found


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reproduction]:
    yield reproduce(short(), quick=True, out=tmp_path_factory.mktemp("curve"))


@pytest.fixture(scope="module")
def work(small: Reproduction) -> Work:
    (found,) = works(small)
    return found


def test_the_curve_ends_where_the_queue_would_grow_for_ever_and_the_others_do_not(
    work: Work,
) -> None:
    assert [point.text for point in work.curve.points] == ["50 %", "80 %", "95 %"]
    assert [trail.algorithm for trail in work.beside] == ["DUK", "CoDel", "PIE"]
    assert all(trail.points[-1].text == "120 %" for trail in work.beside)


def test_duk_works_below_the_curve_where_codel_follows_it(work: Work) -> None:
    duk, codel, _ = work.beside
    assert duk.points[1].x < 75 < codel.points[1].x
    assert duk.points[-1].y < 5 < codel.points[-1].y


def test_words_summary_and_rows_have_the_same_numbers(work: Work) -> None:
    said, told = words(work), " ".join(summary(work))
    assert len(rows(work)) == 3 + 3 * 4 + 3
    assert "No knee for 0.1 ms: the curve is steeper all along." in said
    assert "No knee for 0.1 ms: the curve is steeper all along." in told
    last = work.beside[0].points[-1]
    assert f"at 120 % {last.y:.2f} with {last.x:.2f}" in said
    assert f"utilisation {last.x:.2f} %, system delay, mean {last.y:.2f} ms" in told


def test_the_axis_of_the_csv_is_a_number_and_a_knee_has_none(small: Reproduction) -> None:
    (chart,) = charts(small)
    assert [chart.name] == names_of_charts(small)
    head, *lines = chart.csv().splitlines()
    assert head == "algorithm,load (%),utilisation_pct,system_delay_mean_ms"
    loads = [line.split(",")[1] for line in lines]
    assert loads[3:7] == ["50", "80", "95", "120"]
    assert [line.split(",")[:2] for line in lines[-2:]] == [
        ["knee for 1 ms", ""],
        ["knee for 10 ms", ""],
    ]


@pytest.mark.parametrize("width_in", [WIDE_IN, NARROW_IN])
def test_nothing_is_cut_off(small: Reproduction, width_in: float) -> None:
    (chart,) = charts(small)
    figure = draw(chart, width_in)
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    assert box.x0 >= -0.01 and box.x1 <= width_in + 0.01
    assert box.y0 >= -0.01 and box.y1 <= figure.get_size_inches()[1] + 0.01


@pytest.mark.parametrize("width", [40, 200])
def test_the_report_has_the_figure_once_and_the_terminal_the_knees(
    small: Reproduction, width: int
) -> None:
    sink = io.StringIO()
    report.print_tables(small, Console(file=sink, width=width, force_terminal=False))
    assert "No knee for 0.1 ms" in " ".join(sink.getvalue().split())
    page = html([small])
    assert page.count("Curve: system delay, mean (ms) over utilisation (%)") == 2  # wide and narrow


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("of", "no AQN", r"'no AQN': there is no such algorithm. Did you mean 'no AQM'\?"),
        ("beside", ["DUCK"], "'DUCK': there is no such algorithm"),
        ("axis", "loads", "axis = 'loads': there is no such axis"),
        ("until", "96 %", "until = '96 %': the axis has no such value"),
    ],
)
def test_a_figure_that_asks_for_what_is_not_there_is_refused(
    small: Reproduction, key: str, value: object, said: str
) -> None:
    data = small.experiment.data
    wrong = replace(small.experiment, data={**data, "figure": {**data["figure"], key: value}})
    with pytest.raises(InputError, match=said):
        list(works(replace(small, experiment=wrong)))
