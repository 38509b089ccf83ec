# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The number of flows of a group, or of each of several, that offers a load with the other groups.

All links are uncongested, and the load is measured for several numbers of flows. The line through
these points gives the number (Le et al., ICDCS 2006, section 4.2).
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, linear_regression
from typing import Any

from sojourn.core.errors import InputError, nearest
from sojourn.core.units import Rate, UnitError, split
from sojourn.result.metrics import AND
from sojourn.runs.run import run
from sojourn.scenario import trace
from sojourn.scenario.flows import KINDS, Traffic
from sojourn.scenario.links import FRAME
from sojourn.scenario.model import Scenario
from sojourn.scenario.toml import load as read_file
from sojourn.scenario.toml import validate

# The first look has at most so many flows; it estimates the number. The line goes through these
# shares of the estimate.
_FIRST, _SHARES = 50, (0.25, 0.5, 1.0)
# The most flows of a group.
_MOST = 100_000
# The rate of a link is so many times the load: its queue stays almost empty.
_TIMES_LOAD = 20
_FASTEST_BPS = 10**13
_WINDOW = "calibration"


@dataclass(frozen=True)
class Measured:
    """Record the load of the link for a number of flows of the group, by seed."""

    flows: int
    mbps: Sequence[float]


@dataclass(frozen=True)
class Calibration:
    """Record the line, its points, and the number of flows that offers the load."""

    group: str  # or several
    link: str  # the busiest, on which the load is counted
    groups: Sequence[str]  # that have the number of flows
    beside: Sequence[str]  # groups whose load counts too
    aside: Sequence[str]  # groups without a load of their own, which did not run
    load_mbps: float
    flows: int
    mbps_per_flow: float
    mbps_at_none: float
    measured: Sequence[Measured]

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        measured = [{"flows": point.flows, "mbps": list(point.mbps)} for point in self.measured]
        return {**vars(self), "measured": measured}


def calibrate(
    scenario: Scenario | str | os.PathLike[str],
    group: str,
    load: Rate | str,
    *,
    is_ip: bool = False,
    seeds: int = 3,
    workers: int | None = None,
) -> Calibration:
    """Find the number of flows of a group with which the busiest link carries this load; the
    scenario is an object or a file.

    'A + B' are two groups, which have this number each. All other groups stay as they are. Packets
    count with their headers, or with `is_ip` as packets of IP, and all links are uncongested. The
    first third of the run is left out. Groups that send as fast as the network lets them are left
    out too. Where the load is text, error messages use its unit. InputError: no number of flows
    offers the load, or a group is unknown.
    """
    if not isinstance(scenario, Scenario):
        scenario = read_file(scenario)
    wanted, unit = _read(load)
    groups = {flow.name: flow for flow in (scenario.shorthand or scenario).flows}
    named = [group] if group in groups else group.split(AND)
    for name in named:
        if name not in groups:
            raise InputError(f"there are no flows '{name}'.{nearest(name, groups)}")
    aside = [name for name, flow in groups.items() if _is_endless(flow)]
    for name in set(named) & set(aside):
        raise InputError(
            f"'{name}': sends without end, as fast as the network lets it, and offers no load"
        )
    beside = [name for name in groups if name not in (*named, *aside)]
    load_mbps = wanted / 1e6

    def measure(flows: int) -> _Carried:
        counts = {name: groups[name].count for name in beside} | dict.fromkeys(named, flows)
        ran = _uncongested(scenario, {name: n for name, n in counts.items() if n}, wanted)
        result = run(ran, seeds=seeds, workers=workers)
        return _Carried(flows, [dict(_mbps(point.report, ran, is_ip)) for point in result])

    def offered(mbps: float) -> str:
        # A link that is more than half full may have held the load up.
        least = "at least " if mbps > _TIMES_LOAD / 2 * load_mbps else ""
        return f"{least}{amount(mbps, unit)} {unit}"

    of_others = measure(0) if beside else None
    alone = measure(1)
    # The first look fills no more than half of a link.
    most_mbps = max(alone.gain(link, of_others) for link in alone.mbps[0])
    unheld = _TIMES_LOAD / 2 * load_mbps / most_mbps if most_mbps > 0 else math.inf
    first = measure(int(max(2, min(unheld, _FIRST))))
    link = first.busiest()
    others_mbps = fmean(of_others.on(link)) if of_others else 0.0
    others = ", ".join(f"'{name}'" for name in beside)
    wish = f"{amount(load_mbps, unit)} {unit} is asked for"
    if others_mbps >= load_mbps:
        count = sum(groups[name].count for name in beside)
        those = (
            f"1 other flow ({others}) offers"
            if count == 1
            else f"{count} other flows ({others}) offer"
        )
        raise InputError(f"'{group}': {those} {offered(others_mbps)} without it, and {wish}")
    one_mbps = fmean(alone.on(link))
    if one_mbps > load_mbps:
        also = f", with {others}," if beside else ""
        raise InputError(
            f"'{group}': one flow{also} already offers {offered(one_mbps)}, and {wish}"
        )
    gained_mbps = first.gain(link, of_others)
    if not gained_mbps > 0:
        raise InputError(f"'{group}': {first.flows} of its flows send nothing in this time")
    about = (load_mbps - others_mbps) / gained_mbps * first.flows
    if about > _MOST:
        raise InputError(
            f"'{group}': about {about:.0f} flows would offer {amount(load_mbps, unit)} {unit}; a "
            f"group has at most {_MOST}"
        )
    known = [*([of_others] if of_others else []), alone, first]
    numbers = {max(1, round(about * share)) for share in _SHARES} - {point.flows for point in known}
    carried = sorted([*known, *map(measure, numbers)], key=lambda point: point.flows)
    link = carried[-1].busiest()
    measured = [Measured(point.flows, point.on(link)) for point in carried]
    points = [(point.flows, mbps) for point in measured for mbps in point.mbps]
    slope, at_none = linear_regression(*zip(*points, strict=True))
    if slope <= 0:
        raise InputError(f"'{group}': more flows send no more; a longer run may tell")
    flows = max(1, round((load_mbps - at_none) / slope))
    return Calibration(
        group, link, named, beside, aside, load_mbps, flows, slope, at_none, measured
    )


def per_second(load: str) -> str:
    """Name the unit of a load; tc's `mbit` is per second."""
    unit = split(load)[1]
    return unit if "/" in unit else f"{unit}/s"


def amount(mbps: float, unit: str) -> str:
    """Write a load in this unit, with four digits."""
    value = mbps * 1e6 / Rate(f"1 {unit}")
    digits = max(3 - math.floor(math.log10(value)), 0) if value else 0
    return f"{value:.{digits}f}"


def _read(load: Rate | str) -> tuple[Rate, str]:
    """Read a load and its unit."""
    try:
        return Rate(load), per_second(str(load))
    except UnitError as error:
        raise InputError(f"calibrate: {error}") from error


@dataclass(frozen=True)
class _Carried:
    """The load of each link for a number of flows of the group, by seed."""

    flows: int
    mbps: Sequence[Mapping[str, float]]

    def on(self, link: str) -> list[float]:
        """Return the load of this link."""
        return [of_links[link] for of_links in self.mbps]

    def gain(self, link: str, of_others: _Carried | None) -> float:
        """Return how much more the link carried, in the mean, than without the group."""
        return fmean(self.on(link)) - (fmean(of_others.on(link)) if of_others else 0.0)

    def busiest(self) -> str:
        """Name the link that carried most."""
        return max(self.mbps[0], key=lambda link: fmean(self.on(link)))


def _is_endless(flow: Traffic) -> bool:
    """Tell whether only the network limits the bytes that the flow sends."""
    return flow.app == KINDS["bulk"](kind="bulk")


def _uncongested(scenario: Scenario, counts: Mapping[str, int], load: Rate) -> Scenario:
    """Build the scenario with these numbers of flows and with links on which no queue grows."""
    graph = _only(scenario, counts).expand()
    data = graph.to_data()
    rate = str(Rate(min(_TIMES_LOAD * load, _FASTEST_BPS)))
    links = []
    for model, link in zip(graph.links, data["links"], strict=True):
        keys = ("name", "from", "to", "delay", *FRAME)
        kept = {key: link[key] for key in keys if key in link}
        if "trace" in link and model.opportunity == "bytes":
            kept["header"] = f"{trace.HEADER_BYTES} B"
        timed = {"rate": rate, "queue": {"algorithm": "fifo", "limit": 1_000_000}}
        links.append(kept | (timed if {"rate", "trace", "end"} & link.keys() else {}))
    third = scenario.duration // 3
    window = {"name": _WINDOW, "from": f"{third} ns", "to": str(scenario.duration)}
    record = {"windows": [window], "series": str(scenario.duration)}
    data |= {"links": links, "record": record}
    return validate(data, source=f"calibrate {scenario.name}")


def _only(scenario: Scenario, counts: Mapping[str, int]) -> Scenario:
    """Keep only these groups, each with its number of flows, as `flows.GROUP.count` of the file
    does.

    A shorthand makes several groups from one between whole sides; each gets the number of the one.
    """
    shorthand = scenario.shorthand
    data = scenario.to_data()
    place = data[shorthand.key] if shorthand else data
    place["flows"] = [
        {
            **flow.model_dump(mode="json", by_alias=True, exclude_defaults=True),
            "count": counts[name],
        }
        for flow in (shorthand or scenario).flows
        if (name := flow.name) in counts
    ]
    return validate(data, source=f"calibrate {scenario.name}")


def _mbps(
    report: Mapping[str, Any], scenario: Scenario, is_ip: bool
) -> Iterator[tuple[str, float]]:
    """Yield each link with its load in Mbit/s."""
    rates = {link.name: link.rate or 0 for link in scenario.links}
    for queue in report["queues"]:
        window = queue["windows"][0]
        used = float(window["utilisation_pct"]) / 100
        mbps = window["ip_mbps"] if is_ip else used * rates[queue["name"]] / 1e6
        if mbps is None:
            raise InputError(
                f"calibrate: link '{queue['name']}' has a least frame or cells, and its bytes of "
                "IP are not known; leave --ip out"
            )
        yield queue["name"], mbps
