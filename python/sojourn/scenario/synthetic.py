# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""scenarios/cellular.down, a synthetic trace in mahimahi's format for a first try: no recording of
any network. `python -m sojourn.scenario.synthetic [--check] [FILE]` writes it, or checks that it is
fresh.

The capacity walks up and down a ladder of rates, as a phone's does while it moves. Now and then it
stops, as at a handover. Within a step the opportunities are evenly spaced.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

from sojourn.core.text import write_page
from sojourn.scenario.known_scenario import ROOT

DEFAULT = ROOT / "cellular.down"

_LENGTH_MS, _STEP_MS = 12_000, 100
# Opportunities of a step: of 1,504 bytes each, 0.5 to 18 Mbit/s.
_LADDER = (4, 8, 17, 33, 66, 100, 150)
# The mean number of steps between outages, and the steps of an outage.
_STEPS_BETWEEN_OUTAGES, _OUTAGE_STEPS = 40, 3


def times_ms() -> Iterator[int]:
    """Draw the moment of each opportunity, always the same."""
    draw = random.Random(1)
    level, outage_steps = len(_LADDER) // 2, 0
    for begin_ms in range(0, _LENGTH_MS, _STEP_MS):
        level = min(max(level + draw.randrange(3) - 1, 0), len(_LADDER) - 1)
        outage_steps = max(outage_steps - 1, 0)
        if draw.randrange(_STEPS_BETWEEN_OUTAGES) == 0:
            outage_steps = _OUTAGE_STEPS
        count = 0 if outage_steps else _LADDER[level]
        yield from (begin_ms + number * _STEP_MS // count for number in range(count))
    # The end is an opportunity too: there the trace begins again.
    yield _LENGTH_MS


def text() -> str:
    """Write the trace out, a line for each opportunity."""
    return "".join(f"{ms}\n" for ms in times_ms())


if __name__ == "__main__":
    sys.exit(write_page(sys.argv[1:], DEFAULT, text))
