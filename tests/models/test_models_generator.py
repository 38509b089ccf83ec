# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The generator gives the numbers of its publications."""

from __future__ import annotations

from tests.models.generator import Pcg32


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
