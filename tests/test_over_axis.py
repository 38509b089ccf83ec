# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Figures and tables of an experiment over an axis, on a small one that runs in a second."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from rich.console import Console
from sojourn.core.errors import InputError
from sojourn.core.text import Column
from sojourn.papers import report
from sojourn.papers.axis_figure import charts, panel, rows_of, scale_of, words
from sojourn.papers.experiment import Experiment, find
from sojourn.papers.page import html
from sojourn.papers.reasons import Measured
from sojourn.papers.reproduce import Reproduction, reproduce
from sojourn.show.chart import NARROW_IN, WIDE_IN, Chart, Panel
from sojourn.show.drawing import draw
from sojourn.show.page import number, spread

from tests.reproductions import names_of_charts

# The paper's five, of all that run.
NAMES = ("CFD", "RED", "gCHOKe", "CoDel", "PIE")


def small_experiment() -> Experiment:
    """Three of CFD's UDP rates beside two TCP flows, for ten seconds."""
    (experiment,) = find(["cfd/udp-rate"])
    (axis,) = experiment.data["axes"]
    ablations = [of for of in experiment.data["ablations"] if of["name"] != "10 Mbit/s"]
    data = {
        **experiment.data,
        "axes": [{**axis, "values": axis["values"][3:6]}],
        "ablations": ablations[:3],
        "algorithms": [of for of in experiment.data["algorithms"] if of["name"] in NAMES],
        "also": [],
    }
    made = replace(experiment, data=data)

    def shorten(scenario: dict[str, Any]) -> None:
        scenario["duration"] = "10 s"
        scenario["record"]["windows"][0]["to"] = "10 s"
        scenario["dumbbell"]["flows"][0]["count"] = 2

    made.__dict__["scenario"] = experiment.scenario.replace(shorten)
    return made


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return reproduce(small_experiment(), quick=True, out=tmp_path_factory.mktemp("axis"))


@pytest.fixture(scope="module")
def chart(small: Reproduction) -> Chart:
    return next(charts(small))


CELLS = ("drop, 0.4 Mbit/s", "drop, 0.5 Mbit/s", "drop, 0.6 Mbit/s")
SCALE = scale_of("UDP rate", ["0.4 Mbit/s", "0.5 Mbit/s", "0.6 Mbit/s"])


@pytest.fixture(scope="module")
def lines(small: Reproduction) -> dict[str, list[Measured]]:
    """Jain's index of each algorithm along the axis."""
    return {name: [small.cell("sim", cell, name, "jain") for cell in CELLS] for name in NAMES}


def drawn(panel: Panel, width_in: float = WIDE_IN) -> Axes:
    (axes,) = draw(Chart("name", "", "", [panel], ""), width_in).axes
    return axes


def test_values_of_one_unit_are_numbers_and_others_places_in_a_row() -> None:
    rates = scale_of("UDP rate", ["0.1 Mbit/s", "0.25 Mbit/s"])
    assert (rates.label, rates.places, rates.is_numeric) == ("UDP rate (Mbit/s)", (0.1, 0.25), True)
    flows = scale_of("TCP flows", ["5 flows", "50 flows"])
    assert (flows.label, flows.places) == ("TCP flows", (5, 50))
    assert scale_of("n", ["5", "50"]).label == "n"
    mixed = scale_of("link", ["1 Mbit/s", "10 ms", "DSL"])
    assert (mixed.label, mixed.places, mixed.is_numeric) == ("link", (0, 1, 2), False)


def test_a_figure_over_an_axis_has_each_signal_and_metric_once(small: Reproduction) -> None:
    found = list(charts(small))
    assert [of.name for of in found] == names_of_charts(small)
    assert [(of.cell, of.columns[2], of.host) for of in found] == [
        (CELLS[0], "jain", "sim"),
        (CELLS[0], "queue_delay_mean_ms", "sim"),
    ]


@pytest.mark.parametrize("width_in", [WIDE_IN, NARROW_IN])
def test_lines_are_the_measured_means_with_their_intervals(
    chart: Chart, lines: dict[str, list[Measured]], width_in: float
) -> None:
    (axes,) = draw(chart, width_in).axes
    bars = axes.containers
    assert tuple(bar.get_label() for bar in bars) == NAMES
    for bar, name in zip(bars, NAMES, strict=True):
        line, _, (interval,) = bar
        found = lines[name]
        assert list(line.get_ydata()) == [cell.estimate.mean for cell in found]
        ends = [segment[:, 1].tolist() for segment in interval.get_segments()]
        assert np.allclose(ends, [cell.interval for cell in found])
        assert np.max(ends) <= 1
        # Beside each other, and nearer to their own value than to the next.
        assert line.get_xdata() == pytest.approx([0.4, 0.5, 0.6], abs=0.005)


def test_lines_are_told_apart_without_colour(chart: Chart) -> None:
    (axes,) = draw(chart).axes
    lines = [bar[0] for bar in axes.containers]
    assert len({line.get_marker() for line in lines}) == len(lines)
    looks = {repr(line._unscaled_dash_pattern) for line in lines}
    assert len(looks) == len(lines)


@pytest.mark.parametrize(
    ("count", "numbers"),
    [
        (3, [0, 1, 2]),
        (7, [0, 2, 4, 6]),
        (8, [1, 3, 5, 7]),
        (9, [0, 2, 4, 6, 8]),
        (10, [0, 3, 6, 9]),
    ],
)
def test_on_a_telephone_the_last_value_of_the_axis_has_its_number(
    lines: dict[str, list[Measured]], count: int, numbers: list[int]
) -> None:
    scale = scale_of("t", [f"{value} s" for value in range(count)])
    repeated = {name: [cells[0]] * count for name, cells in lines.items()}
    axes = drawn(panel(scale, "jain", repeated), NARROW_IN)
    assert [int(tick) for tick in axes.get_xticks()] == numbers


@pytest.mark.parametrize(
    ("metric", "ends", "scale"),
    [
        ("queue_delay_mean_ms", (20.0, 400.0), "log"),
        ("queue_delay_mean_ms", (50.0, 400.0), "linear"),
        ("queue_delay_mean_ms", (0.0, 400.0), "linear"),
        ("fct_mean_s", (20.0, 400.0), "linear"),
    ],
)
def test_delays_that_span_decades_are_not_squeezed_at_the_bottom(
    lines: dict[str, list[Measured]], metric: str, ends: tuple[float, float], scale: str
) -> None:
    two = {
        name: [replace(cell, values=(end,) * 3) for cell in lines[name]]
        for name, end in zip(NAMES, ends, strict=False)
    }
    axes = drawn(panel(SCALE, metric, two))
    assert axes.get_yscale() == scale


@pytest.mark.parametrize("width_in", [WIDE_IN, NARROW_IN])
def test_nothing_is_cut_off(chart: Chart, width_in: float) -> None:
    figure = draw(chart, width_in)
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    assert box.x0 >= -0.01 and box.x1 <= width_in + 0.01
    assert box.y0 >= -0.01 and box.y1 <= figure.get_size_inches()[1] + 0.01


def test_the_words_have_every_number_of_the_figure(
    chart: Chart, lines: dict[str, list[Measured]]
) -> None:
    said = chart.words
    assert "Jain's index over UDP rate (Mbit/s), 0.4 Mbit/s, 0.5 Mbit/s and 0.6 Mbit/s" in said
    for name, cells in lines.items():
        values = ", ".join(number(cell.estimate.mean) for cell in cells)
        assert f"{name} {values}" in said
    assert len(chart.rows) == 5 * 3
    assert chart.rows[0][:3] == ("CFD", 0.4, lines["CFD"][0].estimate.mean)


@pytest.mark.parametrize("width", [NARROW_IN, WIDE_IN])
def test_a_legend_of_ten_lines_leaves_its_picture_as_high_as_it_is_alone(
    small: Reproduction, width: float
) -> None:
    also = [
        {**of, "name": f"{of['name']}, with other thresholds"}
        for of in small.experiment.data["algorithms"]
    ]
    experiment = replace(small.experiment, data={**small.experiment.data, "also": also})
    chart = next(charts(replace(small, experiment=experiment)))
    figure = draw(chart, width)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert len(figure.legends[0].get_texts()) == 10
    assert axes.get_position().height * figure.get_figheight() > 2.5


def test_a_single_seed_has_no_interval_and_what_was_not_measured_no_point(
    lines: dict[str, list[Measured]],
) -> None:
    def with_one(mean: float) -> dict[str, list[Measured]]:
        return {name: [replace(c, values=(mean,)) for c in cells] for name, cells in lines.items()}

    axes = drawn(panel(SCALE, "fct_mean_s", with_one(3.0)))
    assert axes.get_ylim() == pytest.approx((0, 3.15))
    nothing = with_one(float("nan"))
    drawn(panel(SCALE, "fct_mean_s", nothing))
    assert "CFD –, –, –" in words("drop", SCALE, "fct_mean_s", nothing)


def test_the_tables_have_a_row_for_each_value_and_for_each_ablation(small: Reproduction) -> None:
    over = {table.title.split(" over ")[0]: table for table in report.over(small)}
    table = over["Jain's index"]
    assert table.labels == [Column("UDP rate (Mbit/s)", ("0.4", "0.5", "0.6"))]
    assert tuple(table.headings[1:]) == NAMES
    cell = small.cell("sim", "drop, 0.5 Mbit/s", "PIE", "jain")
    assert table.columns[4].cells[1] == spread(cell.estimate)
    changed, *_ = report.ablated(small)
    assert changed.rows[0][0] == "as above" and len(changed.rows) == 4
    assert changed.columns[3].cells[2] == "–", "an ablation of CFD alone"
    assert changed.columns[0].cells[2] != "–"


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_number_is_cut_on_a_terminal(small: Reproduction, width: int) -> None:
    sink = io.StringIO()
    report.print_tables(small, Console(file=sink, width=width, force_terminal=False))
    printed = sink.getvalue()
    assert "…" not in printed
    for name in NAMES:
        found = small.cell("sim", "drop, 0.6 Mbit/s", name, "queue_delay_mean_ms").estimate
        assert spread(found) in re.sub(r"\s+", " ", printed)


def test_the_page_has_its_network_and_each_figure_once(small: Reproduction) -> None:
    page = html([small])
    assert page.count("<figure>") == 3
    said = ": mean of 3 seeds with its 95 % interval"
    assert (
        page.count(f"Figure 3 (left){said}") == page.count(f"Not a figure of the paper{said}") == 1
    )


def test_a_table_of_what_is_not_in_print_does_not_say_that_it_is(small: Reproduction) -> None:
    titles = [table.title for table in report.over(small)]
    printed = [title for title in titles if title.endswith("(Figure 3 (left))")]
    assert [title.split(" over ")[0] for title in printed] == ["Jain's index"]
    assert all(title.endswith("(measured too)") for title in titles if title not in printed)


def test_an_axis_that_is_not_there_is_named_with_those_that_are() -> None:
    experiment = small_experiment()
    figure = {**experiment.data["figure"], "x": "UDP rat"}
    wrong = replace(experiment, data={**experiment.data, "figure": figure})
    with pytest.raises(InputError, match=r"toml: figure.x = 'UDP rat'.*Did you mean 'UDP rate'"):
        rows_of(wrong)
