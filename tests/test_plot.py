# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn plot`: what the pictures draw is what was recorded, and what was not is said."""

from __future__ import annotations

import csv
import json
import re
import warnings
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import sojourn
from matplotlib.figure import Figure
from matplotlib.image import imread
from sojourn.cli import status
from sojourn.core.errors import InputError
from sojourn.papers.reproduce import Reproduction
from sojourn.result.compare import Case
from sojourn.result.distribution import Distribution, cells_of, middles_of
from sojourn.result.distribution import measured as measured_of
from sojourn.result.stats import estimate
from sojourn.show.chart import LOOKS, NARROW_IN, WIDE_IN, Chart, Panel, Point
from sojourn.show.drawing import changes, draw, png_file, svg_file
from sojourn.show.figures import FIGURES, charts
from sojourn.show.measured import MAX_PANELS, Measured, raw
from sojourn.show.page import number

from tests.conftest import SMALL

KEPT = """
[[dumbbell.flows]]
name = "voice"
transport = "udp"
app = { kind = "cbr", rate = "64 kbit/s" }

[[dumbbell.flows]]
name = "ping"
transport = "udp"
app = { kind = "ping", interval = "20 ms" }

[[dumbbell.flows]]
name = "browsers"
count = 20
app = { kind = "web", think = "100 ms" }

[record]
events = true
windows = [{ name = "a", from = "500 ms", to = "1 s" }, { name = "b", from = "1 s", to = "2 s" }]
"""
STEPPED = SMALL.replace(
    'aqm = "codel"', 'aqm = "codel"\nschedule = [{ at = "1 s", rate = "5 Mbit/s" }]'
)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result with all that any picture shows."""
    out = tmp_path_factory.mktemp("kept") / "kept"
    sojourn.run(
        sojourn.loads(STEPPED + KEPT),
        aqms=["codel", "pie", "fifo"],
        seeds=3,
        out=out,
    )
    return out


@pytest.fixture(scope="module")
def measured(kept: Path) -> Measured:
    return Measured({"": sojourn.Result.load(kept)})


def chart(measured: Measured, name: str) -> Chart:
    (found,), sentences = charts(measured, [name])
    assert not sentences
    return found


def test_a_distribution_is_that_of_the_engines_report(kept: Path) -> None:
    for run in sojourn.Result.load(kept):
        for window in run.report["queues"][0]["windows"]:
            found = measured_of([run], "queue_delay", "bottleneck", window["name"])
            assert found and found.count == window["departed_pkts"] > 0
            for share in (25, 50, 75, 95, 99):
                reported = window["queue_delay_ms"][f"p{share}"]
                assert found.quantile_ms(share / 100) == pytest.approx(reported, rel=1e-12)


def test_a_cell_stands_for_its_delays_within_a_thousandth() -> None:
    ns = np.unique(
        np.concatenate([np.arange(5_000), *((1 << e) + np.arange(-2, 3) for e in range(2, 50))])
    )
    cells = cells_of(ns)
    assert (np.diff(cells) >= 0).all()
    assert (np.abs(middles_of(cells) - ns) <= np.maximum(ns, 0) / 1_000).all()
    assert (middles_of(cells_of(np.arange(2_048))) == np.arange(2_048)).all()


def test_distributions_of_seeds_add_up(kept: Path) -> None:
    """To those of their packets, one by one."""
    runs = list(sojourn.Result.load(kept))[:3]
    together = measured_of(runs, "queue_delay", "bottleneck", "b")
    assert together
    tables = [run.events() or pytest.fail("no events") for run in runs]
    at, enq, why = (
        np.concatenate([table[column].to_numpy() for table in tables])
        for column in ("at_ns", "enq_ns", "why")
    )
    ns = (at - enq)[(why == 0) & (at >= 1_000_000_000) & (at < 2_000_000_000)]
    cells, counts = np.unique(cells_of(ns), return_counts=True)
    assert (together.cells == cells).all()
    assert (together.counts == counts).all()
    for share in (0.01, 0.25, 0.5, 0.9, 0.99, 0.999):
        exact = np.quantile(ns, share, method="inverted_cdf") / 1e6
        assert together.quantile_ms(share) == pytest.approx(exact, rel=1e-3)


def test_the_curve_of_a_distribution_keeps_its_shape_and_its_tail() -> None:
    delays = np.random.default_rng(1).lognormal(14, 2, 200_000).astype(np.int64)
    x, shares = Distribution(*np.unique(cells_of(delays), return_counts=True)).curve()
    assert len(x) < 700
    at_or_below = np.searchsorted(np.sort(delays), x * 1e6 * 1.0005, side="right") / len(delays)
    assert np.abs(at_or_below - shares).max() < 1e-3
    assert np.diff(shares, prepend=0).max() < 0.01
    above = 1 - shares[shares < 0.9999]
    assert (above[1:] > 0.9 * above[:-1]).all()
    assert shares[-1] == 1


@pytest.mark.parametrize("log", [False, True])
def test_an_axis_is_linear_unless_asked_and_says_where_a_logarithm_shows_more(
    kept: Path, log: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = Measured({"": sojourn.Result.load(kept)}, log=log)
    cells, counts = cells_of(np.array([200_000_000, 5 * 10**9])), np.array([9, 1])
    monkeypatch.setattr(measured, "distribution", lambda *_: Distribution(cells, counts))
    found = FIGURES["fct"](measured, list(measured.by_case)[:1])
    (panel, *_) = found.panels
    assert panel.x_log == log
    assert panel.x == ("completion time (s), log" if log else "completion time (s)")
    assert ("--log draws them" in found.caption) != log
    tradeoff = chart(measured, "tradeoff")
    assert tradeoff.panels[0].x_log == log
    (axes,) = draw(tradeoff).axes
    assert axes.get_ylim()[0] == 0 and (log or axes.get_xlim()[0] == 0)


@pytest.mark.parametrize(
    ("delays_ms", "numbers"),
    [((3.0, 60.0), ["5", "10", "20", "50"]), ((0.3, 200.0), ["1", "10", "100"])],
)
def test_a_logarithmic_axis_has_numbers_as_another_one(
    delays_ms: tuple[float, float], numbers: list[str]
) -> None:
    points = [Point(str(delay), delay, 1, 0, 0, 0) for delay in delays_ms]
    chart = Chart("t", "t", "", [Panel("t", "ms", "Mbit/s", points=points, x_log=True)], "")
    figure = draw(chart)
    figure.canvas.draw()
    (axes,) = figure.axes
    texts = axes.get_xticklabels() + axes.get_xticklabels(minor=True)
    low, high = axes.get_xlim()
    seen = [text for text in texts if low <= text.get_position()[0] <= high and text.get_text()]
    seen.sort(key=lambda text: text.get_position()[0])
    assert [n for n in (t.get_text() for t in seen) if float(n) >= min(delays_ms)] == numbers


def test_delay_over_time_is_the_mean_of_the_series_of_all_seeds(measured: Measured) -> None:
    (panel,) = chart(measured, "delay").panels
    series = [
        raw(run, "bottleneck", "queue_delay_ms") for run in measured.by_case[Case("pie", "sim")]
    ]
    (curve,) = [curve for curve in panel.curves if curve.name == "pie"]
    for at in (3, 12):
        values = [values[at] for _, values in series]
        assert curve.y[at] == pytest.approx(np.mean(values))
        assert series[0][0][at] - 0.1 < curve.x[at] < series[0][0][at]


def test_delay_over_time_has_the_rates_of_the_link(measured: Measured) -> None:
    (panel,) = chart(measured, "delay").panels
    assert panel.changes == [(0.0, "10 Mbit/s"), (1.0, "5 Mbit/s")]
    assert panel.x_right == 2


CHANGES = """\
format = 2
name = "changes of all kinds"
duration = "3 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "20 ms"
schedule = [{ at = "1 s", rate = "5 Mbit/s" }]
rtts = [{ at = "1 s", rtt = "80 ms" }]

[[dumbbell.flows]]
name = "late"
start = "2 s"
"""


def test_delay_over_time_has_what_else_changes() -> None:
    result = sojourn.run(sojourn.loads(CHANGES), aqms=["codel", "pie"])
    (panel,) = chart(Measured({"": result}), "delay").panels
    assert panel.changes == [
        (0.0, "10 Mbit/s"),
        (1.0, "5 Mbit/s\nbottleneck delay 40 ms\nback delay 40 ms"),
        (2.0, "1 flow late starts"),
    ]


def test_words_of_a_change_end_before_the_next_one() -> None:
    axes = Figure(figsize=(WIDE_IN, 3)).subplots()
    axes.set_xlim(0, 40)
    changes(axes, [(30.0, "bottleneck delay 75 ms"), (35.0, "5 flows late stop")])
    texts = [text.get_text() for text in axes.texts]
    assert texts == ["bottleneck\ndelay 75\nms", "5 flows\nlate stop"]


def test_the_tail_is_what_the_distribution_leaves(measured: Measured) -> None:
    below, above = (chart(measured, name).panels[0].curves[0] for name in ("cdf", "ccdf"))
    assert below.y[0] == 0 and below.y[-1] == 1 and (np.diff(below.y) >= 0).all()
    assert above.y[0] == 1 and above.y[-1] > 0
    assert np.allclose(above.y, 1 - below.y[:-1])


def test_the_rate_of_each_group_is_its_goodput_step_by_step(measured: Measured) -> None:
    found = chart(measured, "rate")
    assert "a step may be above the link's rate" in found.caption
    bulk, voice, *_ = found.panels
    assert (bulk.title, voice.title) == ("flows 'bulk'", "flows 'voice'")
    runs = measured.by_case[Case("codel", "sim")]
    for place, panel in enumerate((bulk, voice)):
        curve = panel.curves[0]
        assert list(curve.x) == pytest.approx(np.arange(20) * 0.1 + 0.05)
        for window, steps in enumerate((slice(5, 10), slice(10, 20))):
            of = [r.report["transport"][window]["groups"][place]["goodput_mbps"] for r in runs]
            assert np.mean(curve.y[steps]) == pytest.approx(np.mean(of))


def test_without_a_series_the_rate_of_a_group_is_drawn_window_by_window(tmp_path: Path) -> None:
    text = STEPPED + KEPT.replace("events = true", 'series = "1 h"')
    sojourn.run(sojourn.loads(text), aqms=["codel"], seeds=3, out=tmp_path / "out")
    measured = Measured({"": sojourn.Result.load(tmp_path / "out")})
    bulk, voice, *_ = chart(measured, "rate").panels
    assert (bulk.title, voice.title) == ("flows 'bulk'", "flows 'voice'")
    curve = voice.curves[0]
    runs = measured.by_case[Case("codel", "sim")]
    means = [
        np.mean([run.report["transport"][i]["groups"][1]["goodput_mbps"] for run in runs])
        for i in (0, 1)
    ]
    assert curve.y[[0, 3]] == pytest.approx(means)
    assert list(curve.x[:2]) == [0.5, 1] and list(curve.x[3:5]) == [1, 2]
    assert np.isnan(curve.y[2])


def test_windows_and_round_trips_of_groups_of_tcp_are_drawn(measured: Measured) -> None:
    for name, least in (("cwnd", 1), ("srtt", 20)):
        # Datagrams have neither.
        bulk, browsers = chart(measured, name).panels
        assert (bulk.title, browsers.title) == ("flows 'bulk'", "flows 'browsers'")
        for panel in (bulk, browsers):
            assert len(panel.curves) == 3
            assert all(np.nanmin(curve.y) >= least for curve in panel.curves)


def test_pings_are_drawn_over_time_and_by_the_share_that_came_back() -> None:
    text = SMALL + '[[dumbbell.flows]]\nname = "echo"\napp = "ping"\ntransport = "udp"\n'
    text += '[record]\nwindows = [{ name = "late", from = "1 s", to = "2 s" }]\n'
    result = sojourn.run(sojourn.loads(text), aqms=["codel", "fifo"], workers=1)
    measured = Measured({"": result})
    over_time, shares = chart(measured, "ping").panels
    assert (over_time.title, shares.title) == ("flows 'echo'", "flows 'echo', late, 1 to 2 s")
    for run, curve, steps in zip(result, over_time.curves, shares.curves, strict=True):
        (echo,) = run.report["echoes"]
        # One in 100 ms, in cells of 10 ms: cells between two pings are no gaps of the line.
        came = [float("nan") if rtt_ms is None else rtt_ms for rtt_ms in echo["rtt_ms"]]
        assert list(curve.y) == pytest.approx(came, nan_ok=True)
        inside = [
            rtt_ms
            for sent_s, rtt_ms in zip(echo["sent_s"], echo["rtt_ms"], strict=True)
            if 1 <= sent_s < 2
        ]
        back = sorted(rtt_ms for rtt_ms in inside if rtt_ms is not None)
        assert list(steps.x) == back and steps.y[-1] == len(back) / len(inside)


def test_the_probability_over_time_is_drawn_of_those_that_have_one(measured: Measured) -> None:
    (panel,) = chart(measured, "probability").panels
    (pie,) = panel.curves
    assert pie.name == "pie" and 0 <= pie.y.min() < pie.y.max() <= 1
    tables = [run.statistics() for run in measured.by_case[Case("pie", "sim")]]
    rows = [row for table in tables if table for row in table.to_pylist()]
    at = [r["value"] for r in rows if r["statistic"] == "prob" and r["t_s"] == 2]
    assert len(at) == 3 and pie.y[-1] == pytest.approx(np.mean(at))


def test_throughput_against_delay_has_a_point_and_a_spread_for_each_algorithm(
    measured: Measured,
) -> None:
    (panel,) = chart(measured, "tradeoff").panels
    assert [point.name for point in panel.points] == ["codel", "pie", "fifo"]
    runs = measured.by_case[Case("fifo", "sim")]
    windows = [run.report["queues"][0]["windows"][0] for run in runs]
    delays = [window["queue_delay_ms"]["mean"] for window in windows]
    rates = [run.report["transport"][0]["goodput_mbps"] for run in runs]
    point = panel.points[2]
    for drawn, values in (((point.x, point.x_half), delays), ((point.y, point.y_half), rates)):
        found = estimate(values)
        assert drawn == pytest.approx((found.mean, found.half))
    assert "a, 0.5 to 1 s" in panel.title


def test_fairness_has_each_flow_of_a_group_beside_the_groups_mean(measured: Measured) -> None:
    found = chart(measured, "fairness")
    (panel, *_) = found.panels
    assert [p.title.partition(",")[0] for p in found.panels] == ["flows 'bulk'", "flows 'browsers'"]
    rates = [
        [flow["goodput_mbps_of_windows"][0] for flow in run.report["flows"]][:2]
        for run in measured.by_case[Case("codel", "sim")]
    ]
    shares = sorted(rate / np.mean(of_run) for of_run in rates for rate in of_run)
    assert list(panel.curves[0].x[1:]) == pytest.approx(shares)
    assert "Jain's index of flows 'bulk': codel 0." in found.caption


def test_a_queues_length_is_that_of_the_series(measured: Measured) -> None:
    (panel,) = chart(measured, "queue").panels
    assert panel.y == "queue (packets)"
    runs = measured.by_case[Case("fifo", "sim")]
    mean = np.mean([np.nanmean(raw(run, "bottleneck", "queue_pkts")[1]) for run in runs])
    assert np.nanmean(panel.curves[2].y) == pytest.approx(mean, rel=0.02)


def test_a_page_says_first_what_was_run_and_what_came_of_it(kept: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    numbers, picture = "<h2>Numbers</h2>", "<h2>Delay over time</h2>"
    # A single picture comes before the numbers, several behind them.
    for chosen, middle in ((["--figure", "delay"], [picture, numbers]), ([], [numbers, picture])):
        assert status(["plot", str(kept), *chosen, "--out", str(out)]) == 0
        page = out.read_text()
        places = [
            page.index(words)
            for words in (
                "Flows: 2 bulk, 1 voice, 1 ping and 20 browsers; link &#39;bottleneck&#39; of ",
                "Mean queue delay, and goodput of all flows: codel ",
                *middle,
                "<code>sojourn run scenario.toml --aqm codel",
            )
        ]
        assert places == sorted(places)


def test_drops_are_drawn_and_marks_where_there_are_any(measured: Measured) -> None:
    assert [panel.y for panel in chart(measured, "drops").panels] == ["dropped (%)"]
    ecn = SMALL + 'transport = { cc = "cubic", ecn = true }\n'
    marked = sojourn.run(sojourn.loads(ecn), changes={"ecn": True}, workers=1)
    panels = chart(Measured({"": marked}), "drops").panels
    assert [panel.y for panel in panels] == ["dropped (%)", "marked (%)"]
    assert np.nanmax(panels[1].curves[0].y) > 0


def test_every_picture_says_its_numbers_in_words(measured: Measured) -> None:
    for name in FIGURES:
        found = chart(measured, name)
        having = ("pie",) if name == "probability" else ("codel", "pie", "fifo")
        assert all(aqm in found.words for aqm in having)
        assert re.search(r"\d\.\d", found.words)
    (panel,) = chart(measured, "delay").panels
    top = np.nanmax(panel.curves[2].y)
    mean = np.nanmean(panel.curves[2].y)
    assert f"fifo {number(mean)}, {number(top)} at" in chart(measured, "delay").words


def test_a_queue_and_a_window_can_be_chosen(kept: Path) -> None:
    result = sojourn.Result.load(kept)
    panel = chart(Measured({"": result}, "bottleneck", "b"), "cdf").panels[0]
    assert panel.title == "bottleneck, b, 1 to 2 s"
    for queue, window in (("bottle", None), (None, "c")):
        with pytest.raises(InputError, match="no result has it"):
            Measured({"": result}, queue, window)


def test_a_result_without_the_window_is_drawn_over_time_alone(kept: Path) -> None:
    whole = sojourn.run(sojourn.loads(STEPPED), workers=1)
    measured = Measured({"kept": sojourn.Result.load(kept), "whole": whole}, window="b")
    assert len(chart(measured, "delay").panels[0].curves) == 4
    assert len(chart(measured, "tradeoff").panels[0].points) == 3
    assert "whole" not in chart(measured, "cdf").words + chart(measured, "cdf").caption


def test_what_was_not_recorded_is_said_with_its_key(
    tmp_path: Path, small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, page = str(tmp_path / "out"), tmp_path / "page.html"
    assert status(["run", str(small), "--set", "record.series=1 h", "--out", out]) == 0
    capsys.readouterr()
    assert status(["plot", out, "--out", str(page)]) == 0
    said = capsys.readouterr().err
    assert said.count("\n") == 4
    for name in ("delay", "queue", "rate", "drops"):
        assert f"{name}: " in said
    assert said.count("record.series") == 4
    # The command that repeats the result has it too.
    assert page.read_text().count("record.series") == 5
    for name, sentence in (
        ("rate", "record.series"),
        ("probability", "no queue's algorithm tells a probability"),
        ("cwnd", "no connection of TCP was open at the end of a step"),
        ("page", "none of the pages was complete in the window"),
    ):
        assert status(["plot", out, "--out", str(page), "--figure", name]) == 2
        assert sentence in capsys.readouterr().err


def test_a_run_of_an_older_version_is_named_below_the_distribution_of_the_others(
    kept: Path, tmp_path: Path
) -> None:
    older = sojourn.run(sojourn.loads(STEPPED), workers=1, out=tmp_path / "older")
    (older.runs[0].entry.folder / "distributions.parquet").unlink()
    found = chart(Measured({"kept": sojourn.Result.load(kept), "older": older}), "cdf")
    assert "Without distributions, and so not here: older: codel; an older" in found.caption
    assert len(found.panels[0].curves) == 3
    with pytest.raises(InputError, match="cdf: no run has distributions"):
        charts(Measured({"": older}), ["cdf"])


def test_distributions_need_no_packets_of_a_run(tmp_path: Path) -> None:
    bare = sojourn.run(sojourn.loads(STEPPED), workers=1)
    assert bare.runs[0].events() is None
    for name in ("cdf", "ccdf"):
        assert len(chart(Measured({"": bare}), name).panels[0].curves[0].x) > 100


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_several_pictures_take_a_file_each_and_one_the_name_itself(
    suffix: str, kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / f"x{suffix}"
    assert status(["plot", str(kept), "--out", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["missing"] == []
    assert found["files"] == [str(tmp_path / f"x-{name}{suffix}") for name in FIGURES]
    assert all(Path(path).stat().st_size > 5_000 for path in found["files"])
    assert status(["plot", str(kept), "--out", str(out), "--figure", "delay"]) == 0
    assert out.read_bytes() == (tmp_path / f"x-delay{suffix}").read_bytes()


def test_a_csv_has_the_points_of_every_curve(
    kept: Path, measured: Measured, tmp_path: Path
) -> None:
    for name in ("delay", "tradeoff"):
        out = tmp_path / f"{name}.csv"
        assert status(["plot", str(kept), "--out", str(out), "--figure", name]) == 0
        rows = list(csv.DictReader(out.open()))
        for panel in chart(measured, name).panels:
            places = [(part.name, x, y) for part in panel.parts for x, y in part.pairs]
            for row, (curve, x, y) in zip(rows, places, strict=True):
                assert row["panel"] == f"{panel.title}, {panel.y}" and row["curve"] == curve
                assert (float(row["x"]), float(row["y"])) == pytest.approx((x, y), rel=1e-5)
            for row, point in zip(rows, panel.points, strict=False):
                for way, half in (("x", point.x_half), ("y", point.y_half)):
                    middle, low, high = (float(row[f"{way}{end}"]) for end in ("", "_low", "_high"))
                    assert middle - low == pytest.approx(half, abs=1e-3)
                    assert high - middle == pytest.approx(half, abs=1e-3)


def test_one_algorithm_of_a_result_can_be_drawn_alone(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, out = (list(sojourn.plot(kept, tmp_path / f"{n}.csv", "delay")) for n in "ab")
    every = list(dict.fromkeys(row["curve"] for row in csv.DictReader(whole[0].open())))
    sojourn.plot(kept, out[0], "delay", aqms=every[1])
    assert {row["curve"] for row in csv.DictReader(out[0].open())} == {every[1]}
    assert len(every) > 1
    assert status(["plot", str(kept), "--aqm", "unheard", "--out", str(out[0])]) == 2
    assert "--aqm unheard: the result has none. Valid names: " in capsys.readouterr().err


def test_a_picture_is_as_wide_as_its_page_and_its_letters_keep_their_size(
    measured: Measured,
) -> None:
    for name in FIGURES:
        for width_in in (WIDE_IN, NARROW_IN):
            figure = draw(chart(measured, name), width_in)
            figure.draw_without_rendering()
            box = figure.get_tightbbox()
            assert box.x0 >= -0.01 and box.x1 <= width_in + 0.01, name
            assert box.y0 >= -0.01 and box.y1 <= figure.get_size_inches()[1] + 0.01, name


def test_an_svg_of_its_own_follows_the_scheme_of_its_reader(measured: Measured) -> None:
    found = chart(measured, "delay")
    text = svg_file(draw(found), found.words).decode()
    light, _, dark = text.partition("@media (prefers-color-scheme: dark)")
    assert 'aria-label="Delay over time' in light
    for colour in set(
        re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", dark.partition("</style>")[2])
    ):
        assert f'"stroke: {colour}"' in dark.partition("</style>")[0]


@pytest.mark.parametrize("name", ["delay", "tradeoff", "ping", "fairness"])
def test_a_pdf_for_a_paper_has_its_width_and_letters_as_text(
    kept: Path, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "figure.pdf"
    words = ["--figure", name, "--out", str(out), "--width", "3.5in", "--font", "8pt"]
    assert status(["plot", str(kept), *words]) == 0
    content = out.read_bytes()
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", content)
    assert box and float(box[1]) == pytest.approx(252)
    assert b"/FontFile2" in content and b"/Type3" not in content
    assert status(["plot", str(kept), *words]) == 0
    assert out.read_bytes() == content
    figure = draw(chart(Measured({"": sojourn.Result.load(kept)}), name), 3.5, 8)
    figure.draw_without_rendering()
    (box_of,) = [figure.get_tightbbox()]
    assert box_of.x0 >= -0.01 and box_of.x1 <= 3.51
    sizes = {text.get_fontsize() for axes in figure.axes for text in axes.get_xticklabels()}
    assert sizes == {8}


def test_an_svg_of_its_own_has_its_letters_as_text(measured: Measured) -> None:
    found = chart(measured, "delay")
    text = svg_file(draw(found, 3.5, 8), found.words).decode()
    assert ">queue delay (ms)</text>" in text and 'width="252pt"' in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--width", "3.5"], "--width 3.5: a number and in or cm or mm are wanted"),
        (["--width", "١٠cm"], "--width ١٠cm: a number and in or cm or mm are wanted"),
        (["--width", "90in"], "--width 90in: allowed: 1 in to 40 in"),
        (["--font", "8px"], "--font 8px: a number and pt are wanted"),
        (["--out", "a.html", "--font", "8pt"], "a.html: --width and --font are of pictures"),
    ],
)
def test_a_size_that_a_picture_cannot_have_is_one_sentence(
    kept: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["plot", str(kept), *words]) == 2
    assert said in capsys.readouterr().err


def test_a_png_has_letters_on_light_ground(measured: Measured) -> None:
    found = chart(measured, "tradeoff")
    pixels = imread(BytesIO(png_file(draw(found), found.words)))
    assert (pixels[0, 0, :3] == 1).all()
    assert (pixels[..., :3].max(axis=2) < 0.2).any()
    assert pixels.shape[1] > 1_400


def test_more_algorithms_than_looks_take_several_pictures() -> None:
    aqms = [f"codel:target={n}ms,interval={n}0ms" for n in range(1, LOOKS + 4)]
    scenario = sojourn.loads(SMALL.replace('"2 s"', '"500 ms"'))
    measured = Measured({"": sojourn.run(scenario, aqms=aqms, workers=1)})
    first, second = charts(measured, ["delay"])[0]
    assert (first.name, second.name) == ("delay-1", "delay-2")
    assert second.title == "Delay over time: part 2 of 2"
    assert [len(of.panels[0].curves) for of in (first, second)] == [LOOKS, 3]
    looks = [curve.look for curve in first.panels[0].curves]
    assert len({(look % 6, look % 4) for look in looks}) == LOOKS
    figure = draw(second, NARROW_IN)
    figure.draw_without_rendering()
    assert figure.get_tightbbox().x1 <= NARROW_IN + 0.01


EMPTY = """
format = 2
name = "empty"
duration = "{duration}"
[dumbbell]
rate = "10 Mbit/s"
rtt = "40 ms"
[[dumbbell.flows]]
start = "{start}"
start_spread = "0 s"
app = {{ kind = "bulk", size = "100 B" }}
[record]
events = true
windows = [
    {{ name = "a", from = "0 s", to = "1 ms" }},
    {{ name = "b", from = "1 ms", to = "2 ms" }},
]
"""


@pytest.mark.parametrize("start", ["0 s", "105 ms", "150 ms"])
@pytest.mark.parametrize("suffix", [".html", ".png", ".svg", ".csv"])
def test_an_empty_run_and_one_of_a_single_packet_are_drawn(
    start: str, suffix: str, tmp_path: Path
) -> None:
    result = sojourn.run(sojourn.loads(EMPTY.format(duration="151 ms", start=start)))
    result.save(tmp_path / "out")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        words = ["plot", str(tmp_path / "out"), "--out", str(tmp_path / f"x{suffix}")]
        assert status([*words, "--figure", "delay", "--figure", "drops", "--figure", "cdf"]) == 0
        assert status([*words, "--figure", "ccdf", "--figure", "rate"]) == 0


def test_a_run_shorter_than_a_step_of_the_series_names_the_key(tmp_path: Path) -> None:
    result = sojourn.run(sojourn.loads(EMPTY.format(duration="50 ms", start="0 s")))
    with pytest.raises(InputError, match=r"set record\.series"):
        charts(Measured({"": result}), ["delay"])


def test_an_experiments_result_is_drawn_signal_by_signal(beside: Reproduction) -> None:
    measured = Measured({"": beside.result}, "bottleneck")
    found, _ = charts(measured, ["tradeoff"])
    # One picture for each signal and host, though their names tell them apart already.
    kinds = {(case.signal, case.host) for case in measured.by_case}
    assert [one.title for one in found] == [
        f"Throughput against delay: {signal}, {host}"
        for signal, host in dict.fromkeys((c.signal, c.host) for c in measured.by_case)
    ]
    assert len(found) == len(kinds) > 2
    points = [point.name for one in found for panel in one.panels for point in panel.points]
    assert len(points) == len(set(points)) == len(measured.by_case)
    assert "DUK, ecn, linux" in points


def test_names_are_drawn_as_they_are(kept: Path) -> None:
    result = sojourn.Result.load(kept)
    for name in ("_hidden", "a $x^2$ b", "<b>&amp;", "x" * 300):
        found = chart(Measured({name: result, "other": result}), "delay")
        text = svg_file(draw(found), found.words).decode()
        assert "mathdefault" not in text and "<b>" not in text
        labels = [text.get_text() for text in draw(found).legends[0].get_texts()]
        assert sum("other" in label for label in labels) == 3 and len(labels) == 6


def test_many_queues_ask_for_one(measured: Measured, kept: Path) -> None:
    result = sojourn.Result.load(kept)
    queues = [
        {**result.runs[0].report["queues"][0], "name": f"q{i}"} for i in range(MAX_PANELS + 1)
    ]
    run = type(result.runs[0])(
        result.runs[0].labels, {**result.runs[0].report, "queues": queues}, result.runs[0].entry
    )
    many = sojourn.Result(result.graph, (run,))
    with pytest.raises(InputError, match="name one with --queue, such as q0"):
        Measured({"": many})
    assert Measured({"": many}, "q3").queues == ["q3"]


def test_a_run_is_drawn_at_once(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "p.html"
    assert status(["run", str(small), "--plot", str(page), "--json"]) == 0
    assert "runs" in json.loads(capsys.readouterr().out)
    assert "Delay over time" in page.read_text()


def test_a_page_that_cannot_be_written_is_one_sentence(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["plot", str(kept), "--out", "/proc/no/x.html"]) == 3
    said = "/proc/no/x.html: there is no folder /proc/no; make it, or name another place"
    assert said in capsys.readouterr().err


def test_figures_with_a_comma_are_told_how_to_be_given(measured: Measured) -> None:
    with pytest.raises(InputError, match=r"name each by itself: --figure delay --figure cdf$"):
        charts(measured, ["delay,cdf"])


def test_a_picture_asked_for_twice_is_drawn_once(measured: Measured) -> None:
    assert [found.name for found in charts(measured, ["delay", "delay"])[0]] == ["delay"]


UNRATED = """
format = 2
name = "no queue"
duration = "1 s"
nodes = ["a", "b"]
cables = [{ name = "wire", between = ["a", "b"], delay = "1 ms" }]
flows = [{ from = "a", to = "b", app = { kind = "bulk", size = "1 kB" } }]
"""


@pytest.mark.parametrize("words", [["plot"], ["export", "--format", "flent"]])
def test_a_result_without_a_queue_says_what_makes_one(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sojourn.run(sojourn.loads(UNRATED), out=tmp_path / "out")
    out = str(tmp_path / "x.html")
    assert status([words[0], str(tmp_path / "out"), *words[1:], "--out", out]) == 2
    assert "one is measured where its link has a rate or a trace" in capsys.readouterr().err
    assert status(["compare", str(tmp_path / "out")]) == 0


def test_several_figures_are_several_files_and_the_way_to_one_is_told(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "p.csv"
    assert status(["plot", str(kept), "--out", str(out)]) == 0
    said = capsys.readouterr()
    count = said.out.count("plot: ")
    assert said.err.splitlines()[-1] == (
        f"sojourn: these are {count} files, a figure in each; --figure NAME writes one"
    )
    assert count == len(list(tmp_path.glob("p-*.csv"))) > 1 and not out.exists()
    assert status(["plot", str(kept), "--out", str(out), "--figure", "delay"]) == 0
    assert out.exists() and "files" not in capsys.readouterr().err
