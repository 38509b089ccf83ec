# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""figures.py: kept figures, and which of them differ."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from validation.beside import linux, ns2

FIGURES = Path(__file__).resolve().with_name("figures.json")
# A difference that is told: more than so many standard errors of the mean over seeds, and more
# than this share of the kernel's own figure, or this many points of it. Fifty figures are compared.
ERRORS = 3
SHARE = 0.02
POINTS = 0.1

# Of each queue its metrics, seed by seed.
Measured = Mapping[str, Mapping[str, Sequence[float]]]


def differ(theirs: Sequence[float], ours: Sequence[float]) -> bool:
    """Do two queues differ in a metric, by the same seeds?"""
    return abs(fmean(ours) - fmean(theirs)) > shown(theirs, ours)


def shown(theirs: Sequence[float], ours: Sequence[float]) -> float:
    """The least difference of means that would be told with these seeds."""
    apart = [b - a for a, b in zip(theirs, ours, strict=True)]
    error = stdev(apart) / math.sqrt(len(apart))
    return max(ERRORS * error, SHARE * abs(fmean(theirs)), POINTS)


def away(theirs: float, ours: Sequence[float]) -> bool:
    """Is one figure away from those of our seeds, of which it could be one more?"""
    apart = abs(fmean(ours) - theirs)
    spread = stdev(ours) * math.sqrt(1 + 1 / len(ours)) if len(ours) > 1 else 0.0
    return apart > ERRORS * spread and apart > max(SHARE * abs(theirs), POINTS)


def alone() -> dict[str, Any]:
    """Our queues on the arrivals of ns-2's."""
    return {entry["name"]: ns2.measure(entry) for entry in ns2.QUEUES}


def everything() -> dict[str, Any]:
    """Measure all pairs in the guest."""
    from sojourn.linux import kernel

    release = " ".join(kernel.ready().version.split()[:2]).capitalize()
    found: dict[str, Any] = {"kernel": release, "seeds": linux.SEEDS}
    found["pairs"] = {pair.kernel: linux.measure(pair.specs) for pair in linux.pairs()}
    return found | {"ns-2": alone()}


def load() -> dict[str, Any]:
    """As they are kept."""
    found: dict[str, Any] = json.loads(FIGURES.read_text())
    return found


def keep(found: Mapping[str, Any]) -> None:
    """A line for each metric."""
    FIGURES.write_text(_lines(found) + "\n")


def _lines(thing: Any, indent: str = "") -> str:
    if not isinstance(thing, Mapping):
        return json.dumps(thing)
    inner = indent + " "
    rows = (f"{inner}{json.dumps(key)}: {_lines(value, inner)}" for key, value in thing.items())
    return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
