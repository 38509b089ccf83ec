# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""How many flows of a group offer a load: what they send where nothing holds them up, by their
number, and the line through it (Le et al., ICDCS 2006, section 4.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, linear_regression
from typing import Any

from sojourn.errors import InputError, nearest
from sojourn.runs import run
from sojourn.scenario.links import FRAME
from sojourn.scenario.model import Scenario
from sojourn.scenario.toml import validate
from sojourn.units import Rate

# The first look, and the numbers that the line goes through, of what that look says.
_FIRST, _SHARES = 50, (0.25, 0.5, 1.0)
# A group has no more.
_MOST = 100_000
# A link so much faster than the load never has a queue worth the name.
_TIMES_LOAD = 20
_FASTEST_BPS = 10**13
_WINDOW = "calibration"


@dataclass(frozen=True)
class Measured:
    """What so many flows sent, by seed."""

    flows: int
    mbps: Sequence[float]


@dataclass(frozen=True)
class Calibration:
    """The line, what it goes through, and the number of flows that was asked for."""

    group: str
    load_mbps: float
    flows: int
    mbps_per_flow: float
    mbps_at_none: float
    measured: Sequence[Measured]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        measured = [{"flows": of.flows, "mbps": list(of.mbps)} for of in self.measured]
        return {**vars(self), "measured": measured}


def calibrate(
    scenario: Scenario,
    group: str,
    load: Rate,
    *,
    seeds: int = 3,
    workers: int | None = None,
    processes: bool = False,
) -> Calibration:
    """Find how many flows of a group put this load on their busiest link, packets with their
    headers, where all links are uncongested. The first third of the run is left aside."""

    def measure(flows: int) -> Measured:
        alone = _alone(scenario, group, flows, load)
        result = run(alone, seeds=seeds, workers=workers, processes=processes)
        return Measured(flows, [_mbps(of.report, alone) for of in result])

    load_mbps = load / 1e6
    first = measure(_FIRST)
    if not fmean(first.mbps) > 0:
        raise InputError(f"'{group}': {_FIRST} of its flows send nothing in this time")
    about = load_mbps / fmean(first.mbps) * _FIRST
    if about > _MOST:
        raise InputError(
            f"'{group}': about {about:.0f} flows would offer {load}; a group has at most {_MOST}"
        )
    numbers = sorted({max(1, round(about * share)) for share in _SHARES} - {_FIRST})
    measured = sorted([first, *map(measure, numbers)], key=lambda of: of.flows)
    points = [(of.flows, mbps) for of in measured for mbps in of.mbps]
    slope, at_none = linear_regression(*zip(*points, strict=True))
    if slope <= 0:
        raise InputError(f"'{group}': more flows send no more; a longer run may tell")
    flows = max(1, round((load_mbps - at_none) / slope))
    return Calibration(group, load_mbps, flows, slope, at_none, measured)


def _alone(scenario: Scenario, group: str, count: int, load: Rate) -> Scenario:
    """So many flows of one group, and links on which nothing waits."""
    data = _only(scenario, group, count).expand().to_data()
    rate = str(Rate(min(_TIMES_LOAD * load, _FASTEST_BPS)))
    links = []
    for link in data["links"]:
        keys = ("name", "from", "to", "delay", *FRAME)
        kept = {key: link[key] for key in keys if key in link}
        timed = {"rate": rate, "queue": {"algorithm": "fifo", "limit": 1_000_000}}
        links.append(kept | (timed if {"rate", "trace"} & link.keys() else {}))
    third = scenario.duration // 3
    window = {"name": _WINDOW, "from": f"{third} ns", "to": str(scenario.duration)}
    record = {"windows": [window], "series": str(scenario.duration)}
    data |= {"links": links, "record": record}
    return validate(data, source=f"calibrate {scenario.name}")


def _only(scenario: Scenario, group: str, count: int) -> Scenario:
    """The scenario with so many flows of one group alone, as `flows.GROUP.count` of its file says
    it: of a group between whole sides a shorthand makes several."""
    shorthand = scenario.shorthand
    groups = {flow.name: flow for flow in (shorthand or scenario).flows}
    if group not in groups:
        raise InputError(f"there are no flows '{group}'.{nearest(group, groups)}")
    flow = groups[group].model_dump(mode="json", by_alias=True, exclude_defaults=True)
    data = scenario.to_data()
    place = data[shorthand.key] if shorthand else data
    place["flows"] = [{**flow, "count": count}]
    return validate(data, source=f"calibrate {scenario.name}")


def _mbps(report: Mapping[str, Any], scenario: Scenario) -> float:
    """What the busiest link carried."""
    rates = {link.name: link.rate or 0 for link in scenario.links}
    carried = [
        float(queue["windows"][0]["utilisation_pct"]) / 100 * rates[queue["name"]] / 1e6
        for queue in report["queues"]
    ]
    return max(carried)
