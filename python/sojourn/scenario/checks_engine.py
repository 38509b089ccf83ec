# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Problems by the engine's rules of networks, flows and records, with the paths of a file."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from sojourn import _native
from sojourn.core.errors import nearest
from sojourn.core.hosts import HOSTS
from sojourn.core.units import Duration
from sojourn.scenario.engine import to_engine, without_foreign
from sojourn.scenario.expand import expand
from sojourn.scenario.problem import Path, Problem

if TYPE_CHECKING:
    from sojourn.scenario.lay import Laid
    from sojourn.scenario.model import Scenario

Fault = tuple[str, str, tuple[str, list[str]] | None]
# The engine's names of keys that have several forms.
_FORMS = {"starts": "start", "rtts": "rtt"}
# The engine's name of a size is the base unit alone.
_SIZE = ("app", "bytes")


def of_engine(
    scenario: Scenario, laid: Laid | None, known: Collection[Path], most: int
) -> list[Problem]:
    """List problems that the engine finds, at most `most`. Parts with problems at the `known` paths
    are made simple. In Linux's form only new problems count, since most are in both forms."""
    graph = expand(scenario, laid)

    def asked(host: str) -> list[Fault]:
        form = _plain(without_foreign(to_engine(graph, host)), laid, known)
        return _native.check_scenario(json.dumps(form))

    found = asked("sim")
    said = {(key, reason) for key, reason, _ in found}
    more = asked("linux") if _differs(graph) else []
    new = [fault for fault in more if fault[:2] not in said]
    faults = ((host, *fault) for host, of in zip(HOSTS, (found, new), strict=True) for fault in of)
    return list(islice(_written(faults, scenario, laid), most))


def _differs(graph: Scenario) -> bool:
    """Tell whether hosts have tables of their own."""
    tables = [link.sim for link in graph.links]
    of_flows = [table for flow in graph.flows for table in (flow.sim, flow.linux)]
    return any(table.model_fields_set for table in (*tables, *of_flows))


def _written(
    faults: Iterator[tuple[str, str, str, tuple[str, list[str]] | None]],
    scenario: Scenario,
    laid: Laid | None,
) -> Iterator[Problem]:
    for host, key, reason, unknown in faults:
        # The engine's keys are ours with the base unit at the end.
        words = re.findall(r"[^.\[\]]+", re.sub(r"_(ns|bps|bytes|pkts)$", "", key))
        path = _as_written(tuple(int(word) if word.isdigit() else word for word in words))
        path = _of_host(laid.written(path) if laid else path, host)
        # A position in the engine's JSON means nothing in the file.
        said = re.sub(r" at line \d+ column \d+$", "", reason)
        said = re.sub(_INTEGER, lambda match: _too_large(*match.groups()), said)
        said = re.sub(r"\b(\d+) ns\b", lambda match: str(Duration(int(match[1]))), said)
        yield path, f"{said}.{nearest(*unknown)}" if unknown else said


# The sentence of the engine's reader of JSON for a number out of range.
_INTEGER = r"^invalid value: integer `(-?\d+)`, expected u(\d+)$"


def _too_large(number: str, bits: str) -> str:
    return f"{number} is outside 0 to {2 ** int(bits) - 1}"


def _as_written(path: Path) -> Path:
    """Convert a path of the engine to one of the file. There lists of times, rows and opportunities
    have no key of their own."""
    if path[2:4] == ("queue", "rows"):
        return (*path[:3], *path[4:])
    if path[2:3] == ("opportunities",):
        return (*path[:2], "trace")
    if path[-2:] == _SIZE:
        return (*path[:-1], "size")
    if any(word in _FORMS for word in path):
        return tuple(_FORMS.get(str(word), word) for word in path if word != "ns")
    return path


def _of_host(path: Path, host: str) -> Path:
    """Name the place of keys that a file has in the table of a host."""
    if path[-1:] in (("ring",), ("send_jitter",)):
        return (*path[:-1], "sim", path[-1])
    if host == "linux" and "transport" in path:
        return (*path[: path.index("transport")], "linux", "cc")
    return path


def _plain(form: dict[str, Any], laid: Laid | None, known: Collection[Path]) -> dict[str, Any]:
    """Simplify parts with known problems, where these could hide others or make no form at all."""
    if not known:
        return form

    def faulty(of: str, index: int) -> bool:
        at = laid.at[of][index][0] if laid else (of, index)
        return any(path[: len(at)] == at for path in known)

    links = [
        {key: link[key] for key in ("name", "from", "to", "delay_ns")} | {"rate_bps": 1_000_000}
        if not laid and faulty("links", i)
        else link
        for i, link in enumerate(form["links"])
    ]
    flows = [
        {**flow, "transport": {"kind": flow["transport"]["kind"]}} if faulty("flows", i) else flow
        for i, flow in enumerate(form["flows"])
    ]
    return {**form, "links": links, "flows": flows}
