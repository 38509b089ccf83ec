# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The generator gives the numbers of its publications."""

from __future__ import annotations

import json

from sojourn import _native

from tests.models.generator import Pcg32
from tests.models.recorder import scenario


def test_generator_gives_its_author_s_numbers() -> None:
    """pcg32-demo's first round: seed 42, stream 54."""
    source = Pcg32(42, 54)
    assert [source.next() for _ in range(6)] == [
        0xA15C02B7,
        0x7B47F409,
        0xBA1D3330,
        0x83D2F293,
        0xBFA4784B,
        0xCBED606E,
    ]


def test_the_engine_accepts_every_scenario_of_the_recorder() -> None:
    for algorithm in (known["name"] for known in _native.algorithms()):
        assert _native.check_scenario(json.dumps(scenario(algorithm))) == []
