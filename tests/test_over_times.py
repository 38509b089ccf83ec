# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Completion times of an experiment, as curves of their body and tail; on a small paper that runs
in a second."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sojourn.core.errors import InputError
from sojourn.papers.experiment import find
from sojourn.papers.page import html
from sojourn.papers.reproduce import Reproduction, reproduce
from sojourn.papers.times_figure import charts
from sojourn.result.metrics import METRICS
from sojourn.show.chart import NARROW_IN, WIDE_IN
from sojourn.show.drawing import draw

from tests.reproductions import names_of_charts

PAPER = """
title = "Small"
source = "A test, 2026"
seeds = 2
quick_seeds = 2
queue = "bottleneck"
algorithms = [{ name = "CoDel", algorithm = "codel" }, { name = "FIFO", algorithm = "fifo" }]
"""
EXPERIMENT = """
title = "Small, completion times"
window = "all"

[[signals]]
name = "slow"
table = "Figure 3"
metrics = ["fct_p10_s", "fct_p80_s of users", "fct_above_1s_pct", "ip_mbps"]

[[signals]]
name = "fast"
table = "Figure 3"
metrics = ["fct_p80_s"]
set = { "dumbbell.rate" = "1 Gbit/s" }
only = ["FIFO"]

[figure]
kind = "times"
groups = "users"
beside = { slow = ["fast", "FIFO"] }
"""
CLAIMS = """
[[claims]]
id = "small/shortest"
text = "the shortest 80 % are no faster under FIFO"
source = "Figure 3"
metrics = ["fct_p10_s", "fct_p80_s of users"]
relation = "less"
factor = 2
quorum = "most"
where = { signal = "slow" }
left = "CoDel"
right = ["FIFO"]
"""
SCENARIO = """
format = 2
name = "small"
duration = "6 s"

[dumbbell]
rate = "1 Mbit/s"
rtt = "20 ms"
header = "ethernet"

[[dumbbell.senders]]
name = "s"
count = 2

[[dumbbell.receivers]]
name = "r"
count = 2

[[dumbbell.flows]]
name = "users"
count = 8
app = { kind = "web", think = "300 ms" }

[[dumbbell.flows]]
name = "others"
from = "receivers"
app = { kind = "web", think = "300 ms" }

[record]
windows = [{ name = "all", from = "0 s", to = "6 s" }]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("times") / "small"
    (folder / "1").mkdir(parents=True)
    (folder / "paper.toml").write_text(PAPER)
    (folder / "1/experiment.toml").write_text(EXPERIMENT)
    (folder / "1/scenario.toml").write_text(SCENARIO)
    (folder / "1/claims.toml").write_text(CLAIMS)
    return folder


@pytest.fixture(scope="module")
def small(folder: Path) -> Reproduction:
    (experiment,) = find([str(folder)])
    experiment.check()
    return reproduce(experiment, out=folder.parent / "out")


def test_a_cell_has_one_figure_of_body_and_tail_with_what_is_beside_it(
    small: Reproduction,
) -> None:
    (chart,) = charts(small)
    assert [chart.name] == names_of_charts(small)
    assert chart.cell == "slow"
    for panel in chart.panels:
        assert [curve.name for curve in panel.curves] == ["CoDel", "FIFO", "FIFO, fast"]
        assert panel.x_log
    body, tail = chart.panels
    assert tail.y_log and not body.y_log
    for down, up in zip(body.curves, tail.curves, strict=True):
        assert down.y[-1] == 1 and np.all(np.diff(down.y) > 0)
        assert len(up.y) == len(down.y) - 1 and min(up.y) > 0


def test_a_curve_is_of_the_chosen_groups_and_all_seeds(small: Reproduction) -> None:
    (chart,) = charts(small)
    runs = small.runs("sim", "slow", "CoDel")
    metric = METRICS["fct_n of users"]
    count = sum(metric.measure_run(run, "bottleneck", "all") for run in runs)
    assert len(runs) == 2
    least = chart.panels[0].curves[0].y[0] * count
    assert least == pytest.approx(round(least)) and least >= 1
    everyone = sum(METRICS["fct_n"].measure_run(run, "bottleneck", "all") for run in runs)
    assert 100 < count < everyone


@pytest.mark.parametrize("width_in", [WIDE_IN, NARROW_IN])
def test_nothing_is_cut_off(small: Reproduction, width_in: float) -> None:
    (chart,) = charts(small)
    figure = draw(chart, width_in)
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    assert box.x0 >= -0.01 and box.x1 <= width_in + 0.01


def test_the_page_has_figure_and_metrics(small: Reproduction) -> None:
    page = html([small])
    assert "80th and 99.9th percentile" in page
    assert "completion time, 10th percentile" in page


@pytest.mark.parametrize(
    ("right", "wrong", "sentence"),
    [
        (
            'slow = ["fast"',
            'slow = ["fats"',
            "figure.beside: no cell is 'fats'. Did you mean 'fast'?",
        ),
        (
            'kind = "times"',
            'kind = "times"\nof = "fcts"',
            "there is no such quantity. Did you mean 'fct'?",
        ),
    ],
)
def test_a_mistake_of_the_figure_is_named(
    folder: Path, tmp_path: Path, right: str, wrong: str, sentence: str
) -> None:
    other = tmp_path / "small"
    (other / "1").mkdir(parents=True)
    for file in folder.rglob("*.toml"):
        text = file.read_text().replace(right, wrong)
        (other / file.relative_to(folder)).write_text(text)
    (experiment,) = find([str(other)])
    with pytest.raises(InputError) as caught:
        list(charts(reproduce(experiment, out=tmp_path / "out")))
    assert sentence in str(caught.value)


def test_a_metric_of_no_group_is_refused(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "small"
    (other / "1").mkdir(parents=True)
    for file in folder.rglob("*.toml"):
        text = file.read_text().replace("fct_p80_s of users", "fct_p80_s of user")
        (other / file.relative_to(folder)).write_text(text)
    (experiment,) = find([str(other)])
    with pytest.raises(InputError, match="has no such groups"):
        experiment.check()
