# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A medium in a scenario's file: from its keys to the queues that it grants turns."""

from __future__ import annotations

from pathlib import Path

import pytest
import sojourn
from sojourn.cli import status
from sojourn.core.errors import InputError

FILE = """
format = 2
name = "cable"
duration = "2 s"
nodes = ["modem 1", "modem 2", "cmts"]

[[media]]
name = "upstream"
rate = "20 Mbit/s"
{more}

[[links]]
name = "up 1"
from = "modem 1"
to = "cmts"
end = [{{ kind = "queue", name = "mac", medium = "upstream", queue = "fifo" {stage} }}]

[[links]]
name = "up 2"
from = "modem 2"
to = "cmts"
end = [{{ kind = "queue", name = "mac", medium = "upstream", queue = "fifo" }}]

[[links]]
name = "down"
from = "cmts"
to = "modem 1"

[[flows]]
name = "calls"
from = "modem 1"
to = "cmts"
transport = "udp"
app = {{ kind = "cbr", rate = "100 kbit/s", payload = "200 B" }}
"""


def text(more: str = "", stage: str = "") -> str:
    """Write the file with further keys of the medium and of the first stage."""
    return FILE.format(more=more, stage=stage)


def test_a_longer_cycle_delays_an_idle_cable_as_its_requests_and_grants_take_longer() -> None:
    delays = []
    for cycle in ("2 ms", "10 ms"):
        run = sojourn.run(sojourn.loads(text(f'cycle = "{cycle}"'))).runs[0]
        window = run.report["queues"][0]["windows"][0]
        assert window["dropped_pkts"] == 0
        delays.append(window["system_delay_ms"]["mean"])
    # Half a cycle to the next request, one to the list of grants, one until that holds.
    assert 4 < delays[0] < 6.5
    assert 20 < delays[1] < 32


def test_a_medium_is_written_back_as_it_was_read() -> None:
    scenario = sojourn.loads(text('grant = "4 kB"\nslots = 4\nbackoff = [2, 6]'))
    assert sojourn.loads(scenario.to_toml()) == scenario
    assert sojourn.loads(scenario.expand().to_toml()).expand() == scenario.expand()
    assert scenario.to_engine()["media"] == [
        {
            "name": "upstream",
            "rate": 20_000_000,
            "cycle": 2_000_000,
            "grant": 4_000,
            "slots": 4,
            "backoff": [2, 6],
        }
    ]


@pytest.mark.parametrize(
    ("more", "stage", "sentence"),
    [
        ("", ', rate = "1 Mbit/s"', "the medium sets the pace: leave this out"),
        ("slots = 0", "", "slots"),
        ('cycle = "1 us"', "", "cycle"),
        ("backoff = [4, 2]", "", "4 to 2 is no part of 0 to 15"),
        ("slots = 400", "", "400 requests of 16 bytes fill the cycle"),
    ],
)
def test_a_wrong_medium_is_refused_in_a_sentence(more: str, stage: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        sojourn.loads(text(more, stage))


def test_an_unknown_medium_names_those_that_there_are() -> None:
    wrong = text().replace('medium = "upstream"', 'medium = "upstraem"', 1)
    with pytest.raises(InputError, match=r"no medium 'upstraem'.*upstream"):
        sojourn.loads(wrong)


def test_linux_refuses_a_medium_with_the_remedy() -> None:
    with pytest.raises(InputError, match="no device of Linux waits for grants"):
        sojourn.run(sojourn.loads(text()), hosts=["linux"])


def test_the_picture_of_a_network_names_the_medium_that_grants_turns(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "cable.toml").write_text(text())
    assert status(["show", "--network", str(tmp_path / "cable.toml")]) == 0
    assert "turns on upstream, 20 Mbit/s in cycles of 2 ms" in capsys.readouterr().out
