# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Pictures and comparisons of sweeps: they show the numbers of the folder."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest
import sojourn
from matplotlib.container import ErrorbarContainer
from sojourn.cli import status
from sojourn.core.errors import InputError, StoreError
from sojourn.core.text import json_text
from sojourn.show.drawing import draw
from sojourn.show.theme import GROUND
from sojourn.sweeps.compare import within
from sojourn.sweeps.figures import Wish, _Scale, charts
from sojourn.sweeps.kept import Kept

from tests.conftest import SMALL

if TYPE_CHECKING:
    from sojourn.sweeps.kept import Given

SWEEP = """
scenario = "scenario.toml"
aqms = ["codel", "fifo"]
seeds = 3
metrics = ["queue_delay_mean_ms", "bulk.jain", "step_settling_s"]

[[axes]]
key = "dumbbell.rtt"
values = ["10 ms", "40 ms"]

[[axes]]
key = "dumbbell.rate"
values = ["1 Mbit/s", "5 Mbit/s"]
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("swept")
    text = SMALL.replace("2 s", "500 ms") + 'start_spread = "100 ms"\n'
    (folder / "scenario.toml").write_text(text)
    (folder / "sweep.toml").write_text(SWEEP)
    short, more = folder / "short", folder / "more"
    sojourn.sweep(folder / "sweep.toml", out=short)
    sojourn.sweep(folder / "sweep.toml", changes={"dumbbell.flows.bulk.count": 4}, out=more)
    return short, more


@pytest.fixture(scope="module")
def kept(folders: tuple[Path, Path]) -> Kept:
    return Kept.load(folders[0])


def test_a_line_has_the_means_of_an_algorithm_and_a_panel_one_value_of_the_other_axis(
    kept: Kept, folders: tuple[Path, Path]
) -> None:
    (found,) = charts(kept, Wish(x="rtt", y="queue_delay_mean_ms"))
    assert [panel.title for panel in found.panels] == ["rate 1 Mbit/s", "rate 5 Mbit/s"]
    assert [curve.name for curve in found.panels[0].curves] == ["codel", "fifo"]
    means = pd.read_parquet(folders[0] / "means.parquet")
    fifo = means[(means["aqm"] == "fifo") & (means["rate_mbps"] == 5)].sort_values("rtt_ms")
    curve = found.panels[1].curves[1]
    assert list(curve.x) == [10, 40] and list(curve.y) == list(fifo["queue_delay_mean_ms"])
    assert curve.reach
    assert list(curve.reach[1]) == pytest.approx(list(fifo["queue_delay_mean_ms_ci95"]))
    assert (found.panels[0].x, found.panels[0].y) == ("rtt (ms)", "queue delay, mean (ms)")
    assert all(axes.get_ylim()[0] == 0 for axes in draw(found, 3.5, 8).axes)


def test_numbers_of_a_picture_and_of_a_heat_map_have_their_intervals(kept: Kept) -> None:
    (lines,) = charts(kept, Wish(x="rtt", y="bulk.jain"))
    (heat,) = charts(kept, Wish(x="rtt", y="rate", z="bulk.jain"))
    for found, names in ((lines, ("y", "y_low", "y_high")), (heat, heat.columns[3:])):
        rows = list(csv.DictReader(io.StringIO(found.csv())))
        assert len(rows) == len(kept.means)
        known = {round(row["bulk.jain"], 5): row["bulk.jain_ci95"] for row in kept.means}
        for row in rows:
            mean, low, high = (float(row[name]) for name in names)
            half = known[round(mean, 5)]
            assert mean - low == pytest.approx(half, abs=1e-5)
            assert high == pytest.approx(min(1, mean + half), abs=1e-5)


def test_the_panel_of_a_picture_with_one_is_named_by_its_axis(kept: Kept) -> None:
    means = [row for row in kept.means if row["rate_mbps"] == 1]
    (found,) = charts(replace(kept, means=means), Wish(x="rtt", y="bulk.jain"))
    alone = replace(found, panels=[replace(found.panels[0], title="")])
    names = {row["panel"] for row in csv.DictReader(io.StringIO(alone.csv()))}
    assert names == {"Jain's index, bulk"}


def test_an_axis_of_few_values_is_numbered_at_these_values_and_begins_at_0(kept: Kept) -> None:
    (found,) = charts(kept, Wish(x="rtt", y="queue_delay_mean_ms"))
    for axes in draw(found).axes:
        assert [label.get_text() for label in axes.get_xticklabels()] == ["10", "40"]
        assert axes.get_xlim() == (0, 42)
    # Seven values, or two beside each other, are numbered at round ones.
    for values in (range(10, 80, 10), (10, 11, 100)):
        many = [{**row, "rtt_ms": value} for row in kept.means[:2] for value in values]
        (found,) = charts(replace(kept, means=many), Wish(y="queue_delay_mean_ms"))
        assert not found.panels[0].ticks


def test_logarithmic_axes_are_of_delays_too_and_numbered_at_their_own_values(kept: Kept) -> None:
    (delay,) = charts(kept, Wish(x="rtt", y="queue_delay_mean_ms", log=True))
    (jain,) = charts(kept, Wish(x="rtt", y="bulk.jain", log=True))
    assert delay.panels[0].y == "queue delay, mean (ms), log" and not jain.panels[0].y_log
    figure = draw(delay)
    figure.draw_without_rendering()
    for axes, panel in zip(figure.axes, delay.panels, strict=True):
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        assert [label.get_text() for label in axes.get_xticklabels()] == ["10", "40"]
        low = min(min(curve.y) for curve in panel.curves)
        assert low / 2.01 < axes.get_ylim()[0] < low
    zero = [{**row, "queue_delay_mean_ms": 0.0} for row in kept.means]
    (flat,) = charts(replace(kept, means=zero), Wish(y="queue_delay_mean_ms", log=True))
    assert flat.panels[0].x_log and not flat.panels[0].y_log
    # Ten values, or two beside each other, are numbered at powers of ten.
    for values in (range(10, 20), (10, 10.1, 1000)):
        many = [{**row, "rtt_ms": value} for row in kept.means[:2] for value in values]
        (found,) = charts(replace(kept, means=many), Wish(y="queue_delay_mean_ms", log=True))
        assert not found.panels[0].ticks


def test_one_algorithm_can_be_drawn_alone(
    folders: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "one.csv"
    words = ["plot", str(folders[0]), "--x", "rtt", "--y", "bulk.jain", "--out", str(out)]
    assert status([*words, "--aqm", "fifo"]) == 0
    assert {row["curve"] for row in csv.DictReader(out.open())} == {"fifo"}
    assert status([*words, "--aqm", "fifoo"]) == 2
    assert "--aqm fifoo: the result has none. Did you mean 'fifo'?" in capsys.readouterr().err


def test_an_interval_ends_where_values_do(kept: Kept) -> None:
    """Jain's index has no value above 1, and either spelling names it."""
    (found,) = charts(kept, Wish(x="rate_mbps", y="jain of bulk"))
    for curve in (curve for panel in found.panels for curve in panel.curves):
        assert curve.reach
        assert all(y + up <= 1 + 1e-9 for y, up in zip(curve.y, curve.reach[1], strict=True))


def test_in_a_column_of_a_journal_no_label_is_longer_than_its_panel(kept: Kept) -> None:
    (found,) = charts(kept, Wish(x="rtt", y="queue_delay_mean_ms"))
    label = "delay of datagrams, 99th percentile, call (ms)"
    narrow = replace(found, panels=[replace(panel, y=label) for panel in found.panels])
    figure = draw(narrow, 3.5, 8)
    figure.draw_without_rendering()
    boxes = [axes.yaxis.label.get_window_extent() for axes in figure.axes]
    assert all(" ".join(axes.get_ylabel().split()) == label for axes in figure.axes)
    for axes, box in zip(figure.axes, boxes, strict=True):
        panel = axes.get_window_extent()
        assert panel.y0 <= box.y0 and box.y1 <= panel.y1
        assert box.x0 >= 0


def test_intervals_of_two_algorithms_stand_side_by_side_above_their_markers(kept: Kept) -> None:
    (found,) = charts(kept, Wish(x="rtt", y="queue_delay_mean_ms"))
    figure = draw(found, 3.5, 8)
    figure.draw_without_rendering()
    axes, inch = figure.axes[0], figure.dpi
    drawn = [c for c in axes.containers if isinstance(c, ErrorbarContainer)]
    bars = [bar for container in drawn for bar in container.lines[2]]
    markers = [container.lines[0] for container in drawn]
    places = [bar.get_transform().transform(bar.get_segments()[0])[0][0] for bar in bars]
    assert len(places) == 2 and abs(places[1] - places[0]) > 3 / 72 * inch
    for bar, line in zip(bars, markers, strict=True):
        assert bar.get_zorder() > line.get_zorder()
        assert line.get_markerfacecolor() == GROUND.light
        # The line itself is where its bars are.
        x = line.get_transform().transform(line.get_xydata())[0][0]
        assert x == pytest.approx(bar.get_transform().transform(bar.get_segments()[0])[0][0])


def test_a_heat_map_has_a_panel_for_each_algorithm_with_every_mean(kept: Kept) -> None:
    (found,) = charts(kept, Wish(x="rtt", y="rate", z="queue_delay_mean_ms"))
    assert [panel.title for panel in found.panels] == ["codel", "fifo"]
    numbers = {row[:3]: row[3] for row in found.rows}
    for row in kept.means:
        place = row["aqm"], row["rtt_ms"], row["rate_mbps"]
        assert numbers[place] == row["queue_delay_mean_ms"]
    texts = [text.get_text() for text in draw(found).axes[1].texts]
    assert texts == [f"{numbers[place]:.3g}" for place in numbers if place[0] == "fifo"]


def test_a_heat_map_has_its_scale_in_numbers_and_with_log_small_values_have_shades_too(
    kept: Kept,
) -> None:
    delays = {(10, 1): 2.0, (10, 5): 20.0, (40, 1): 200.0, (40, 5): 2000.0}
    means = [
        {**row, "queue_delay_mean_ms": delays[row["rtt_ms"], row["rate_mbps"]]}
        for row in kept.means
    ]
    far = replace(kept, means=means)
    shades: dict[bool, list[float]] = {}
    for log in (False, True):
        (found,) = charts(far, Wish(x="rtt", y="rate", z="queue_delay_mean_ms", log=log))
        figure = draw(found)
        (legend,) = figure.legends
        (*_, darkest) = legend.legend_handles
        assert darkest
        numbers = [text.get_text() for text in legend.get_texts()]
        linear, logarithmic = ["0", "500", "1000", "1500", "2000"], ["2", "11.2", "63.2", "356"]
        assert numbers == ([*logarithmic, "2000"] if log else linear)
        title = "queue delay, mean (ms)" + (", log" if log else "")
        assert legend.get_title().get_text() == title
        assert ("--log" in found.caption) is not log
        shades[log] = [patch.get_alpha() or 0.0 for patch in figure.axes[0].patches]
        assert max(shades[log]) == darkest.get_alpha()
    assert max(a / b for a, b in zip(shades[True], shades[False], strict=True)) > 50
    steps = sorted(shades[True])
    assert steps[1] - steps[0] == pytest.approx(steps[3] - steps[2])


def test_a_heat_map_of_zeros_alone_is_drawn_on_either_scale(kept: Kept) -> None:
    zeros = replace(kept, means=[{**row, "bulk.jain": 0.0} for row in kept.means])
    for log in (False, True):
        (found,) = charts(zeros, Wish(x="rtt", y="rate", z="bulk.jain", log=log))
        figure = draw(found)
        assert not any(patch.get_alpha() for patch in figure.axes[0].patches)
        (legend,) = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == ["0"]


def test_a_logarithmic_scale_has_0_where_a_cell_has() -> None:
    curves = _Scale.of([0.0, 1.0, 16.0], is_log=True).legend()
    assert [curve.name for curve in curves] == ["0", "1", "2", "4", "8", "16"]
    assert curves[0].style["alpha"] == 0
    curves = _Scale.of([0.0, 8.0], is_log=False).legend()
    assert [curve.name for curve in curves] == ["0", "2", "4", "6", "8"]


@pytest.mark.parametrize("values", [[95.6144, 95.6160], [7.0], [99_999.0, 100_000.0]])
def test_values_that_are_as_good_as_equal_have_one_shade_and_a_legend_that_tells_shades_apart(
    values: list[float],
) -> None:
    scale = _Scale.of(values, is_log=True)
    shades = [scale.shade(value) for value in values]
    assert max(shades) == pytest.approx(0.75) and max(shades) - min(shades) < 0.01
    assert len(scale.legend()) == 5


def test_a_picture_of_lines_far_apart_names_log(kept: Kept) -> None:
    wish = Wish(x="rtt", y="queue_delay_mean_ms")
    means = [
        {**row, "queue_delay_mean_ms": 1000.0 if row["aqm"] == "fifo" else 10.0}
        for row in kept.means
    ]
    far = replace(kept, means=means)
    said = "Values are far apart: --log draws them on a logarithmic axis."
    assert said in charts(far, wish)[0].caption
    assert said not in charts(far, replace(wish, log=True))[0].caption
    near = replace(kept, means=[{**row, "queue_delay_mean_ms": 10.0} for row in kept.means])
    assert said not in charts(near, wish)[0].caption


def test_a_page_has_a_picture_of_each_measured_metric_and_says_what_was_swept(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    out = tmp_path / "page.html"
    assert status(["plot", str(folders[0]), "--out", str(out)]) == 0
    page = out.read_text()
    assert "2 values of rtt (ms) and 2 values of rate (Mbit/s), codel and fifo; seeds 3." in page
    # Nothing changes while it runs: there is no settling time.
    assert re.findall("<h2>([^<]*)</h2>", page) == [
        "Numbers",
        "Queue delay, mean",
        "Jain&#39;s index, bulk",
        "Again",
    ]


@pytest.mark.parametrize("name", ["f.pdf", "f.svg", "f.png", "f.csv"])
def test_each_kind_of_file_is_written(
    folders: tuple[Path, Path], tmp_path: Path, name: str
) -> None:
    out = tmp_path / name
    words = ["plot", str(folders[0]), "--x", "rtt", "--y", "bulk.jain", "--out", str(out)]
    assert status(words) == 0 and out.stat().st_size > 300


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--x", "rat"], "--x rat: no such axis; there is rtt and rate"),
        (["--y", "drop_pct"], "the sweep has no such metric; add it to `metrics` of"),
        (["--y", "rate", "--z", "bulk.jain", "--x", "rate"], "is the axis of --x"),
        (["--figure", "delay"], "--figure: a sweep is drawn over its axes"),
        (["--y", "step_settling_s"], "no run measured step_settling_s"),
        (["--window", "late"], "--window late: the sweep has no such window."),
    ],
)
def test_a_picture_that_cannot_be_is_one_sentence(
    folders: tuple[Path, Path], words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["plot", str(folders[0]), *words]) == 2
    assert said in (err := capsys.readouterr().err) and err.count("\n") == 1


def test_sweeps_are_compared_seed_by_seed_in_equal_cells(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["compare", *map(str, folders), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    first, other = (pd.read_parquet(folder / "cells.parquet") for folder in folders)
    cell = {"rtt_ms": 40.0, "rate_mbps": 1.0, "aqm": "fifo"}
    (found,) = [
        entry
        for entry in data["differences"]
        if entry["metric"] == "queue_delay_mean_ms" and cell.items() <= entry.items()
    ]
    chosen = [
        table[(table["rtt_ms"] == 40) & (table["rate_mbps"] == 1) & (table["aqm"] == "fifo")]
        for table in (first, other)
    ]
    before, after = (table.set_index("seed")["queue_delay_mean_ms"] for table in chosen)
    assert found["difference"] == pytest.approx((after - before).mean())
    assert (found["pairs"], found["result"], found["to_result"]) == (3, "more", "short")
    assert data["scenarios"] == {"set.dumbbell.flows.bulk.count": {"short": None, "more": "4"}}
    assert status(["compare", *map(str, folders)]) == 0
    assert "queue delay mean (ms): more − short, seed by seed" in capsys.readouterr().out


def test_a_table_of_a_comparison_can_stand_in_a_paper_by_itself(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each number has its metric, its unit and its interval, also where the interval holds zero."""
    assert status(["compare", *map(str, folders), "--format", "csv"]) == 0
    _, text = capsys.readouterr().out.split("# Jain's index bulk: more − short, seed by seed\n")
    _, table = text.split("miss by chance, on average\n")[:2]
    head, *rows = csv.reader(io.StringIO(table.split("\n\n")[0]))
    assert head[:4] == ["rtt", "rate", "aqm", "short: Jain's index bulk"]
    name = "difference: Jain's index bulk"
    assert len(rows) == 8 and head[-4:-1] == [name, f"{name}, low", f"{name}, high"]
    for row in rows:
        mean, low, high = map(float, row[-4:-1])
        assert low <= mean <= high
        assert row[-1] == ("true" if low > 0 or high < 0 else "false")
    assert status(["compare", *map(str, folders), "--format", "latex"]) == 0
    delay = capsys.readouterr().out.split(r"\end{tabular}")
    assert "short: & more: & difference:" in delay[0] and "(ms) & (ms) & (ms)" in delay[0]
    assert "10 ms & 1 Mbit/s & codel & " in delay[0]
    assert delay[1].strip().startswith("% of 8 intervals at 95 %, 0.4 miss by chance")


def test_a_sweep_alone_compares_its_algorithms_seed_by_seed(
    folders: tuple[Path, Path], kept: Kept, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["compare", str(folders[0]), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    cells = pd.read_parquet(folders[0] / "cells.parquet")
    cells = cells[(cells["rtt_ms"] == 40) & (cells["rate_mbps"] == 1)]
    codel, fifo = (cells[cells["aqm"] == name].set_index("seed") for name in ("codel", "fifo"))
    for metric in ("queue_delay_mean_ms", "bulk.jain"):
        (found,) = [
            entry
            for entry in data["differences"]
            if {"metric": metric, "rtt_ms": 40.0, "rate_mbps": 1.0}.items() <= entry.items()
        ]
        assert found["difference"] == pytest.approx((fifo[metric] - codel[metric]).mean())
        assert (found["aqm"], found["to"], found["pairs"]) == ("fifo", "codel", 3)
        assert "tested" not in found
    assert data["scenarios"] == {}
    assert status(["compare", str(folders[0])]) == 0
    said = capsys.readouterr().out
    assert "queue delay mean (ms): fifo − codel, seed by seed" in said
    assert "they do not differ" not in said
    # The traffic of a seed is that of all algorithms: it hides a difference of means alone.
    rows = [
        {**row, "queue_delay_mean_ms": 10.0 * row["seed"] + (row["aqm"] == "fifo")}
        for row in kept.cells
    ]
    pair = within(replace(kept, cells=rows))[0]
    assert pair.first.high > pair.other.low and pair.estimate.is_off_zero


def test_a_sweep_of_one_algorithm_or_beside_a_run_is_not_compared(
    folders: tuple[Path, Path], kept: Kept, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="has codel alone; sweep several, or name two sweeps"):
        within(kept.of_aqms(["codel"]))
    with pytest.raises(InputError, match=r"holds no sweep, .*; name sweeps alone, or results of"):
        Kept.load(tmp_path)
    with pytest.raises(InputError, match=r"is not there; sojourn sweep SWEEP.toml --out .*nowhere"):
        Kept.load(tmp_path / "nowhere")
    newer = shutil.copytree(folders[0], tmp_path / "newer") / "result.json"
    newer.write_text(newer.read_text().replace('"format": 1', '"format": 99'))
    with pytest.raises(StoreError, match=r"format 99 of a sweep is not known; .* reads 1"):
        Kept.load(newer.parent)


def test_a_folder_whose_table_was_changed_is_refused_with_what_mends_it(
    folders: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("result.json", "cells.parquet", "scenario.toml", "sweep.toml"):
        (tmp_path / name).write_bytes((folders[0] / name).read_bytes())
    (tmp_path / "means.parquet").write_bytes(b"")
    assert status(["plot", str(tmp_path)]) == 3
    assert "means.parquet was changed. Run sojourn sweep" in capsys.readouterr().err


def test_python_draws_and_compares_folders_of_sweeps_as_the_commands_do(
    folders: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short, more = folders
    words = ["plot", str(short), "--x", "rtt", "--y", "queue_delay_mean_ms", "--log"]
    assert status([*words, "--width", "3.5in", "--font", "8pt", "--out", f"{tmp_path}/a.svg"]) == 0
    (drawn,) = sojourn.plot(
        short,
        tmp_path / "b.svg",
        x="rtt",
        y="queue_delay_mean_ms",
        width="3.5in",
        font="8pt",
        log=True,
    )
    assert drawn.read_bytes() == (tmp_path / "a.svg").read_bytes()
    (heat,) = sojourn.plot([short], tmp_path / "c.png", x="rtt", y="rate", z="bulk.jain")
    assert heat.exists()
    capsys.readouterr()
    assert status(["compare", str(short), str(more), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    found = sojourn.compare(folders)
    assert json.loads(json_text(found.to_json())) == said
    assert "set.dumbbell.flows.bulk.count" in found.scenarios


def test_python_draws_and_compares_sweeps_that_it_holds_as_their_folders(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    short, more = (sojourn.sweep(folder / "sweep.toml", out=folder) for folder in folders)
    assert short.made == more.made == 0
    of_one: list[Given] = [folders[0], short, [short], {"mine": short}]
    drawn = [
        sojourn.plot(given, tmp_path / f"{n}.svg", x="rtt", y="queue_delay_mean_ms")[0].read_bytes()
        for n, given in enumerate(of_one)
    ]
    assert len(set(drawn)) == 1
    by_folder = sojourn.compare(folders)
    of_two: list[Given] = [[short, more], {"a": short, "b": folders[1]}, [short, folders[1]]]
    for given in of_two:
        found = sojourn.compare(given)
        assert [d.estimate for d in found.differences] == [
            d.estimate for d in by_folder.differences
        ]
        assert list(found.scenarios.values()) == list(by_folder.scenarios.values())
    assert repr(sojourn.compare({"a": short, "b": more})) == (
        "<SweepComparison: a and b, 16 differences, 1 unequal keys>"
    )


def test_python_refuses_what_no_sweep_can_have(folders: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "a.svg"
    with pytest.raises(InputError, match="a picture is of one sweep"):
        sojourn.plot(folders, out)
    with pytest.raises(InputError, match=r"^plot: figures: .* name these with 'x' and 'y'"):
        sojourn.plot(folders[0], out, "delay")
    assert len(repr(sojourn.compare(folders[0]))) < 80
    result = sojourn.run(sojourn.loads(SMALL))
    with pytest.raises(InputError, match="axes and metrics of a sweep"):
        sojourn.plot(result, out, x="rtt")
    assert sojourn.plot(result, out, "delay", width="3.5in") == [out]
    with pytest.raises(InputError, match=r"<Result: 1 runs .*: is no sweep, as another of these"):
        sojourn.compare({"a": result, "b": folders[0]})
    with pytest.raises(InputError, match="no result is given"):
        sojourn.compare([])
    with pytest.raises(InputError, match=r"7: is no result; give a folder, or what sojourn.run"):
        sojourn.compare([result, 7])  # type: ignore[list-item]
    assert len(repr(sojourn.compare([result, result]))) < 80


def test_python_verifies_a_sweep(folders: tuple[Path, Path], tmp_path: Path) -> None:
    verified = sojourn.verify(folders[0], workers=1)
    assert verified.is_same and verified.count == 24
    copy = tmp_path / "copy"
    shutil.copytree(folders[0], copy)
    table = pd.read_parquet(copy / "cells.parquet")
    table.loc[0, "fingerprint"] = "another"
    table.to_parquet(copy / "cells.parquet")
    verified = sojourn.verify(str(copy), workers=1)
    assert not verified.is_same and verified.changed == ("cells.parquet",)
    assert [dict(run.labels)["seed"] for run in verified.different] == [1]
    assert verified.to_json()["runs"]["different"] == [dict(verified.different[0].labels)]


def test_an_axis_is_named_by_its_key_too_and_an_error_names_the_axes(kept: Kept) -> None:
    assert kept.axis("--x", "dumbbell.rate") == kept.axis("--x", "rate") == "rate_mbps"
    with pytest.raises(InputError, match=r"^--x rat: no such axis; there is rtt and rate$"):
        kept.axis("--x", "rat")


def test_a_metric_of_flows_that_are_not_there_is_answered_with_those_that_are(kept: Kept) -> None:
    with pytest.raises(InputError, match=r"^--y: 'web.jain': .* no such flows. Valid names: bulk"):
        kept.metric("--y", "web.jain")
    with pytest.raises(InputError, match="add it to `metrics`"):
        kept.metric("--y", "bulk.goodput_mbps")


def test_a_finished_sweep_gains_seeds_by_the_command_of_its_readme(
    folders: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folders[0], copy)
    monkeypatch.chdir(copy)
    readme = " ".join(Path("README.md").read_text().split())
    command = re.search(r"`sojourn (sweep \S+ --out \. --seeds) 20` adds seeds", readme)
    assert command
    assert status([*command[1].split(), "4"]) == 0
    assert "32 runs: 24 were there, 8 made" in capsys.readouterr().err
    assert status([*command[1].split(), "6..7"]) == 2
    said = capsys.readouterr().err
    assert "has seeds 1 to 4, and this leaves some out" in said and "--seeds 7, or" in said


@pytest.mark.parametrize(
    ("scenario", "metrics"),
    [
        ("home", '"downloads.goodput_mbps", "call.delay_p95_ms"'),
        ("rrul", ""),
    ],
)
def test_a_new_sweep_of_a_scenario_runs_or_says_why_there_is_none(
    scenario: str,
    metrics: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert status(["new", "--scenario", scenario]) == 0
    wanted = 0 if metrics else 2
    assert status(["new", "--sweep", f"{scenario}.toml"]) == wanted
    said = capsys.readouterr()
    if not metrics:
        assert "has no dumbbell with a rate and a round trip" in said.err
        assert not Path("sweep.toml").exists()
        return
    assert metrics in Path("sweep.toml").read_text()
    (command,) = re.findall(r"sojourn (sweep .*)", said.out)
    short = ["--set", "duration=1s", "--set", "record.windows=[]", "--seeds", "1"]
    assert status([*command.split(), *short]) == 0
    assert Path("sweep.toml").read_text().startswith("#:schema ./sweep.schema.json\n")
    assert "#:schema" not in Path("grid/sweep.toml").read_text()
    assert status(["new", "--sweep", f"{scenario}.toml"]) == 2
    assert "there is such a file; nothing was written" in capsys.readouterr().err
    assert status(["new", "--sweep", "nosuch.toml"]) == 2
    assert "nosuch.toml: there is no such file" in capsys.readouterr().err
