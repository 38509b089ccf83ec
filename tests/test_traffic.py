# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Kinds of traffic, from the engine's table of keys to the tables of a result."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import sojourn
from sojourn import _native
from sojourn.cli import status
from sojourn.core.errors import InputError
from sojourn.linux import refusals
from sojourn.runs.calibrate import calibrate
from sojourn.scenario import Duration, Rate, Tmix, Web, load, loads
from sojourn.scenario.flows import KINDS

HEAD = """
format = 2
name = "traffic"
duration = "4 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "20 ms"
"""
VECTORS = "SEQ 1000 1 0 0\nw 1 1\nr 30000\nl 0 0\n> 300\nt 20000\n< 5000\nt 1000\n"


def of(app: str, more: str = "") -> str:
    return f"{HEAD}\n[[dumbbell.flows]]\napp = {app}\n{more}"


def needed(kind: str) -> str:
    """A table of what the kind needs."""
    values = {"time": '"100 ms"', "rate": '"100 kbit/s"', "size": '"1 kB"'}
    keys = (k for k in KINDS[kind].table["keys"] if k["needed"])
    words = [f'kind = "{kind}"', *(f"{k['name']} = {values[k['unit']]}" for k in keys)]
    return f"{{ {', '.join(words)} }}"


def transport(kind: str) -> str:
    return f'transport = "{KINDS[kind].table["transports"][0]}"\n'


def test_the_list_names_every_kind_with_its_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["list", "traffic", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["traffic"]
    apps = {entry["name"]: entry["keys"] for entry in listed if entry["key"] == "app"}
    known = "bulk drawn respawn paced cbr voip onoff poisson files web tmix ping video nada"
    assert " ".join(apps) == known
    for name, keys in apps.items():
        assert keys == [key["name"] for key in KINDS[name].table["keys"]]
        assert status(["show", name]) == 0
        shown = capsys.readouterr().out
        assert all(key in shown for key in keys)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_runs_with_its_defaults_and_reads_back_the_same(kind: str) -> None:
    scenario = loads(of(needed(kind), transport(kind)))
    assert loads(scenario.to_toml()) == scenario
    data = scenario.to_engine()
    names = {key["name"] for key in KINDS[kind].table["keys"]}
    assert data["flows"][0]["app"].keys() == {"kind", *names}
    ran = _native.run(json.dumps(data), 1)
    assert ran
    group = json.loads(ran[0])["transport"][0]["groups"][0]
    assert group["delivered_bytes"] > 0


def test_defaults_of_the_table_are_those_of_the_engine() -> None:
    web = loads(of('"web"')).to_engine()["flows"][0]["app"]
    for key in KINDS["web"].table["keys"]:
        assert web[key["name"]] == key["default"]
    scenario = loads(of('"web"')).to_engine()
    bare = json.loads(json.dumps(scenario))
    bare["flows"][0]["app"] = {"kind": "web"}
    assert _native.run(json.dumps(bare), 1) == _native.run(json.dumps(scenario), 1)


def test_a_file_of_vectors_is_named_from_the_scenario_and_kept_in_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "trace.cvec").write_text(VECTORS)
    (folder / "scenario.toml").write_text(of('{ kind = "tmix", vectors = "trace.cvec" }'))
    monkeypatch.chdir(tmp_path)
    scenario = load(folder / "scenario.toml")
    assert scenario == loads(scenario.to_toml())
    assert status(["run", "elsewhere/scenario.toml", "--out", "out", "--seeds", "1"]) == 0
    (folder / "trace.cvec").unlink()
    (run,) = sojourn.Result.load("out")
    group = run.report["transport"][0]["groups"][0]
    assert (group["opened"], group["delivered_bytes"], group["answered_bytes"]) == (1, 5000, 300)
    assert group["fct_s"]["n"] == 1


def test_pages_and_echoes_are_in_the_results(tmp_path: Path) -> None:
    text = of('{ kind = "web", think = "200 ms" }', 'name = "users"\ncount = 3\n')
    text += '[[dumbbell.flows]]\nname = "echo"\napp = "ping"\ntransport = "udp"\nstart_spread = 0\n'
    result = sojourn.run(loads(text), out=tmp_path / "out", workers=1)
    (run,) = result
    echo = run.report["echoes"][0]
    assert echo["name"] == "echo"
    assert len(echo["sent_s"]) == len(echo["rtt_ms"]) == 41
    assert min(rtt for rtt in echo["rtt_ms"] if rtt is not None) > 20
    each = pq.read_table(tmp_path / "out" / "pings.parquet").to_pylist()
    assert [(ping["sent_s"], ping["rtt_ms"]) for ping in each] == list(
        zip(echo["sent_s"], echo["rtt_ms"], strict=True)
    )
    assert each[0]["aqm"] == run.labels["aqm"] and each[0]["flow"] == "echo"
    users, pings = pq.read_table(tmp_path / "out" / "groups.parquet").to_pylist()
    assert users["page_n"] > 5
    assert users["page_p50_s"] > users["fct_p50_s"] > 0.02
    assert users["opened"] > users["page_n"]
    assert pings["page_n"] is None
    assert pings["opened"] == 1
    came = sorted(rtt for rtt in echo["rtt_ms"] if rtt is not None)
    assert pings["rtt_p50_ms"] == pytest.approx(came[(len(came) + 1) // 2 - 1], rel=1e-3)
    assert came[-1] >= pings["rtt_p99_ms"] >= pings["rtt_p95_ms"] >= pings["rtt_p50_ms"]
    assert users["rtt_p50_ms"] is None


def test_a_call_has_quantiles_loss_and_a_score_with_its_constants(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = of('"bulk"', 'name = "load"\ncount = 4\n')
    text += '[[dumbbell.flows]]\nname = "call"\napp = "voip"\ntransport = "udp"\n'
    (tmp_path / "calls.toml").write_text(text)
    aqms = [word for aqm in ("fifo", "fq_codel") for word in ("--aqm", aqm)]
    out = str(tmp_path / "out")
    assert status(["run", str(tmp_path / "calls.toml"), *aqms, "--out", out]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "codec g711_plc (Ie 0, Bpl 25.1)" in printed and "mean opinion score" in printed
    calls = [
        row for row in pq.read_table(f"{out}/groups.parquet").to_pylist() if row["group"] == "call"
    ]
    for call in calls:
        assert call["delay_p50_ms"] <= call["delay_p95_ms"] <= call["delay_p99_ms"]
        assert call["lost_pct"] == 100 * call["lost_pkts"] / call["data_pkts_sent"]
    fifo, fq_codel = (call["mos"] for call in calls)
    assert 1 <= fifo < fq_codel < 4.41
    cells = pq.read_table(f"{out}/distributions.parquet").to_pylist()
    assert {cell["of"] for cell in cells if cell["quantity"] == "datagram_delay"} == {"call"}


def test_groups_of_older_kinds_have_the_keys_that_they_had() -> None:
    ran = _native.run(json.dumps(loads(of('"bulk"')).to_engine()), 1)
    assert ran
    report = json.loads(ran[0])
    assert "echoes" not in report
    group = report["transport"][0]["groups"][0]
    assert not group.keys() & {"opened", "answered_bytes", "page_s", "script"}


def test_models_are_made_in_python_too() -> None:
    web = Web(think=Duration("3 s"), parallel=2)
    assert (web.kind, web.parallel, web.objects) == ("web", 2, 5.0)
    assert Tmix(vectors=VECTORS).vectors == VECTORS


def test_calibration_finds_how_many_flows_offer_a_load(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # 1 Mbit/s of payload each: nine segments of 66 bytes of headers, a SYN-ACK is not of this link.
    text = of('{ kind = "files", gap = "100 ms", size = "12.5 kB" }', 'name = "files"\n')
    text += '[[dumbbell.flows]]\nname = "others"\n'
    path = tmp_path / "scenario.toml"
    path.write_text(text.replace("4 s", "30 s").replace("10 Mbit/s", "1 Mbit/s"))
    assert status(["calibrate", str(path), "files", "40 Mbit/s", "--seeds", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    per_flow = (12_500 + 9 * 66 + 74 + 66) * 8 * 10 / 1e6
    assert found["mbps_per_flow"] == pytest.approx(per_flow, rel=0.05)
    assert found["flows"] == pytest.approx(40 / per_flow, rel=0.05)
    assert len(found["measured"]) >= 3
    assert status(["calibrate", str(path), "files", "40 Mbit/s", "--seeds", "2"]) == 0
    assert f"--set flows.files.count={found['flows']}" in capsys.readouterr().out


# A packet of 142 bytes each 10 ms: 0.1136 Mbit/s of the link.
VOICE = '{ kind = "cbr", rate = "80 kbit/s", payload = "100 B" }'
TWO_GROUPS = (
    of(VOICE, 'name = "calls"\ncount = 40\ntransport = "udp"\n')
    + f'[[dumbbell.flows]]\nname = "more"\ntransport = "udp"\napp = {VOICE}\n'
)
ENDLESS = '[[dumbbell.flows]]\nname = "downloads"\ncount = 3\n'


def test_calibration_counts_what_a_trace_counts_beside_each_packet() -> None:
    small = """
format = 2
name = "small datagrams"
duration = "6 s"

[dumbbell]
rtt = "20 ms"
{}

[[dumbbell.flows]]
name = "small"
transport = "udp"
app = {{ kind = "cbr", rate = "100 kbit/s", payload = "20 B" }}
"""
    of_trace, of_rate = (
        calibrate(loads(small.format(line)), "small", Rate("10 Mbit/s"), seeds=1, workers=1)
        for line in ("trace = [1, 2, 3]", 'rate = "10 Mbit/s"\nheader = "4 B"')
    )
    assert of_trace.flows == of_rate.flows


def test_calibration_counts_all_groups_together() -> None:
    found = calibrate(loads(TWO_GROUPS), "more", Rate("10 Mbit/s"), seeds=1, workers=1)
    assert found.flows == round(10 / 0.1136) - 40
    assert (found.beside, found.aside, found.link) == (["calls"], [], "bottleneck")
    assert found.mbps_at_none == pytest.approx(40 * 0.1136, rel=0.01)
    assert found.measured[0].flows == 0
    # So many flows, and the others, fill a link of that rate.
    (ran,) = sojourn.run(loads(TWO_GROUPS), changes={"flows.more.count": found.flows})
    window = ran.report["queues"][0]["windows"][0]
    assert window["utilisation_pct"] == pytest.approx(100 * 3.5 / 4, abs=2)


def test_groups_of_both_directions_are_counted_each_on_its_link() -> None:
    text = TWO_GROUPS.replace('name = "calls"\n', 'name = "calls"\nfrom = "receivers"\n')
    text = text.replace("[dumbbell]\n", '[dumbbell]\nback = { rate = "9 Mbit/s" }\n')
    found = calibrate(loads(text), "more", Rate("10 Mbit/s"), seeds=1, workers=1)
    assert (found.flows, found.link) == (88, "bottleneck")


def test_two_groups_are_calibrated_together_in_bytes_of_ip(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = TWO_GROUPS.replace('name = "calls"\n', 'name = "calls"\nfrom = "receivers"\n')
    text = text.replace("[dumbbell]\n", '[dumbbell]\nback = { rate = "9 Mbit/s" }\n')
    path = tmp_path / "scenario.toml"
    path.write_text(text)
    words = ["calibrate", str(path), "calls + more", "10 Mbit/s", "--seeds", "1"]
    assert status([*words, "--ip", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    # A packet of IP has 128 bytes here, and each group loads a direction of its own.
    assert found["flows"] == round(10 / (128 * 8 / 10e3))
    assert (found["groups"], found["beside"]) == (["calls", "more"], [])
    assert status(words) == 0
    out = capsys.readouterr().out
    assert "88 flows of each offer 10 Mbit/s: --set flows.calls.count=88" in out
    assert "--set flows.more.count=88" in out
    path.write_text(text.replace("[dumbbell]\n", '[dumbbell]\nmpu = "64 B"\n'))
    assert status([*words, "--ip"]) == 2
    assert "its bytes of IP are not known; leave --ip out" in capsys.readouterr().err
    assert status(["calibrate", str(path), "calls + mroe", "10 Mbit/s"]) == 2
    assert "no flows 'mroe'. Did you mean 'more'" in capsys.readouterr().err


def test_groups_without_an_end_are_left_aside() -> None:
    text = TWO_GROUPS + ENDLESS
    found = calibrate(loads(text), "more", Rate("10 Mbit/s"), seeds=1, workers=1)
    assert (found.flows, found.beside, found.aside) == (48, ["calls"], ["downloads"])
    with pytest.raises(InputError, match="'downloads': sends without end"):
        calibrate(loads(text), "downloads", Rate("10 Mbit/s"), seeds=1, workers=1)


@pytest.mark.parametrize(
    ("count", "load", "sentence"),
    [
        (40, "4 Mbit/s", r"40 other flows \('calls'\) offer 4\.5\d\d Mbit/s .* 4\.000 Mbit/s is"),
        (40, "500kB/s", r"offer 56\d\.\d kB/s without it, and 500\.0 kB/s is asked for"),
        (
            1,
            "90 kbit/s",
            r"1 other flow \('calls'\) offers 11\d\.\d kbit/s without it, and 90\.00 k",
        ),
        (1, "5 kbit/s", r"1 other flow \('calls'\) offers at least [\d.]+ kbit/s"),
        (1, "150 kbit/s", r"one flow, with 'calls', already offers 22\d\.\d kbit/s, and 150\.0 k"),
    ],
)
def test_a_load_that_is_there_without_more_flows_is_refused_in_its_own_unit(
    count: int, load: str, sentence: str
) -> None:
    text = TWO_GROUPS.replace("count = 40", f"count = {count}")
    with pytest.raises(InputError, match=f"'more': .*{sentence}"):
        calibrate(loads(text), "more", load, seeds=1, workers=1)


def test_a_load_below_that_of_one_flow_is_refused_with_its_figure() -> None:
    text = of(VOICE, 'name = "v"\ntransport = "udp"\n')
    with pytest.raises(
        InputError, match=r"'v': one flow already offers 11\d\.\d kbit/s, and 50\.00 k"
    ):
        calibrate(loads(text), "v", "50 kbit/s", seeds=1, workers=1)


def test_no_link_of_a_calibration_is_full() -> None:
    text = of(VOICE, 'name = "v"\ntransport = "udp"\n')
    found = calibrate(loads(text), "v", "150 kbit/s", seeds=1, workers=1)
    assert found.flows == 1
    for of_number in found.measured:
        assert of_number.mbps[0] == pytest.approx(0.1136 * of_number.flows, rel=0.02)


@pytest.mark.parametrize(
    ("asked", "heading", "of_others"),
    [
        ("10 Mbit/s", "load (Mbit/s)", "4.544"),
        ("10000kbit", "load (kbit/s)", "4544"),
        ("1.25 MB/s", "load (MB/s)", "0.5680"),
    ],
)
def test_a_load_is_printed_in_the_unit_that_was_asked_in(
    asked: str, heading: str, of_others: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(TWO_GROUPS + ENDLESS)
    assert status(["calibrate", str(path), "more", asked, "--seeds", "1"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert heading in printed and f"│ 0 │ {of_others} │" in printed
    assert f"48 flows, with 'calls', offer {asked}: --set flows.more.count=48" in printed
    assert "left aside, since only the network bounds their load: 'downloads'" in printed


@pytest.mark.parametrize("header_bytes", [0, 200])
def test_calibration_counts_the_header_of_the_links(header_bytes: int) -> None:
    text = of(
        '{ kind = "cbr", rate = "80 kbit/s", payload = "100 B" }', 'name = "v"\ntransport = "udp"\n'
    )
    text = text.replace("[dumbbell]\n", f'[dumbbell]\nheader = "{header_bytes} B"\n')
    found = calibrate(loads(text), "v", Rate("10 Mbit/s"), seeds=1, workers=1)
    assert found.mbps_per_flow == pytest.approx((128 + header_bytes) * 8 * 100 / 1e6, rel=0.01)


def test_calibration_takes_a_group_that_the_file_gives_no_name() -> None:
    text = of('{ kind = "cbr", rate = "80 kbit/s", payload = "100 B" }', 'transport = "udp"\n')
    assert calibrate(loads(text), "flow", Rate("10 Mbit/s"), seeds=1, workers=1).flows == 88


def test_calibration_takes_a_group_between_whole_sides_by_its_name_in_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = of(
        '{ kind = "cbr", rate = "80 kbit/s", payload = "100 B" }',
        'name = "calls"\ncount = 4\ntransport = "udp"\n',
    )
    path = tmp_path / "scenario.toml"
    path.write_text(text + '[[dumbbell.senders]]\nname = "s"\ncount = 2\n')
    load = ["calls", "10 Mbit/s", "--seeds", "1"]
    assert status(["calibrate", str(path), *load]) == 0
    printed = capsys.readouterr().out
    key = printed.partition("--set ")[2].strip()
    assert key == "flows.calls.count=88"
    assert status(["run", str(path), "--set", key, "--set", "duration=1 s", "--json"]) == 0


def test_linux_plays_every_kind_over_each_transport() -> None:
    for kind, model in KINDS.items():
        for over in model.table["transports"]:
            text = of(needed(kind), f'transport = "{over}"\n').replace("20 ms", "150 ms")
            data = loads(text).to_engine()
            refusals.check(data)
            [script] = _native.Scenario(json.dumps(data)).scripts(1)[0]
            assert script.startswith("source ")


def test_linux_refuses_what_no_guest_could_keep() -> None:
    def refused(text: str, words: str) -> None:
        with pytest.raises(InputError, match=words):
            refusals.check(loads(text).to_engine())

    tmix = of('{ kind = "tmix", gap = "1 ms" }')
    refused(tmix, "'flow': a connection has a round trip of its own, .* than that of its links, 20")
    fast = of('{ kind = "poisson", rate = "10 Gbit/s", payload = "20 B" }', 'transport = "udp"\n')
    refused(fast, "flows: the scripts up to flow 0 of 'flow' take more than 100 MB")
    small = of('{ kind = "ping", payload = "3 B" }', 'transport = "udp"\n')
    refused(small, r"flows\[0\].app.payload: 3 cannot hold the datagram's number")


def test_a_hundred_thousand_users_and_a_large_file_are_checked_within_two_seconds() -> None:
    vectors = "".join(f"SEQ {i} 1 0 0\n> 300\n< 1000\n" for i in range(50_000))
    text = of(f'{{ kind = "tmix", vectors = """\n{vectors}""" }}', "count = 100\n")
    text += '[[dumbbell.flows]]\nname = "users"\ncount = 100000\napp = "web"\n'
    began = time.process_time()
    loads(text)
    assert time.process_time() - began < 2
