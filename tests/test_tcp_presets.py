# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""TCP of an age: what the files hold, what becomes of them in a scenario, and on Linux."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from sojourn import _native
from sojourn.cli import status
from sojourn.core import hosts
from sojourn.core.errors import InputError
from sojourn.linux import refusals, transport
from sojourn.linux.plan import plan
from sojourn.runs.run import run
from sojourn.scenario import loads
from sojourn.scenario.checks import tcp_options
from sojourn.scenario.flows import TcpPreset, tcp_presets

from tests.conftest import SMALL

PAGE = Path(__file__).parent.parent / "docs" / "reference/tcp.md"
ALL = list(tcp_presets().values())
each = pytest.mark.parametrize("of", ALL, ids=lambda of: of.name)


def text(transport: str) -> str:
    """A short scenario with flows of this transport."""
    return f"{SMALL}transport = {transport}\n"


def transport_of(words: str) -> dict[str, Any]:
    (flow,) = loads(text(words)).to_engine()["flows"]
    return dict(flow["transport"])


@each
def test_a_file_has_a_sentence_a_source_and_a_comment_for_each_key(of: TcpPreset) -> None:
    data = tomllib.loads(of.file.read_text())
    assert data.keys() == {"about", "source", "cc", "differs", "options"}
    assert all(re.fullmatch(r"\S.*[^.]", said) for said in (of.about, of.source, *of.differs))
    assert of.sources().keys() == {"cc", *of.options}


@each
def test_each_option_is_one_of_the_engines_and_a_run_takes_them_all(of: TcpPreset) -> None:
    known = tcp_options()
    assert of.options.keys() <= known.keys() - {"cc", "ecn", "ect1"}
    engine = loads(text(f'{{ tcp = "{of.name}" }}')).to_engine()
    assert engine["flows"][0]["transport"]["cc"] == of.cc
    done = _native.run(json.dumps(engine), 1)
    assert done
    assert all(flow["delivered_bytes"] > 100_000 for flow in json.loads(done[0])["flows"])


@each
def test_a_value_that_is_the_default_has_a_reason_to_stand_there(of: TcpPreset) -> None:
    """ns-2's and BSD's files name what their sources say, Linux's what is unlike 6.12."""
    if of.name.startswith("linux"):
        assert not [key for key, value in of.options.items() if tcp_options()[key] == value]


def test_the_newest_linux_is_the_engines_default() -> None:
    plain, named = transport_of('"tcp"'), transport_of('{ tcp = "linux_6_12" }')
    assert named == {**plain, "assumed": []}


def test_keys_beside_the_preset_override_one_each() -> None:
    words = '{ tcp = "linux_2_6_18", cc = "htcp", options = { frto = true, nagle = false } }'
    found = transport_of(words)
    of = tcp_presets()["linux_2_6_18"]
    assert found["cc"] == "htcp"
    assert found["options"] == {**of.options, "frto": True, "nagle": False}
    assert found["assumed"] == sorted(of.options.keys() - {"frto"})


def test_what_expand_prints_is_the_sum_and_reads_back() -> None:
    scenario = loads(text('{ tcp = "ns2_sack" }'))
    graph = scenario.expand()
    written = tomllib.loads(graph.to_toml())["flows"][0]["transport"]
    assert written["options"] == dict(tcp_presets()["ns2_sack"].options)
    assert written["cc"] == "reno"
    assert loads(graph.to_toml()).to_engine() == scenario.to_engine()


def test_a_change_of_the_preset_takes_its_options_along() -> None:
    result = run(
        loads(text('{ tcp = "linux_3_2" }')), changes={"flows.bulk.transport.tcp": "ns2_newreno"}
    )
    (flow,) = result.runs[0].report["flows"][:1]
    # Segments of 1000 bytes, which Linux does not send.
    assert flow["delivered_bytes"] % 1000 == 0


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r":13: .*transport.tcp: there is no TCP 'ns2'"):
        loads(text('{ tcp = "ns2" }'))


def test_list_and_show_have_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["list", "tcp", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["tcp"]
    assert [entry["name"] for entry in listed] == [of.name for of in ALL]
    assert status(["show", "linux_3_9", "--json"]) == 0
    options = {o["name"]: o for o in json.loads(capsys.readouterr().out)["options"]}
    assert options["tlp"]["value"] is False and "3.10" in options["tlp"]["source"]
    assert options["sack"] == {"name": "sack", "value": True, "source": "as by default"}


def ns2(variable: str, agent: str) -> str:
    """What a fresh ns-2 says of a default."""
    words = ["ns", "/dev/stdin"]
    script = f"puts [{agent} set {variable}]\n"
    done = subprocess.run(words, input=script, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.skipif(not shutil.which("ns"), reason="ns-2 is not installed")
@pytest.mark.parametrize("name", ["ns2_newreno", "ns2_sack"])
def test_ns_2_itself_has_the_defaults_that_the_files_cite(name: str) -> None:
    agents = {"ns2_newreno": "Agent/TCP/Newreno", "ns2_sack": "Agent/TCP/Sack1"}
    found = 0
    for said in tcp_presets()[name].sources().values():
        if cited := re.match(r"(?:\S+\.cc, )?(\w+_) (\S+?):?(?: |$)", said):
            variable, value = cited.groups()
            sink = "Agent/TCPSink" if variable == "generateDSacks_" else "Agent/TCP"
            agent = agents[name] if variable.startswith("newreno") else sink
            assert ns2(variable, agent) == value, said
            found += 1
    assert found >= 12


# ---- on Linux ----


def linux(words: str) -> dict[str, Any]:
    return loads(text(words)).to_engine()


def test_linux_sets_what_sysctls_and_routes_can_give_at_both_ends() -> None:
    files = plan(linux('{ tcp = "linux_2_6_18" }'), 1).files
    spaces = dict(
        re.findall(r"space (\w+)\n((?:(?!space ).*\n)*)", files["settings"], re.MULTILINE)
    )
    for end in ("n0", "n2"):
        for line in ("tcp_recovery 0", "tcp_early_retrans 0", "tcp_frto 0", "tcp_comp_sack_nr 0"):
            assert f"sysctl net/ipv4/{line}\n" in spaces[end]
    assert "tcp_recovery" not in spaces["n1"]
    routes = [line for line in files["n0.ip"].splitlines() if line.startswith("route")]
    assert routes[0].endswith("initcwnd 3")
    # A buffer of that age is another window on this kernel.
    assert "tcp_rmem 4096 131072" in spaces["n2"]
    assert "tcp_rmem 4096 87380" not in spaces["n2"]


def test_path_metrics_of_an_old_kernel_are_saved_with_their_threshold() -> None:
    for words, saved in (('{ tcp = "linux_3_9" }', True), ('"tcp"', False)):
        settings = plan(linux(words), 1).files["settings"]
        ends = re.findall(r"space n[02]\n((?:(?!space ).*\n)*)", settings)
        assert len(ends) == 2
        for lines in ends:
            found = dict(re.findall(r"ipv4/(tcp_no_\w+) (\d)", lines))
            assert (found["tcp_no_metrics_save"] == "0") is saved
            assert found.get("tcp_no_ssthresh_metrics_save") == ("0" if saved else None)


def test_only_a_second_connection_between_two_hosts_finds_a_threshold() -> None:
    crowd = SMALL.replace("count = 2", "count = 10").replace("2 s", "20 s")

    def delivered_bytes(app: str, keeps: bool) -> int:
        words = f"{{ options = {{ path_metrics = {str(keeps).lower()} }} }}"
        report = run(loads(f"{crowd}transport = {words}\napp = {app}\n")).runs[0].report
        return sum(flow["delivered_bytes"] for flow in report["flows"])

    one, again = '"bulk"', '{ kind = "respawn", size = "250 kB" }'
    assert delivered_bytes(one, keeps=True) == delivered_bytes(one, keeps=False)
    assert delivered_bytes(again, keeps=True) != delivered_bytes(again, keeps=False)


def test_segments_of_ns_2_s_size_are_announced_to_the_peer() -> None:
    files = plan(linux('{ tcp = "ns2_sack" }'), 1).files
    assert "initcwnd 2 rto_min 200ms advmss 1000" in files["n2.ip"]
    own = plan(linux("{ options = { mss_bytes = 988 } }"), 1).files
    assert "advmss 1000" in own["n0.ip"]


def test_what_linux_cannot_set_is_told_of_a_preset_and_refused_of_a_file() -> None:
    (flow,) = linux('{ tcp = "linux_3_9" }')["flows"]
    assert transport.ignored(flow) == [
        "byte_counting",
        "cubic_ack_ratio",
        "rcvbuf_bytes",
        "slow_start_at_threshold",
        "timer_tick_ms",
        "timer_wheel",
    ]
    refusals.check(linux('{ tcp = "linux_3_9" }'))
    with pytest.raises(InputError, match="byte_counting: switches of the simulator's TCP"):
        refusals.check(linux('{ tcp = "linux_3_9", options = { byte_counting = true } }'))


def test_flows_of_one_node_have_one_tcp_on_linux() -> None:
    other = '\n[[dumbbell.flows]]\nname = "old"\ntransport = { tcp = "linux_3_9" }\n'
    with pytest.raises(InputError, match=r"'bulk' and 'old' have unlike TCPs at 'sender' \(comp"):
        refusals.check(loads(SMALL + other).to_engine())


def controls() -> list[list[str]]:
    """The rows of the page of TCP: name in a scenario, in the simulator and on Linux."""
    _, _, section = (
        (PAGE.parents[1] / "inside/tcp.md").read_text().partition("## Names of congestion controls")
    )
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|([^|]*)\|$", section, re.M)
    return [[word.strip(" `") for word in row] for row in rows if row[0] != "cc"]


@pytest.mark.parametrize(("name", "sim", "linux"), controls())
def test_a_control_of_the_table_is_the_same_law_on_both_hosts(
    name: str, sim: str, linux: str
) -> None:
    scenario = loads(text(f'{{ cc = "{name}", ecn = true }}'))
    assert scenario.to_engine()["flows"][0]["transport"]["cc"] == (sim or linux)
    if sim:
        assert _native.run(json.dumps(scenario.to_engine()), 1)
    there = scenario.to_engine("linux")
    refusals.check(there)
    assert f" {linux} " in plan(there, 1).files["flows"]
    of_linux = text("{ ecn = true }")
    of_linux += f'linux = {{ cc = "{name}" }}\n'
    assert f" {linux} " in plan(loads(of_linux).to_engine("linux"), 1).files["flows"]


def test_the_table_has_every_control_of_a_host() -> None:
    _, sims, linuxes = ({*column} - {""} for column in zip(*controls(), strict=True))
    assert sims == {*_native.congestion_controls()}
    assert linuxes == {*hosts.LINUX_CONTROLS}


@pytest.mark.parametrize("cc", hosts.LINUX_ONLY_CONTROLS)
def test_a_congestion_control_of_linux_alone_is_checked_and_not_simulated(cc: str) -> None:
    scenario = loads(text(f'{{ cc = "{cc}" }}'))
    assert f" {cc} " in plan(scenario.to_engine(), 1).files["flows"]
    with pytest.raises(InputError, match=f"cc = '{cc}', of flows 'bulk', runs only on Linux"):
        run(scenario)


def table() -> str:
    """What the page has of every preset."""
    parts = []
    for of in ALL:
        parts += [f"## {of.name}", "", f"{of.about}. Source: {of.source}.", ""]
        parts += ["| switch | value | source |", "|---|---|---|"]
        sources = of.sources()
        for key, value in {"cc": of.cc, **of.options}.items():
            written = str(value).lower() if isinstance(value, bool) else value
            parts.append(f"| `{key}` | {written} | {sources[key]} |")
        parts += ["", "No switch says:", "", *(f"- {said}" for said in of.differs), ""]
    return "\n".join(parts)


def test_the_page_has_every_preset_as_it_is() -> None:
    begin, end = "<!-- presets: made from the data -->\n", "<!-- end of presets -->"
    before, _, rest = PAGE.read_text().partition(begin)
    after = rest.partition(end)[2]
    fresh = before + begin + "\n" + table() + end + after
    if os.environ.get("RENEW"):
        PAGE.write_text(fresh)
    assert PAGE.read_text() == fresh, "run: make generate"
