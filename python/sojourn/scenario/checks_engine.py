# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Problems by the engine's rules of networks, flows and records, with the paths of a file."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from sojourn import _native
from sojourn.core.errors import nearest
from sojourn.core.units import Duration
from sojourn.scenario.engine import to_engine, without_foreign
from sojourn.scenario.expand import expand
from sojourn.scenario.problem import Path, Problem

if TYPE_CHECKING:
    from sojourn.scenario.lay import Laid
    from sojourn.scenario.model import Scenario


def of_engine(
    scenario: Scenario, laid: Laid | None, known: Collection[Path], most: int
) -> list[Problem]:
    """List problems that the engine finds, at most `most`. Parts with problems at the `known` paths
    are made simple."""
    data = without_foreign(to_engine(expand(scenario, laid), host=None))
    faults = _native.check_scenario(json.dumps(_simple(data, laid, known)))
    return [_problem(*fault, laid) for fault in faults[:most]]


def _problem(
    key: str, reason: str, unknown: tuple[str, list[str]] | None, laid: Laid | None
) -> Problem:
    words = re.findall(r"[^.\[\]]+", key)
    path = tuple(int(word) if word.isdigit() else word for word in words)
    # A position in the engine's JSON means nothing in the file.
    sentence = re.sub(r" at line \d+ column \d+$", "", reason)
    sentence = re.sub(_INTEGER, lambda match: _too_large(*match.groups()), sentence)
    sentence = re.sub(r"\b(\d+) ns\b", lambda match: str(Duration(int(match[1]))), sentence)
    if unknown:
        sentence = f"{sentence}.{nearest(*unknown)}"
    return laid.written(path) if laid else path, sentence


# The sentence of the engine's reader of JSON for a number out of range.
_INTEGER = r"^invalid value: integer `(-?\d+)`, expected u(\d+)$"


def _too_large(number: str, bits: str) -> str:
    return f"{number} is outside 0 to {2 ** int(bits) - 1}"


def _simple(data: dict[str, Any], laid: Laid | None, known: Collection[Path]) -> dict[str, Any]:
    """Simplify parts with known problems, where these could hide others or make no form at all."""
    if not known:
        return data

    def faulty(part: str, index: int) -> bool:
        at = laid.at[part][index][0] if laid else (part, index)
        return any(path[: len(at)] == at for path in known)

    links = [
        {key: link[key] for key in ("name", "from", "to", "delay")} | {"rate": 1_000_000}
        if not laid and faulty("links", i)
        else link
        for i, link in enumerate(data["links"])
    ]
    flows = [
        {
            **flow,
            "transport": {"kind": flow["transport"]["kind"]},
            "sim": {**flow.get("sim", {}), "options": {}},
            "linux": {},
        }
        if faulty("flows", i)
        else flow
        for i, flow in enumerate(data["flows"])
    ]
    return {**data, "links": links, "flows": flows}
