# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Distributions of an experiment's round trips and bandwidths, on a small paper that runs in a
second."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sojourn.core.errors import InputError
from sojourn.papers.cdf_figure import SHARES, charts
from sojourn.papers.experiment import Experiment, find
from sojourn.papers.page import html
from sojourn.papers.reproduce import Reproduction, reproduce
from sojourn.result.metrics import METRICS
from sojourn.show.chart import NARROW_IN, WIDE_IN
from sojourn.show.drawing import draw

from tests.reproductions import names_of_charts
from tests.test_samples import SMALL

PAPER = """
title = "Small"
source = "A test, 2026"
seeds = 2
quick_seeds = 2
queue = "up"
algorithms = [{ name = "CoDel", algorithm = "codel" }, { name = "ASQM", algorithm = "asqm" }]
"""
EXPERIMENT = """
title = "Small, round trips"
window = "all"

[[signals]]
name = "drop"
table = "Figure 1"
metrics = ["rtt_p95_ms", "bandwidth_sd_mbps of user", "utilisation_pct of up back"]

[[axes]]
name = "way"
values = [
    { name = "30 ms", set = { "links.up.delay" = "5 ms" } },
    { name = "60 ms", set = { "links.up.delay" = "35 ms" } },
]

[figure]
kind = "cdf"
of = ["rtt", "bandwidth of user"]
axis = "way"
"""
CLAIMS = """
[[claims]]
id = "small/range"
text = "the delay is at most half a second longer than the way"
source = "Figure 1"
metrics = ["rtt_p95_ms"]
relation = "between"
left = "CoDel"
value = { way = { "30 ms" = [30, 530], "60 ms" = [60, 560] } }
"""


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cdf") / "small"
    (folder / "1").mkdir(parents=True)
    (folder / "paper.toml").write_text(PAPER)
    (folder / "1/experiment.toml").write_text(EXPERIMENT)
    (folder / "1/scenario.toml").write_text(SMALL)
    (folder / "1/claims.toml").write_text(CLAIMS)
    return folder


@pytest.fixture(scope="module")
def small(paper: Path) -> Reproduction:
    (experiment,) = find([str(paper)])
    experiment.check()
    return reproduce(experiment, out=paper.parent / "out")


def test_each_quantity_has_a_figure_with_a_panel_for_each_algorithm(small: Reproduction) -> None:
    trips, bandwidth = charts(small)
    assert [trips.name, bandwidth.name] == names_of_charts(small)
    for chart in (trips, bandwidth):
        assert [panel.title for panel in chart.panels] == ["CoDel", "ASQM"]
        assert [c.name for c in chart.panels[0].curves] == ["30 ms", "60 ms"]
        assert chart.cell == "drop, 30 ms"
    assert trips.columns == ("algorithm", "way", "share", "rtt_ms")
    assert bandwidth.panels[0].x == "bandwidth in a second (Mbit/s)"


def test_a_curve_has_the_values_of_all_seeds(small: Reproduction) -> None:
    trips, _ = charts(small)
    runs = small.runs("sim", "drop, 60 ms", "ASQM")
    metric = METRICS["rtt_p50_ms"]
    every = np.concatenate([metric.values(run, "up", "all") for run in runs])  # type: ignore[attr-defined]
    curve = trips.panels[1].curves[1]
    assert list(curve.y) == list(SHARES)
    assert curve.x[100] == np.quantile(every, 0.5, method="inverted_cdf")
    assert curve.x[0] == every.min() and curve.x[-1] == every.max()
    said = f"{np.quantile(every, 0.95, method='inverted_cdf'):.2f}"
    assert "at 60 ms" in trips.words and said[:4] in trips.words


@pytest.mark.parametrize("width_in", [WIDE_IN, NARROW_IN])
def test_nothing_is_cut_off(small: Reproduction, width_in: float) -> None:
    for chart in charts(small):
        figure = draw(chart, width_in)
        figure.draw_without_rendering()
        box = figure.get_tightbbox()
        assert box.x0 >= -0.01 and box.x1 <= width_in + 0.01


def test_the_page_has_the_figures_and_the_metrics_with_their_places(small: Reproduction) -> None:
    page = html([small])
    assert page.count("2 seeds together.") == 2
    assert "utilisation, up back (%)" in page


def test_a_claim_has_a_number_of_its_own_for_each_value_of_an_axis(small: Reproduction) -> None:
    (decision,) = small.decisions
    assert [check.bounds for check in decision.checks] == [(30, 530), (60, 560)]
    assert decision.verdict == "holds"


def test_a_claim_fails_where_one_cell_is_out_of_its_own_range(paper: Path) -> None:
    wrong = CLAIMS.replace("[60, 560]", "[30, 59]")
    (paper / "1/claims.toml").write_text(wrong)
    try:
        (experiment,) = find([str(paper)])
        again = reproduce(experiment, out=paper.parent / "out")
        assert [check.verdict for check in again.decisions[0].checks] == ["holds", "not found here"]
    finally:
        (paper / "1/claims.toml").write_text(CLAIMS)


def experiment_of(paper: Path, folder: Path, change: Callable[[str], str], file: str) -> Experiment:
    for name in ("paper.toml", "1/scenario.toml", "1/experiment.toml", "1/claims.toml"):
        text = (paper / name).read_text()
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(change(text) if name.endswith(file) else text)
    (experiment,) = find([str(folder)])
    return experiment


@pytest.mark.parametrize(
    ("file", "right", "wrong", "sentence"),
    [
        ("experiment.toml", "mbps of user", "mbps of usr", "has no such nodes. Did you mean"),
        ("experiment.toml", "mbps of user", "mbps", "needs nodes, as in 'bandwidth_sd_mbps of"),
        ("experiment.toml", "pct of up back", "pct of up*", "'utilisation_pct of up\\*': the"),
        ("experiment.toml", "rtt_p95_ms", "rtt_p95_ms of pong", "has no such pings"),
        ("claims.toml", '"60 ms" =', '"70 ms" =', "value.way has no number for '60 ms'; add it"),
        ("claims.toml", "{ way =", "{ a = 1, way =", "NUMBER } } has one axis"),
        ("claims.toml", "[60, 560]", "60", "value = 60; it is a number, or with relation"),
    ],
)
def test_a_mistake_is_told_before_the_first_run(
    paper: Path, tmp_path: Path, file: str, right: str, wrong: str, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence.replace("{", r"\{").replace("}", r"\}")):
        experiment_of(paper, tmp_path, lambda t: t.replace(right, wrong, 1), file).check()


@pytest.mark.parametrize(
    ("right", "wrong", "sentence"),
    [
        (
            '["rtt",',
            '["rrt",',
            "figure.of: 'rrt': there is no such quantity. Did you mean 'rtt'?",
        ),
        ('axis = "way"', 'axis = "wya"', "figure.axis = 'wya': there is no such axis"),
    ],
)
def test_a_figure_of_nothing_is_refused(
    small: Reproduction, paper: Path, tmp_path: Path, right: str, wrong: str, sentence: str
) -> None:
    def change(text: str) -> str:
        return text.replace(right, wrong)

    experiment = experiment_of(paper, tmp_path, change, "experiment.toml")
    with pytest.raises(InputError, match=sentence):
        list(charts(reproduce(experiment, out=paper.parent / "out")))
