# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The fluid model: against published designs, against its own nonlinear equations, against the
packet engine; and the command that shows it."""

from __future__ import annotations

import cmath
import csv
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sojourn.cli import status
from sojourn.core.errors import InputError
from sojourn.core.units import Duration, Rate, Size
from sojourn.theory import maps, rows
from sojourn.theory.equations import growth_per_s, integrate
from sojourn.theory.laws import Red, Seen
from sojourn.theory.loop import Loop, closed_unstable, margins
from sojourn.theory.models import Model, loop_of, model, printed
from sojourn.theory.network import Network, Plant, read, rest
from sojourn.theory.noise import noise, notes, swing_hz

from tests.pages import parse

# 3750 packets/s, after Hollot et al., INFOCOM 2001.
RATE = "15 Mbit/s"
GUIDE = Path("docs/guide/stability.md")
HOLLOT = ["--flows", "60", "--capacity", RATE, "--rtt", "200 ms", "--packet", "500 B"]


def network(flows: int = 60, rtt: str = "200 ms", rate: str = RATE, size: str = "500 B") -> Network:
    return read(flows, Rate(rate), Duration(rtt), Size(size))


def of(text: str, *sets: str, **where: object) -> Model:
    return model(rows.choose(text, list(sets)), network(**where))  # type: ignore[arg-type]


# ---- the equilibrium and the plant ----


def test_at_rest_nothing_changes_in_the_nonlinear_equations() -> None:
    for text in ("pi", "rem:avpkt=500B", "red:max=90,form=gentle", "pie", "pie_2013", "lqd"):
        found = of(text, rtt="80 ms")
        course = integrate([found], 0.3, push=0.0)
        assert course
        assert found.at.queue_pkts > 5
        assert course.window_pkts[-1, 0] == pytest.approx(found.at.window_pkts, rel=1e-6), text
        assert course.queue_pkts[-1, 0] == pytest.approx(found.at.queue_pkts, rel=1e-6), text


def test_lqd_rests_where_its_page_says() -> None:
    found = of("lqd", "qref=240")
    assert found.at.queue_pkts == pytest.approx(240 + 1000 * found.at.signal, rel=0.03)


def test_rem_in_packets_of_1500_bytes_rests_83_packets_above_its_reference() -> None:
    """docs/reference/algorithms/rem.md: avpkt is 1000 bytes, c counts 25 packets and 16.7 fill the
    link."""
    found = of("rem", rate="100 Mbit/s", size="1500 B", flows=100, rtt="80 ms")
    assert found.at.queue_pkts == pytest.approx(20 + 83.3, abs=0.1)
    assert "+83.3 packets from qref" in found.notes[0]


def test_the_plant_has_the_gain_of_hollots_at_rest() -> None:
    at = of("pi", "qref=175").at
    gain = (at.round_trip_s * 3750) ** 3 / (2 * 60) ** 2
    assert abs(Plant(at).response(0)) == pytest.approx(gain)
    assert abs(Plant(at, is_simplified=True).response(0)) == pytest.approx(gain)


def test_the_plant_is_the_derivative_of_the_equations() -> None:
    """Each term of the linear equations, from differences of the nonlinear ones."""
    at = of("pi", "qref=175").at
    flows, capacity, trip = 60, 3750.0, at.round_trip_s

    def slopes(q: float, w: float, q_r: float, w_r: float, p_r: float) -> tuple[float, float]:
        here, back = 0.2 + q / capacity, 0.2 + q_r / capacity
        return flows * w / here - capacity, 1 / here - w * w_r / (2 * back) * p_r

    rests = [at.queue_pkts, at.window_pkts, at.queue_pkts, at.window_pkts, at.signal]
    assert np.allclose(slopes(*rests), 0, atol=1e-9)
    by: list[list[float]] = []
    for i, value in enumerate(rests):
        step = 1e-5 * value
        up = slopes(*[v + step * (i == j) for j, v in enumerate(rests)])
        down = slopes(*[v - step * (i == j) for j, v in enumerate(rests)])
        by.append([(u - d) / (2 * step) for u, d in zip(up, down, strict=True)])
    s = 0.3 + 2j
    late = cmath.exp(-s * trip)
    matrix = np.array(
        [
            [s - by[0][0] - by[2][0] * late, -by[1][0] - by[3][0] * late],
            [-by[0][1] - by[2][1] * late, s - by[1][1] - by[3][1] * late],
        ]
    )
    queue = np.linalg.solve(matrix, np.array([by[4][0], by[4][1]]) * late)[0]
    assert -queue == pytest.approx(Plant(at).response(s), rel=1e-6)


# ---- published designs ----


def test_the_published_gains_of_pi_have_their_zero_at_the_pole_of_tcp() -> None:
    """a = 1.822e-5 and b = 1.816e-5 at 160 Hz for N = 60, C = 3750, R = 0.246: z = 2 N / (R^2 C).
    Then only the queue's pole and the dead time are left: 90 less atan(w R) less w R."""
    chosen = rows.choose("pi:qref=175,a=1.822e-5,b=1.816e-5,interval=6.25ms", [])
    (found,) = printed(chosen, network())
    trip = found.at.round_trip_s
    assert trip == pytest.approx(0.2467, abs=1e-4)
    cross = found.margins.crossover_rad_s
    assert cross == pytest.approx(2 * 60 / (trip**2 * 3750), rel=0.02)
    expected = 90 - math.degrees(math.atan(cross * trip)) - math.degrees(cross * trip)
    assert found.margins.phase_deg == pytest.approx(expected, abs=0.5)
    assert found.margins.phase_deg == pytest.approx(75, abs=1)


def test_the_published_design_of_red_crosses_where_its_rule_says() -> None:
    """Hollot et al., "A Control Theoretic Analysis of RED": a slope of 0.1 / 550 and an average of
    K = 0.005 rad/s cross below w_g = 0.1 min(2 N / (R^2 C), 1 / R) = 0.053 rad/s."""
    law = Red(
        name="red",
        low_pkts=150,
        high_pkts=700,
        most=0.1,
        weight=-math.expm1(-0.005 / 3750),
        scale=1,
        is_gentle=False,
        is_spaced=False,
    )
    # R = 0.246 s is given, whatever the queue.
    at = rest(network(rtt="246 ms"), lambda _: 0.0, "red")
    found = margins(loop_of("red", Plant(at, is_simplified=True), law))
    assert 0.9 * 0.053 < found.crossover_rad_s < 0.053
    assert found.is_stable
    assert found.phase_deg == pytest.approx(90, abs=3)


@pytest.mark.parametrize(("interval", "phase_deg"), [("1s", -24), ("1ms", -108)])
def test_the_corrected_equations_of_lqds_paper_are_unstable_in_its_example(
    interval: str, phase_deg: float
) -> None:
    """1000 flows, 12,500 packets/s and, for the round trip that it does not give, 200 ms. With an
    interval of 1 s the gains of an update are those of a second."""
    chosen = rows.choose("lqd", [f"interval={interval}"])
    where = network(1000, "200 ms", "100 Mbit/s", "1000 B")
    corrected, as_printed = printed(chosen, where)
    assert corrected.margins.unstable == 2
    assert corrected.margins.phase_deg == pytest.approx(phase_deg, abs=1)
    # As printed, its own equation is not stable here either, and swings far more slowly.
    assert as_printed.margins.unstable == 2
    assert as_printed.margins.crossover_rad_s == pytest.approx(0.497, abs=0.01)


@pytest.mark.parametrize(
    ("rtt", "margins_deg"),
    [
        ("114 ms", (33.2, 23.1, 0.6)),
        ("122 ms", (14.1, -2.4, 0.5)),
        ("130 ms", (-3.4, -27.0, 0.4)),
        ("170 ms", (-59.5, -86.0, -0.2)),
    ],
)
def test_lqds_example_is_stable_for_some_round_trips_that_its_text_leaves_out(
    rtt: str, margins_deg: tuple[float, ...]
) -> None:
    chosen, where = rows.choose("lqd", []), network(1000, rtt, "100 Mbit/s", "1000 B")
    loops = [model(chosen, where), *printed(chosen, where)]
    assert [loop.margins.phase_deg for loop in loops] == pytest.approx(margins_deg, abs=0.06)
    stable = [loop.margins.is_stable for loop in loops]
    assert stable == [degrees > 0 for degrees in margins_deg]
    assert (
        f"| {rtt} | {' | '.join(f'{degrees}°' for degrees in margins_deg)} |" in GUIDE.read_text()
    )


def test_a_probability_just_above_1_is_told() -> None:
    with pytest.raises(InputError, match=r"the paper's p would be 1\.002\d*, above 1"):
        printed(rows.choose("lqd", []), network(1000, "113 ms", "100 Mbit/s", "1000 B"))


def test_lqds_paper_as_printed_calls_stable_what_is_not() -> None:
    corrected, as_printed = printed(rows.choose("lqd", []), network())
    assert as_printed.margins.is_stable
    assert not corrected.margins.is_stable
    assert not of("lqd").margins.is_stable


@pytest.mark.parametrize("text", ["pi", "rem:avpkt=500B", "lqd", "pie", "pie_2013"])
def test_a_law_answers_a_queue_that_swings_slowly_as_its_own_steps_do(text: str) -> None:
    """The transfer function at one frequency, from the law run step by step on a small sine."""
    found = of(text, rtt="80 ms")
    law, at = found.law, found.at
    assert law
    omega = 2 * math.pi / (200 * law.sampled_s)
    state = law.start(at)
    swings = []
    # 20 periods, of which the last 10 count.
    for k in range(4000):
        t = k * law.sampled_s
        late = t - getattr(law, "target_s", 0.0)
        now, before, delayed = (
            at.queue_pkts * (1 + 1e-4 * math.sin(omega * moment))
            for moment in (t, t - law.sampled_s, late)
        )
        swings.append(float(law.update(state, Seen(now, before, delayed, 3750.0, 0.0))))
    phases = np.exp(-1j * omega * law.sampled_s * np.arange(2000, 4000))
    answer = 2j * np.mean((np.array(swings[2000:]) - np.mean(swings[2000:])) * phases)
    expected = law.response(1j * omega, at) * at.queue_pkts * 1e-4
    assert answer == pytest.approx(expected, rel=0.02)


# ---- Nyquist, with a dead time ----


@pytest.mark.parametrize(("dead_s", "unstable"), [(1.5, 0), (1.65, 2), (7.5, 2), (8.2, 4)])
def test_an_integrator_with_a_dead_time_is_stable_up_to_a_quarter_turn(
    dead_s: float, unstable: int
) -> None:
    """exp(-s T) / s: two more poles cross the axis at each T = pi / 2 + 2 pi n."""
    loop = Loop("integrator", lambda s: np.exp(-s * dead_s) / s, dead_s, 1.0, 1.0)
    assert closed_unstable(loop) == unstable
    # It crosses 1 at 1 rad/s, after so many turns.
    assert margins(loop).phase_deg == pytest.approx(90 - math.degrees(dead_s), abs=0.1)


def test_a_pole_on_the_right_that_the_loop_has_itself_is_counted() -> None:
    """k / (s - 1) is stable for k above 1 alone; with a pole at +1 it has one to begin with."""
    for gain, unstable in ((0.5, 1), (2.0, 0)):
        loop = Loop("pole", lambda s, k=gain: k / (s - 1), 0.1, 1.0, 1.0, open_unstable=1)  # type: ignore[misc]
        assert closed_unstable(loop) == unstable


def test_the_delay_margin_is_the_dead_time_that_makes_it_unstable() -> None:
    found = of("pi", "qref=175")
    for share, unstable in ((0.98, 0), (1.02, 2)):
        late = share * found.margins.delay_s
        loop = replace(
            found.loop,
            gain=lambda s, t=late: found.loop.gain(s) * np.exp(-s * t),  # type: ignore[misc]
            round_trip_s=found.at.round_trip_s + late,
        )
        assert closed_unstable(loop) == unstable


def test_the_images_of_sampling_are_those_of_a_sum_over_time() -> None:
    """1 / s^2 behind a hold, sampled each T, is T^2 / 2 (z + 1) / (z - 1)^2."""
    from sojourn.theory.laws import Law
    from sojourn.theory.models import sampled

    class Gain(Law):
        def response(self, s: object, at: object) -> object:
            return 15.0

    at = of("pi").at
    gain = sampled(lambda s: 1 / s**2, Gain(name="k", sampled_s=0.1), at)
    s = 1j * np.array([0.5, 3.0, 20.0])
    z = np.exp(s * 0.1)
    assert np.allclose(gain(s), 15 * 0.1**2 / 2 * (z + 1) / (z - 1) ** 2, rtol=1e-3)


# Near the boundary on either side, in the order of the round trip.
BOUNDARY = {
    "pi": ("pi:qref=175", ("420 ms", "480 ms", "550 ms", "620 ms")),
    "pie": ("pie", ("100 ms", "115 ms", "145 ms", "180 ms")),
    "pie_2013": ("pie_2013", ("120 ms", "140 ms", "150 ms", "180 ms")),
    "rem": ("rem:avpkt=500B", ("150 ms", "200 ms", "240 ms", "300 ms")),
    "red": ("red:min=50,max=500,weight=9,form=gentle", ("200 ms", "250 ms", "320 ms", "400 ms")),
    "lqd": ("lqd:a=5e-5,b=0.5,interval=5ms", ("220 ms", "270 ms", "330 ms", "400 ms")),
}


@pytest.mark.parametrize("text", BOUNDARY)
def test_small_swings_of_the_nonlinear_equations_grow_where_nyquist_says(text: str) -> None:
    spec, trips = BOUNDARY[text]
    models = [of(spec, rtt=rtt) for rtt in trips]
    stable = [found.margins.is_stable for found in models]
    assert stable == sorted(stable, reverse=True)
    assert len(set(stable)) == 2, "the boundary is between them"
    course = integrate(models, 20 * models[-1].at.round_trip_s, push=0.001)
    assert course
    for column, found in enumerate(models):
        grows = growth_per_s(course, column, found.at.queue_pkts) > 0
        assert grows != found.margins.is_stable, (trips[column], found.margins)


def test_the_equations_swing_where_the_phase_is_half_a_turn() -> None:
    """A loop that is just unstable, after its swing has grown to what bounds let it."""
    found = of("pie_2013", rtt="150 ms")
    assert not found.margins.is_stable
    course = integrate([found], 60.0, push=0.5)
    assert course
    queue = course.queue_pkts[len(course.time_s) // 2 :, 0]
    power = np.abs(np.fft.rfft(queue - queue.mean())) ** 2
    step = course.time_s[1] - course.time_s[0]
    peak_hz = float(np.fft.rfftfreq(len(queue), step)[np.argmax(power)])
    assert peak_hz == pytest.approx(swing_hz(found), rel=0.12)


def test_more_flows_or_a_shorter_round_trip_take_no_margin_from_pi() -> None:
    """Hollot et al.: a design holds for all N above and all R below its own."""
    for flows, rtt in ((60, "60 ms"), (120, "200 ms"), (200, "100 ms")):
        assert of("pi:qref=175", flows=flows, rtt=rtt).margins.is_stable, (flows, rtt)


# ---- beside the packet engine ----


def test_the_noise_of_an_undisturbed_queue_is_that_of_a_first_order_filter() -> None:
    """Without a signal in the loop the sum of windows is a low pass of white noise, and the queue
    one of that: its variance is C / 2 / (2 a b (a + b)) / R^2 for poles a and b."""
    found = of("pi", rtt="100 ms")
    plant = Plant(found.at, is_simplified=True)
    a, b = 2 * plant.g_per_s, 1 / found.at.round_trip_s
    small = replace(found.loop, gain=lambda s: 1e-12 / (1 + s))
    spectrum = noise(replace(found, plant=plant, loop=small))
    assert spectrum
    variance = 3750 / 2 * b**2 / (2 * a * b * (a + b))
    assert spectrum.deviation_pkts == pytest.approx(math.sqrt(variance), rel=0.02)


def test_the_simulated_queue_has_the_mean_and_about_the_swing_of_the_model(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = [
        *("stability", "pie_2013", "--flows", "60", "--capacity", RATE, "--rtt", "130 ms"),
        *("--packet", "500 B", "--simulate", "--duration", "90 s", "--json"),
    ]
    assert status(command) == 0
    (found,) = json.loads(capsys.readouterr().out)["models"]
    seen = found["simulated"]
    assert seen["queue_pkts"] == pytest.approx(found["equilibrium"]["queue_pkts"], rel=0.1)
    assert seen["peak_hz"] == pytest.approx(found["swing_hz"], rel=0.25)
    assert 0.7 < seen["queue_sd_pkts"] / found["queue_sd_pkts"] < 2
    # The page says why: windows differ, and E[W^2] is above E[W]^2.
    assert 0.55 < seen["signal"] / found["equilibrium"]["signal"] < 0.9


def test_swings_that_reach_the_limit_or_the_empty_queue_are_named() -> None:
    """Predicted are 25.9 packets around 75."""
    (said,) = notes(of("pie_2013", rtt="120 ms"))
    assert "swings of ± 25.9 packets reach the empty queue" in said
    (said, _) = notes(of("pie_2013", "limit=90", rtt="120 ms"))
    assert "reach its limit of 90" in said
    (said, *_) = notes(of("pie_2013", "limit=70", rtt="120 ms"))
    assert "the queue would rest at 75.0 packets and has room for 70" in said


def test_laws_whose_updates_are_far_too_many_are_not_integrated() -> None:
    assert integrate([of("pi:interval=10us", rtt="10 s")], 100.0) is None


def test_signals_are_marks_whatever_a_preset_says_of_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """ns-2's PI drops unless told; the model marks."""
    words = ["stability", "pi@ns2:limit=2000", *HOLLOT, "--simulate", "--duration", "20 s"]
    assert status([*words, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["models"]
    assert found["simulated"]["drop_pct"] < 0.1
    assert found["simulated"]["signal"] > 0.002
    # It crosses 1 at 0.1 rad/s and less.
    assert "to settle and had 7 s in the simulator" in found["notes"][-1]


# ---- the command ----


def test_presets_and_set_reach_the_law(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["stability", "pi@ns2", *HOLLOT, "--set", "qref=175", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    (found,) = said["models"]
    assert found["name"] == "pi@ns2:qref=175"
    assert found["equilibrium"]["queue_pkts"] == 175
    # Its limit is 50.
    assert any("has room for 50" in note for note in found["notes"])
    assert found["stable"] is True


def test_a_folder_has_a_page_pictures_and_the_numbers_behind_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maps, "STEPS", 8)
    out = tmp_path / "out"
    more = ["--as-printed", "--map", "flows=20..200,rtt=50 ms..500 ms", "--simulate"]
    words = ["stability", "lqd", "--set", "interval=5ms", *HOLLOT, *more, "--duration", "20 s"]
    assert status([*words, "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "the paper's, as printed" in said
    for name in ("nyquist", "bode", "map-1", "queue", "spectrum"):
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert 'aria-label="' in (out / f"{name}.svg").read_text()
    for name in ("response", "map-1", "queue", "spectrum"):
        with (out / f"{name}.csv").open() as file:
            assert len(list(csv.DictReader(file))) > 50, name
    page = parse((out / "stability.html").read_text())
    labels = [one.attributes["aria-label"] for one in page.named("svg")]
    assert len(labels) == 10  # wide and narrow
    assert all(len(label) > 40 for label in labels)
    assert not re.search(r'(src|href)="http', (out / "stability.html").read_text())
    assert "lqd" in (out / "stability.json").read_text()
    assert status(["show", "--expand", str(out / "scenario.toml")]) == 0


def test_the_cells_of_a_map_are_the_models_of_these_networks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(maps, "STEPS", 6)
    x, y = maps.axes("flows=30..120,rtt=100 ms..900 ms", network())
    chosen = rows.choose("pi:qref=175", [])
    found = maps.grid(chosen, network(), x, y)
    j, i = 3, 2
    cell = y.put(x.put(network(), float(x.values[i])), float(y.values[j]))
    beside = model(chosen, cell).margins
    assert found.phase_deg[j, i] == pytest.approx(beside.phase_deg, abs=0.3)
    assert found.unstable[j, i] == beside.unstable
    # Fewer flows and longer round trips are worse.
    assert found.unstable[-1, 0] == 2
    assert found.unstable[0, -1] == 0


def test_a_table_goes_on_below_where_a_terminal_is_narrow(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert status(["stability", "pi", *HOLLOT]) == 0
    said = capsys.readouterr().out
    assert said.count("pi ") > 3
    assert max(map(len, said.splitlines()[1:])) <= 40
