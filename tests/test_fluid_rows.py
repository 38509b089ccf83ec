# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""From an algorithm's rows to its law in the model: what the C has as a table, and what is named
twice."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from sojourn.cli import status
from sojourn.theory import rows

AQM = Path(__file__).parent.parent / "aqm"
NETWORK = ("--flows", "60", "--capacity", "15 Mbit/s", "--rtt", "200 ms")
# {PIE_ONE / 100, 3}: below p = 0.01 gains are shifted by 3.
_TUNE = re.compile(r"\{PIE_ONE / (\d+), (\d+)\}")


@pytest.mark.parametrize(
    ("file", "held"),
    [
        ("law/pie_rows.h", rows._RFC_DIVISORS),
        ("law/pie_2013.h", rows._2013_DIVISORS),
    ],
)
def test_the_models_divisors_of_pie_are_those_of_the_c(
    file: str, held: tuple[tuple[float, int], ...]
) -> None:
    found = _TUNE.findall((AQM / file).read_text())
    assert tuple((1 / int(below), 2 ** int(shift)) for below, shift in found) == held


def test_what_is_named_twice_is_shown_once_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["stability", "pi", "pi", "pi:qref=50", "rem", *NETWORK]) == 0
    said = capsys.readouterr()
    assert said.err.splitlines()[:2] == [
        "sojourn: pi: named twice, shown once",
        "sojourn: pi:qref=50: has the rows of pi, shown once",
    ]
    assert status(["stability", "pi", "pi", "pi:qref=50", "rem", *NETWORK, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["models"]
    assert [model["name"] for model in shown] == ["pi", "rem"]
