# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Scenarios known by name: each is written, read back and run, and says what its source says."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import sojourn
from sojourn.cli import status
from sojourn.cli.options import scenarios
from sojourn.cli.show import _complete_list, listing
from sojourn.scenario import Scenario
from sojourn.scenario.ends import recorded
from sojourn.scenario.known import known_scenarios

NAMES = list(known_scenarios())
# RFC 7928, figure 4, but for the sender that is less than best effort (5.4), which no host has.
SECTIONS = (
    *("4.4", "5.1.1", "5.1.2", "5.2", "5.3", "6.2", "7.2"),
    *("8.2.2", "8.2.3", "8.2.4", "8.2.5", "8.2.6", "9.1", "9.2", "10.2"),
)


def written(name: str) -> Scenario:
    assert status(["new", "--scenario", name]) == 0
    return sojourn.load(f"{name}.toml")


@pytest.fixture(autouse=True)
def an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_is_written_read_back_and_run(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = written(name)
    assert scenario.name == name
    capsys.readouterr()
    assert status(["show", "--expand", f"{name}.toml"]) == 0
    graph = sojourn.loads(capsys.readouterr().out)
    assert graph.to_engine() == scenario.to_engine()
    (run,) = sojourn.run(scenario, workers=1, again=True).runs
    links, names = graph.links, scenario.expand().record.queues
    assert {queue["name"] for queue in run.report["queues"]} == set(recorded(links, names))
    # A class may be idle, and a modem has a part of its cable.
    whole = {link.name for link in links if not link.end and not scenario.media}
    for queue in (queue for queue in run.report["queues"] if queue["name"] in whole):
        for window in queue["windows"]:
            assert window["utilisation_pct"] > 70 or name == "sqm", window["from_s"]
    flows = run.report["flows"]
    assert {flow["name"] for flow in flows} == {group.name for group in graph.flows}
    assert all(flow["delivered_bytes"] > 0 for flow in flows)


@pytest.mark.parametrize("name", NAMES)
def test_a_written_file_begins_with_its_source_and_has_no_licence(name: str) -> None:
    written(name)
    text = Path(f"{name}.toml").read_text()
    schema, _, rest = text.partition("\n")
    assert schema == "#:schema ./scenario.schema.json" and rest.startswith("# source: ")
    assert "SPDX" not in text
    assert known_scenarios()[name].source in " ".join(text.replace("\n#", " ").split())


def lint(*files: str) -> subprocess.CompletedProcess[str]:
    words = ["tombi", "lint", "--offline", *files]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_an_editor_takes_every_written_file_and_marks_a_wrong_key_and_a_wrong_value() -> None:
    for name in NAMES:
        written(name)
    done = lint(*(f"{name}.toml" for name in NAMES))
    assert done.returncode == 0, done.stdout + done.stderr
    text = Path("voip.toml").read_text().replace("rate =", "rat =").replace("= 4", '= "four"')
    Path("wrong.toml").write_text(text)
    done = lint("wrong.toml")
    said = done.stdout + done.stderr
    assert done.returncode == 1 and "rat" in said and "Integer" in said


def test_an_editor_takes_a_written_sweep_and_marks_a_wrong_key_and_a_wrong_value() -> None:
    written("home")
    assert status(["new", "--sweep", "home.toml"]) == 0
    text = Path("sweep.toml").read_text()
    for form in (
        'plan = "grid"',
        'plan = { kind = "latin_hypercube", cells = 3 }',
        'hosts = ["sim"]',
    ):
        Path(f"{len(form)}.toml").write_text(text.replace("seeds = 3", f"seeds = '2..4'\n{form}"))
    done = lint(*(path.name for path in Path().glob("*.toml")))
    assert done.returncode == 0, done.stdout + done.stderr
    Path("wrong.toml").write_text(text.replace("seeds", "sedes").replace('key = "', 'key = 5 # "'))
    done = lint("wrong.toml")
    said = done.stdout + done.stderr
    assert done.returncode == 1 and "sedes" in said and "String" in said


def test_an_editor_takes_the_files_of_a_written_paper_and_marks_a_wrong_key() -> None:
    assert status(["new", "--paper", "mypaper"]) == 0
    files = [*Path("mypaper").rglob("*.toml")]
    assert all(file.read_text().startswith("#:schema ") for file in files)
    done = lint(*map(str, files))
    assert done.returncode == 0, done.stdout + done.stderr
    for file in files:
        text = file.read_text()
        for key in ("name =", "title =", "relation ="):
            text = text.replace(key, f"x{key}")
        file.write_text(re.sub(r"_ms = \d+\.0", '_ms = "ten"', text))
        done = lint(str(file))
        said = done.stdout + done.stderr
        assert done.returncode == 1 and re.search("xname|xtitle|xrelation|found String", said), said


def test_the_list_has_every_scenario_and_section_with_its_source() -> None:
    found = listing("scenarios")["scenarios"]
    assert [entry["name"] for entry in found] == NAMES and all(entry["brief"] for entry in found)
    sources = " ".join(entry["source"] for entry in found)
    assert [section for section in SECTIONS if f"section {section}," not in sources] == []
    assert "flent" in sources
    assert scenarios("rr") == ["rrul"] and _complete_list("sc") == ["scenarios"]


def test_a_trace_is_written_beside_its_scenario_and_no_other_is_lost() -> None:
    assert len(written("cellular").to_engine()["links"][1]["trace"]) > 1000
    assert status(["new", "--scenario", "cellular", "again.toml"]) == 0
    Path("cellular.down").write_text("7\n")
    assert status(["new", "--scenario", "cellular", "third.toml"]) == 2
    assert Path("cellular.down").read_text() == "7\n"
    assert not Path("third.toml").exists()


def test_a_scenario_has_the_name_that_people_call_it_by_too() -> None:
    assert status(["new", "--scenario", "lte"]) == 0
    assert sojourn.load("cellular.toml").name == "cellular" and not Path("lte.toml").exists()


def test_the_trace_is_what_its_command_makes() -> None:
    from sojourn.scenario import known

    assert known.DEFAULT.read_text() == known.text()


def test_an_existing_file_is_kept() -> None:
    Path("mine.toml").write_text("mine")
    assert status(["new", "--scenario", "rrul", "mine.toml"]) == 2
    assert Path("mine.toml").read_text() == "mine"
    assert status(["new", "--scenario", "rrul", "other.toml"]) == 0
    assert sojourn.load("other.toml").name == "rrul"


# ---- what the sources ask for ----


def groups(scenario: Scenario) -> dict[str, Any]:
    return {group.name: group for group in scenario.expand().flows}


def bottleneck(scenario: Scenario) -> Any:
    graph = scenario.expand()
    (link,) = (link for link in graph.links if link.name == graph.record.queues[-1])
    return link


def packets_in_flight(scenario: Scenario, rtt_s: float = 0.1) -> float:
    """S of section 8.2.1: the buffer, and the product of rate and round trip."""
    link = bottleneck(scenario)
    return float(link.queue.rows["limit"] + link.rate * rtt_s / 8 / 1514)


FACTORS = {"mild": 0.036, "medium": 0.081, "heavy": 0.114}


@pytest.mark.parametrize(("level", "factor"), FACTORS.items())
def test_a_level_of_congestion_has_the_flows_of_its_formula(level: str, factor: float) -> None:
    scenario = written(f"rfc7928_{level}")
    assert groups(scenario)["bulk"].count == round(factor * packets_in_flight(scenario))


def test_the_level_of_congestion_changes_every_20_s() -> None:
    scenario = written("rfc7928_varying_congestion")
    wanted = [round(factor * packets_in_flight(scenario)) for factor in FACTORS.values()]
    active = []
    for window in scenario.record.windows:
        assert window.to - window.from_ == 20e9
        middle = (window.from_ + window.to) / 2
        there = (
            group.count
            for group in groups(scenario).values()
            if group.start < middle < (group.stop or scenario.duration)
        )
        active.append(sum(there))
    assert active == wanted * 2


@pytest.mark.parametrize(("name", "phase_ns"), [("varying", 20e9), ("fast", 1e8)])
def test_the_capacity_changes_between_100_and_10_mbit(name: str, phase_ns: float) -> None:
    scenario = written(f"rfc7928_{name}_capacity")
    steps = bottleneck(scenario).schedule
    assert {later.at - step.at for step, later in pairwise(steps)} == {phase_ns}
    rates = [bottleneck(scenario).rate, *(step.rate for step in steps)]
    assert rates == [1e8 if number % 2 == 0 else 1e7 for number in range(len(rates))]
    first = scenario.record.windows[0].from_ + phase_ns
    assert steps[0].at == first and steps[-1].at >= scenario.duration - phase_ns


def test_unresponsive_traffic_is_above_the_link_or_between_half_and_all_of_it() -> None:
    alone, mixed = written("rfc7928_unresponsive"), written("rfc7928_unresponsive_mix")
    assert groups(alone)["udp"].app.rate > bottleneck(alone).rate
    share = groups(mixed)["udp"].app.rate / bottleneck(mixed).rate
    assert 0.5 < share < 1000 / 1056


def test_round_trips_are_those_of_the_two_categories() -> None:
    flows = groups(written("rfc7928_rtt_fairness"))
    assert [flow.rtt for flow in flows.values()] == [100e6, 560e6]


def test_the_short_flow_has_more_than_ten_packets_and_fewer_than_a_hundred() -> None:
    flows = groups(written("rfc7928_initial_windows"))
    assert 10 < flows["short"].app.size / 1448 < 100
    assert flows["short"].start > 10e9 and flows["long"].start == 0


def test_pages_come_over_six_connections_with_an_initial_window_of_ten() -> None:
    scenario = written("rfc7928_burst")
    web = groups(scenario)["web"]
    assert (web.app.parallel, web.app.persistent) == (6, 1)
    assert web.app.response >= 1000 and web.app.response_sigma == 0
    assert web.transport.options["initial_window_pkts"] == 10
    assert list(groups(scenario)) == ["video", "web", "cbr", "bulk"]


def test_the_mix_has_so_many_flows_of_each_kind() -> None:
    counts = {name: group.count for name, group in groups(written("rfc7928_traffic_mix")).items()}
    one = dict.fromkeys(("voice", "voice back", "cbr", "video"), 1)
    assert counts == one | {"web": 6, "bulk": 5}


def test_an_algorithm_is_put_into_both_directions_of_rrul_and_holds_delay_down() -> None:
    scenario = written("rrul")
    counts = {name: group.count for name, group in groups(scenario).items()}
    assert counts == {"download": 4, "upload": 4, "ping udp": 3, "ping icmp": 1}
    result = sojourn.run(scenario, aqms=["fifo", "fq_codel"], workers=1)
    fifo, fq_codel = (
        [queue["windows"][0]["queue_delay_ms"]["mean"] for queue in run.report["queues"]]
        for run in result
    )
    assert len(fifo) == 2
    assert all(ours < theirs / 10 for ours, theirs in zip(fq_codel, fifo, strict=True))


def test_commands_of_the_comments_run(capsys: pytest.CaptureFixture[str]) -> None:
    ran = 0
    for name in NAMES:
        written(name)
        for words in re.findall(r"^#   (--set .*)$", Path(f"{name}.toml").read_text(), re.M):
            ran += 1
            sets = [word.strip().strip('"') for word in re.split(r"--set ", words) if word]
            changes = [word for change in sets for word in ("--set", change)]
            assert status(["run", f"{name}.toml", "--workers", "1", *changes]) == 0, words
    assert ran == 4


# ---- stages at the ends of links ----


def measured(name: str, *aqms: str, changes: Mapping[str, object] | None = None) -> list[Any]:
    """Run a scenario with each of the algorithms; return the report of each run."""
    scenario = sojourn.load(f"{name}.toml") if Path(f"{name}.toml").exists() else written(name)
    result = sojourn.run(scenario, aqms=list(aqms), changes=changes or {})
    return [run.report for run in result.runs]


def delay_ms(report: Any, queue: str) -> float:
    (window,) = next(of for of in report["queues"] if of["name"] == queue)["windows"]
    return float(window["queue_delay_ms"]["mean"] or 0)


def group(report: Any, name: str) -> Any:
    return next(of for of in report["transport"][0]["groups"] if of["name"] == name)


@pytest.mark.parametrize(("name", "mac"), [("cable", "cable up/modem 1"), ("docsis", "up 1/mac")])
def test_on_a_cable_only_a_sender_that_measures_the_way_finds_the_queue_of_the_mac(
    name: str, mac: str
) -> None:
    codel, asqm = measured(name, "codel", "asqm")
    assert delay_ms(codel, mac) > 1000
    assert delay_ms(asqm, mac) < 100
    sent = [sum(group(of, f"up {i}")["goodput_mbps"] for i in (1, 2, 3)) for of in (codel, asqm)]
    assert sent[1] > 0.97 * sent[0] > 18


def test_behind_the_htb_of_a_router_calls_pass_uploads_and_the_modem_is_empty() -> None:
    (report,) = measured("router_htb", "fq_codel")
    assert delay_ms(report, "up/sqm/voice") < 1 < delay_ms(report, "up/sqm/rest")
    assert delay_ms(report, "up/modem") < 2
    assert group(report, "calls")["delay_ms"] < 14
    rates = {f"links.up.end.sqm.{of}.ceil": "20 Mbit/s" for of in ("voice", "rest", "backup")}
    changes = {"links.up.end.sqm.line.rate": "20 Mbit/s", **rates}
    (unshaped,) = measured("router_htb", "fq_codel", changes=changes)
    assert group(unshaped, "calls")["delay_ms"] > 200


def test_fair_queues_keep_a_stream_running_and_a_video_call_at_its_rate() -> None:
    fifo, fq_codel = measured("video", "fifo", "fq_codel")
    assert group(fifo, "video call")["delay_p50_ms"] > 300
    call, stream = (group(fq_codel, name) for name in ("video call", "stream"))
    assert call["delay_p95_ms"] < 50 and call["goodput_mbps"] > 2.5
    assert stream["stalls"] == 0 and stream["bitrate_mbps"] > 2


def test_classes_of_diffserv_have_their_turns_and_the_call_passes_all() -> None:
    (report,) = measured("diffserv", "codel")
    assert delay_ms(report, "core/ef") < 0.3
    shares = [group(report, name)["goodput_mbps"] for name in ("video", "files", "rest")]
    assert shares[0] / shares[2] == pytest.approx(4, rel=0.1)
    assert shares[1] / shares[2] == pytest.approx(2, rel=0.1)


def test_a_shaper_behind_the_slow_link_keeps_the_buffer_before_it_short() -> None:
    (report,) = measured("sqm", "fq_codel")
    assert delay_ms(report, "modem down") < 10 and delay_ms(report, "modem up") < 10
    assert group(report, "downloads")["goodput_mbps"] > 40
    wide = {f"links.ingress.end.sqm.{of}.rate": "100 Mbit/s" for of in ("line", "all")}
    (unshaped,) = measured("sqm", "fq_codel", changes=wide)
    assert delay_ms(unshaped, "modem down") > 50


def test_a_satellite_link_changes_each_15_s_and_drops_from_the_front() -> None:
    fifo, codel = measured("starlink", "fifo", "codel")
    steps = next(of for of in fifo["queues"] if of["name"] == "down")["steps"]
    assert [step["at_s"] for step in steps] == [15.0 * nth for nth in range(1, 8)]
    assert delay_ms(codel, "down") < delay_ms(fifo, "down") / 3
