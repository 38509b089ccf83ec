# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The core's random numbers, written again from their publications.

PCG-XSH-RR 64/32 (O'Neill, HMC-CS-2014-0905); seeds are spread by SplitMix64's finaliser (Steele,
Lea and Flood, OOPSLA 2014). A queue's only instance gets the seed at index 0.
"""

from __future__ import annotations

WORD = 2**64 - 1
MULTIPLIER = 6364136223846793005


def spread(x: int) -> int:
    """SplitMix64: one step of its counter, then its finaliser."""
    x = (x + 0x9E3779B97F4A7C15) & WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
    return x ^ (x >> 31)


class Pcg32:
    """One stream of 32-bit numbers."""

    def __init__(self, seed: int, stream: int) -> None:
        self.increment = (2 * stream + 1) & WORD
        self.state = 0
        self.next()
        self.state = (self.state + seed) & WORD
        self.next()

    def next(self) -> int:
        """The old state is put out, permuted, while the new one is computed."""
        old = self.state
        self.state = (old * MULTIPLIER + self.increment) & WORD
        shifted = (((old >> 18) ^ old) >> 27) & 0xFFFFFFFF
        turn = old >> 59
        return (shifted >> turn | shifted << (32 - turn)) & 0xFFFFFFFF


class Draws:
    """What an algorithm draws: numbers in [0, 1) and one of n."""

    def __init__(self, seed: int, stream: int = 0) -> None:
        self.source = Pcg32(spread(seed), stream)

    def uniform(self) -> float:
        """u in [0, 1)."""
        return self.source.next() / 2.0**32

    def below(self, n: int) -> int:
        """0 .. n - 1."""
        return self.source.next() * n >> 32
