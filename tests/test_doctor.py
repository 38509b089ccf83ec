# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn doctor DEV`: real set-ups, recorded in a guest, sound and not; and its refusals.

`python -m tests.linux.set_ups` records them anew.
"""

from __future__ import annotations

import json
import shlex

import pytest
from sojourn.cli import status, upkeep
from sojourn.core.errors import RunError
from sojourn.core.units import Rate
from sojourn.linux import device, doctor
from sojourn.linux.device import LINKS, QDISCS, Reading
from sojourn.linux.doctor import Verdict

from tests.linux.set_ups import BROKEN, FOLDER, LINE, SOUND, SetUp


def recorded(set_up: SetUp) -> tuple[Reading, Reading]:
    data = json.loads((FOLDER / f"{set_up.name}.json").read_text())
    return Reading({**data["now"], **data["first"]}), Reading(data["now"])


def verdicts(set_up: SetUp) -> list[Verdict]:
    line = Rate(LINE) if set_up.line else None
    return doctor.examine(*recorded(set_up), set_up.device, line, line)


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
    [verdict] = doctor.examine(*recorded(quiet), quiet.device, probes=20)
    assert verdict.check == "statistics" and "20 datagrams" in verdict.sentence


def test_a_tc_without_the_plugin_is_answered_with_the_remedy() -> None:
    reading = Reading({QDISCS: '[{"kind":"sojourn","options":{[Unknown qdisc, optlen=76] }}]'})
    with pytest.raises(RunError, match="make -C linux/tc install"):
        reading.table(QDISCS)


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
    assert judged(broken, monkeypatch) == 3
    out = capsys.readouterr().out
    assert "    see   tc qdisc show dev wan" in out and "    mend  tc qdisc replace" in out
    assert judged(sound, monkeypatch) == 0
    assert capsys.readouterr().out == "wan: no fault seen\n"
    assert judged(broken, monkeypatch, 2, "--json") == 3
    assert json.loads(capsys.readouterr().out)["faults"][0]["check"] == "aqm"


def test_a_device_that_is_not_there_or_vanishes_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judged(SOUND[1], monkeypatch, readings=1) == 3
    assert "wan: vanished between two readings; run it again" in capsys.readouterr().err
    assert judged(SOUND[1], monkeypatch, readings=0) == 2
    assert "wan: there is no such device" in capsys.readouterr().err
