# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn doctor DEV`: real set-ups, recorded in a guest, sound and not; and its refusals.

`python -m tests.linux.set_ups` records them anew.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from sojourn.cli import status, upkeep
from sojourn.core.errors import InputError, RunError
from sojourn.core.units import Rate
from sojourn.linux import device, doctor, metrics, typed
from sojourn.linux.device import (
    ARRIVING,
    CLASSES,
    LINKS,
    QDISCS,
    RING,
    ROUTES,
    SOCKETS,
    Reading,
    asked,
)
from sojourn.linux.doctor import Verdict

from tests.linux.set_ups import BROKEN, EVERY, FOLDER, LINE, SOUND, SetUp


def recorded(set_up: SetUp) -> tuple[Reading, Reading]:
    data = json.loads((FOLDER / f"{set_up.name}.json").read_text())
    return Reading({**data["now"], **data["first"]}), Reading(data["now"])


def verdicts(set_up: SetUp) -> list[Verdict]:
    line = Rate(LINE) if set_up.line else None
    down = line if "ifb0" in set_up.devices else None
    return doctor.examine(*recorded(set_up), set_up.device, line, down)


def faults(name: str, up: str | None = LINE, down: str | None = None) -> list[Verdict]:
    """What the doctor finds in a recording at a line of these rates."""
    [set_up] = [one for one in EVERY if one.name == name]
    rates = (doctor.rate_of("--up", up), doctor.rate_of("--down", down))
    return doctor.examine(*recorded(set_up), set_up.device, *rates)


def test_there_are_ten_of_each() -> None:
    assert len(BROKEN) >= 10 and len(SOUND) >= 10


@pytest.mark.parametrize("set_up", BROKEN, ids=lambda set_up: set_up.name)
def test_a_broken_set_up_gets_its_verdict_and_no_other(set_up: SetUp) -> None:
    assert tuple(verdict.check for verdict in verdicts(set_up)) == set_up.checks


@pytest.mark.parametrize("set_up", SOUND, ids=lambda set_up: set_up.name)
def test_a_sound_set_up_is_met_with_silence(set_up: SetUp) -> None:
    assert verdicts(set_up) == []


@pytest.mark.parametrize("set_up", BROKEN, ids=lambda set_up: set_up.name)
def test_a_verdict_names_the_command_that_shows_it_and_one_that_mends_it(set_up: SetUp) -> None:
    for verdict in verdicts(set_up):
        programs = {shlex.split(part)[0] for part in verdict.show.split(";")}
        assert programs <= {"tc", "ip", "ss", "ethtool", "sysctl"}
        assert verdict.mend and verdict.mend != verdict.show
        assert len(verdict.sentence.split()) <= 40


def test_probes_that_do_not_pass_the_queue_are_a_verdict() -> None:
    [quiet] = [set_up for set_up in SOUND if set_up.name == "quiet"]
    [verdict] = doctor.examine(*recorded(quiet), quiet.device, probed="192.0.2.7")
    assert verdict.check == "statistics" and "20 datagrams to 192.0.2.7" in verdict.sentence
    assert "ip route get 192.0.2.7" in verdict.show and "ADDRESS" not in verdict.mend


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "::1"])
def test_a_probe_to_this_machine_is_refused_before_any_datagram(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_for = asked(device.ROUTE_TO, address)
    answers = {asked_for: f'[{{"type":"local","dst":"{address}","dev":"lo"}}]'}
    monkeypatch.setattr(device, "ask", answers.__getitem__)
    monkeypatch.setattr("socket.socket", lambda *_: pytest.fail("a datagram"))
    with pytest.raises(InputError, match=f"^--probe {address}: is an address of this machine"):
        device.probe_with(address)


def test_a_line_down_without_a_queue_of_arrivals_is_a_fault_with_all_its_commands() -> None:
    [verdict] = faults("fq_codel", LINE, "50mbit")
    assert verdict.check == "download" and "50 Mbit/s" in verdict.sentence
    lines = typed.arriving("wan", "ifb-wan", Rate("47500 kbit/s"), "sojourn fq codel ecn")
    assert verdict.mend.split("; ") == lines.splitlines()


def test_a_shaper_of_another_device_may_be_that_of_what_arrives() -> None:
    [set_up] = [one for one in EVERY if one.name == "fq_codel"]
    first, now = recorded(set_up)
    shaper = {"kind": "htb", "handle": "1:", "root": True, "options": {}}
    for kind, said in (("", []), ("ifb", ["download"])):
        lan = {"ifname": "lan", "flags": ["UP"], "linkinfo": {"info_kind": kind}}
        answers = dict(now.answers)
        for command, more in ((LINKS, lan), (QDISCS, {**shaper, "dev": "lan"})):
            answers[command] = json.dumps([*json.loads(answers[command]), more])
        verdicts = doctor.examine(first, Reading(answers), "wan", Rate(LINE), Rate(LINE))
        assert [verdict.check for verdict in verdicts] == said


def test_a_plain_queue_without_a_shaper_is_told_of_both_and_one_mend_gives_both() -> None:
    [set_up] = [one for one in EVERY if one.name == "bare"]
    first, now = (
        Reading(
            {
                **reading.answers,
                QDISCS: json.dumps([{**reading.qdiscs("wan")[0], "kind": "pfifo", "options": {}}]),
            }
        )
        for reading in recorded(set_up)
    )
    aqm, shaper = doctor.examine(first, now, "wan", Rate("5mbit"))
    assert (aqm.check, shaper.check) == ("aqm", "shaper")
    lines = typed.shaper("wan", Rate("4750 kbit/s"), "sojourn fq codel ecn").splitlines()
    # One after the other, both have the same end.
    before = "tc qdisc del dev wan root 2>/dev/null"
    assert aqm.mend.split("; ") == shaper.mend.split("; ") == [before, *lines]
    [alone] = doctor.examine(first, now, "wan")
    assert alone.mend == "tc qdisc replace dev wan root sojourn fq codel ecn"


def test_a_missing_shaper_above_an_aqm_is_answered_with_the_rates_that_were_given() -> None:
    [verdict] = faults("no_shaper", "5mbit")
    assert verdict.mend == "sojourn advise --up 5000kbit --down RATE"


def test_a_shaper_below_half_of_the_line_is_a_fault_and_one_above_is_none() -> None:
    [verdict] = faults("fq_codel", "40mbit")
    assert verdict.check == "shaper" and "19 Mbit/s pass, less than half" in verdict.sentence
    assert verdict.mend.endswith("htb rate 38000kbit")
    assert faults("fq_codel", "37mbit") == []


def test_a_tc_without_the_plugin_is_answered_with_the_remedy() -> None:
    reading = Reading({QDISCS: '[{"kind":"sojourn","options":{[Unknown qdisc, optlen=76] }}]'})
    with pytest.raises(RunError, match="make -C linux/tc install"):
        reading.table(QDISCS)


# What a release of iproute2 that nobody has seen might write in the place of a value.
ODD: tuple[Any, ...] = (None, True, -1, 10**40, 1e300, "", "x", [], ["x"], {}, {"x": [1]})
TAKEN = (
    *("ifname", "link", "master", "flags", "mtu", "stats64", "tx", "bytes", "dev", "actions"),
    *("options", "to_dev", "kind", "handle", "parent", "root", "qlen", "backlog", "packets"),
    *("drops", "ecn", "algorithm", "split_gso", "rate", "bandwidth", "default", "maxpacket"),
    *("direct_packets_stat", "sojourn", "marks", "ecn_mark", "ecn_marks", "marked"),
)


def with_odd(reading: Reading, key: str, odd: Any) -> Reading:
    """Every table has this key, with this value."""
    answers = dict(reading.answers)
    for command in (QDISCS, LINKS, ROUTES, asked(ARRIVING, "wan")):
        tables = json.loads(answers[command] or "[]", object_hook=lambda table: table | {key: odd})
        answers[command] = json.dumps(tables)
    return Reading(answers)


@pytest.mark.parametrize("odd", ODD, ids=json.dumps)
@pytest.mark.parametrize("name", ["both_ways", "cake", "tbf", "slower_below"])
def test_odd_values_are_left_out_and_end_nothing(name: str, odd: Any) -> None:
    [set_up] = [one for one in EVERY if one.name == name]
    first, now = recorded(set_up)
    for key in TAKEN:
        other = with_odd(now, key, odd)
        if set_up.device in other.links:
            doctor.examine(first, other, set_up.device, Rate(LINE), Rate(LINE))
            doctor.examine(other, now, set_up.device)
        assert metrics.text(other)


@pytest.mark.parametrize("digits", [21, 5_000])
def test_numbers_that_no_counter_can_hold_are_left_out_of_classes_and_connections(
    digits: int,
) -> None:
    odd = "9" * digits
    for name, command, number in (
        ("two_classes", asked(CLASSES, "wan"), r"(?<=ceil )\d+|\d+(?= pkt )"),
        ("bleached", SOCKETS, r"(?<=bytes_received:)\d+"),
    ):
        [set_up] = [one for one in EVERY if one.name == name]
        first, now = recorded(set_up)
        text = now.answers[command]
        assert re.search(number, text)
        for found in re.finditer(number, text):
            changed = text[: found.start()] + odd + text[found.end() :]
            other = Reading({**now.answers, command: changed})
            doctor.examine(first, other, set_up.device, Rate(LINE))
            if command != SOCKETS:
                assert len(other.classes("wan")) == len(now.classes("wan")) - 1
        every = Reading({**now.answers, command: re.sub(number, odd, text)})
        said = doctor.examine(first, every, set_up.device)
        assert "ecn" not in [verdict.check for verdict in said]


def test_answers_that_are_no_list_of_tables_are_refused_with_the_remedy() -> None:
    for text in ('{"ifname":"wan"}', "[1]", "[[]]", '"wan"', "7"):
        with pytest.raises(RunError, match="install the iproute2 of Debian"):
            _ = Reading({LINKS: text}).links


def test_ends_of_a_veth_that_name_each_other_end_the_search() -> None:
    [quiet] = [set_up for set_up in SOUND if set_up.name == "quiet"]
    first, now = recorded(quiet)
    pair = [{"ifname": "a", "link": "b"}, {"ifname": "b", "link": "a"}, {"ifname": "wan"}]
    odd = Reading({**now.answers, LINKS: json.dumps(pair), ROUTES: '[{"dev":"a"}]'})
    assert "device" in [verdict.check for verdict in doctor.examine(first, odd, "wan")]


def test_the_peer_of_a_veth_is_not_below_it() -> None:
    [quiet] = [set_up for set_up in SOUND if set_up.name == "quiet"]
    first, now = recorded(quiet)
    veth = {"linkinfo": {"info_kind": "veth"}}
    pair = [{"ifname": "out", "link": "wan", **veth}, {"ifname": "wan", "link": "out", **veth}]
    vlan = [{"ifname": "out", "link": "wan", "linkinfo": {"info_kind": "vlan"}}, {"ifname": "wan"}]
    for links, said in ((pair, ["device"]), (vlan, [])):
        answers = {LINKS: json.dumps(links), ROUTES: '[{"dev":"out"}]'}
        other = Reading({**now.answers, **answers})
        assert [verdict.check for verdict in doctor.examine(first, other, "wan")] == said


def test_an_ifb_that_came_between_two_readings_is_judged() -> None:
    [both] = [set_up for set_up in SOUND if set_up.name == "both_ways"]
    first, now = recorded(both)
    before = [link for name, link in first.links.items() if name != "ifb0"]
    assert doctor.examine(Reading({**first.answers, LINKS: json.dumps(before)}), now, "wan") == []


class Machine:
    """A machine that answers as a recording does, and loses its device after some readings."""

    def __init__(self, set_up: SetUp, readings: int = 2) -> None:
        self.first, self.now = recorded(set_up)
        self.left = readings

    def __call__(self, command: str) -> str:
        if command == QDISCS:
            self.left -= 1
        if command == LINKS and self.left < 0:
            return "[]"
        return (self.first if self.left else self.now).answers.get(command, "")


def judged(set_up: SetUp, monkeypatch: pytest.MonkeyPatch, readings: int = 2, *words: str) -> int:
    machine = Machine(set_up, readings)
    monkeypatch.setattr(device, "ask", machine)
    monkeypatch.setattr(upkeep, "_BETWEEN_S", 0.0)
    return status(["doctor", set_up.device, *words])


def test_the_command_prints_each_fault_and_its_status_tells_of_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken, sound = BROKEN[0], SOUND[1]
    assert judged(broken, monkeypatch) == 1
    out = capsys.readouterr().out
    assert "    see   tc qdisc show dev wan" in out and "    mend  tc qdisc replace" in out
    assert judged(sound, monkeypatch) == 0
    assert capsys.readouterr().out == "wan: no fault seen\n"
    assert judged(broken, monkeypatch, 2, "--json") == 1
    assert json.loads(capsys.readouterr().out)["faults"][0]["check"] == "aqm"


def test_a_device_that_is_not_there_or_vanishes_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judged(SOUND[1], monkeypatch, readings=1) == 3
    assert "wan: vanished between two readings; run it again" in capsys.readouterr().err
    assert judged(SOUND[1], monkeypatch, readings=0) == 2
    assert "wan: there is no such device" in capsys.readouterr().err


def test_a_device_that_vanishes_between_two_commands_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine, links = Machine(SOUND[1]), ["[]", recorded(SOUND[1])[1].answers[LINKS]]

    def ask(command: str) -> str:
        if command == asked(CLASSES, "wan"):
            raise RunError(f'{command}: Cannot find device "wan"')
        return links.pop() if command == LINKS else machine(command)

    monkeypatch.setattr(device, "ask", ask)
    with pytest.raises(RunError, match=r"^wan: vanished while it was read; run it again$"):
        device.read("wan")


def test_a_filter_to_a_device_that_was_deleted_ends_no_reading(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = Machine(SOUND[1])
    monkeypatch.setattr(device, "ask", machine)
    monkeypatch.setattr(device.Reading, "redirect", lambda _, of: "*" if of == "wan" else "")
    assert "wan" in device.read("wan").links


def test_the_loopback_is_answered_with_the_devices_that_lead_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(device, "ask", Machine(SOUND[1]))
    with pytest.raises(InputError, match=r"^lo: nothing leaves the machine by it; .*\bwan\b"):
        device.read("lo")


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """This script is the system's tc."""
    (folder / "tc").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "tc").chmod(0o755)
    monkeypatch.setattr(device, "PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr(device, "_ANSWER_S", 0.5)


def test_a_tc_that_hangs_is_not_waited_for_even_where_no_signal_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, monkeypatch, "exec sleep 60")
    hung: list[subprocess.Popen[str]] = []
    kill = subprocess.Popen.kill
    monkeypatch.setattr(subprocess.Popen, "kill", lambda asking: hung.append(asking))
    begun_s = time.monotonic()
    with pytest.raises(RunError, match=r"no answer in .*; end the program that holds"):
        device.ask(QDISCS)
    assert time.monotonic() - begun_s < 30
    [tc] = hung
    kill(tc)
    tc.communicate()


def test_a_program_that_is_missing_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "PATH", str(tmp_path))
    for command, package in ((QDISCS, "iproute2"), (asked(RING, "wan"), "ethtool")):
        with pytest.raises(RunError, match=rf"is missing: apt install {package}$"):
            device.ask(command)


def test_a_tc_that_fails_is_answered_by_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, monkeypatch, "echo 'Cannot open netlink socket' >&2; exit 1")
    with pytest.raises(RunError, match=f"^{re.escape(QDISCS)}: Cannot open netlink socket$"):
        device.ask(QDISCS)
