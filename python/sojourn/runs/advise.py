# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Which algorithm a home line should have: a few of them on that line, and the choice.

The network is the known scenario `sqm`: a shaper below the modem's rate in each direction, both
with the same algorithm. Its flows here are calls and pages beside more downloads and uploads than
the line can carry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sojourn.core.errors import InputError
from sojourn.core.units import Duration, Rate, UnitError
from sojourn.result.metrics import GROUP_METRICS
from sojourn.result.result import Run
from sojourn.result.stats import Estimate, estimate
from sojourn.runs.run import run
from sojourn.scenario.known import KNOWN
from sojourn.scenario.model import Scenario
from sojourn.scenario.toml import load, validate

# What Linux or this module has for a home, those first that need least explanation: where two
# cannot be told apart, the earlier one is chosen.
CANDIDATES = ("fq_codel", "fq_pie", "cobalt:flows=1024", "codel", "pie", "fifo")
UNSHAPED = "no shaper"
# The shaper's rate, of the line's: a twentieth keeps the modem's queue empty.
SHARE = 0.95
# Beyond, a home's computers and its Wi-Fi are slower than the line.
_RATES = ("100 kbit/s", "1 Gbit/s")
_RTTS = ("1 ms", "2 s")
_CALLS = (1, 50)
# Above all shapers, so that the modem's own queue is the slowest.
_NO_SHAPER = "10 Gbit/s"
_WARM_S, _LONGEST_S, _SHORTEST_S = 5, 30, 10
_NEVER_S = 3600.0
# A run's time goes with its bits: so many take two seconds of a processor.
_MBIT = 3_000
# Nobody hears a millisecond.
_HEARD_MS = 1.0
# Of IPv4 and UDP: a datagram of a call has them beside its payload and the link's header.
_HEADERS_BYTES = 28
# An algorithm that leaves more of the line idle is no choice for its owner.
LEAST_THROUGHPUT = 0.85


@dataclass(frozen=True)
class Line:
    """A home's line, and the calls in each direction of it."""

    up: Rate
    down: Rate
    rtt: Duration
    calls: int

    @classmethod
    def read(cls, up: str, down: str, rtt: str, calls: int) -> Line:
        """Read the words of the command line. InputError names the one that cannot be used."""
        least, most = _CALLS
        if not least <= calls <= most:
            raise InputError(f"--calls {calls}: allowed: {least} to {most}")
        line = cls(
            _bounded("--up", up, Rate, _RATES),
            _bounded("--down", down, Rate, _RATES),
            _bounded("--rtt", rtt, Duration, _RTTS),
            calls,
        )
        _refuse_too_many_calls(line)
        return line


_Q = TypeVar("_Q", Rate, Duration)


def _bounded(option: str, text: str, kind: Callable[[str], _Q], bounds: tuple[str, str]) -> _Q:
    try:
        value = kind(text)
    except UnitError as error:
        raise InputError(f"{option}: {error}") from error
    if not kind(bounds[0]) <= value <= kind(bounds[1]):
        raise InputError(f"{option} {text}: allowed: {' to '.join(bounds)}")
    return value


def shaped(rate: Rate) -> Rate:
    """Return the rate of a shaper above a line of this rate, in whole kbit/s as people type it."""
    return Rate(int(rate * SHARE) // 1000 * 1000)


def scenario_of(line: Line, *, with_shaper: bool = True) -> Scenario:
    """Lay the line out; without a shaper the modem's own queue is the slowest."""
    data = load(KNOWN / "sqm.toml").to_data()
    links = {link["name"]: link for link in data["links"]}
    for way, router, rate in (("up", "egress", line.up), ("down", "ingress", line.down)):
        links[f"modem {way}"] |= {"rate": str(rate), "delay": "0 s"}
        shaper, card = links[router]["end"]
        for htb_class in shaper["classes"]:
            htb_class["rate"] = str(shaped(rate)) if with_shaper else _NO_SHAPER
        if not with_shaper:
            card["rate"] = _NO_SHAPER
    for name in ("internet", "internet back"):
        links[name]["delay"] = str(Duration(line.rtt // 2))
    mbit = (line.up + line.down) / 1e6
    end_s = round(min(max(_MBIT / mbit, _SHORTEST_S), _LONGEST_S))
    return validate(
        data
        | {
            "name": "line",
            "description": f"a home's line of {line.down} down and {line.up} up",
            "duration": f"{end_s} s",
            "flows": _flows(line.calls),
            "record": data["record"]
            | {"windows": [{"name": "load", "from": f"{_WARM_S} s", "to": f"{end_s} s"}]},
        },
        source="advise",
    )


def _refuse_too_many_calls(line: Line) -> None:
    """Raise InputError where the calls do not pass a shaper while all of them talk."""
    call_bps = _call_bps(line)
    way, rate = min(
        (("up", shaped(line.up)), ("down", shaped(line.down))), key=lambda shaper: shaper[1]
    )
    if line.calls * call_bps > rate:
        raise InputError(
            f"--calls {line.calls}: {line.calls} calls need {Rate(line.calls * call_bps)} while "
            f"all talk; the line {way} has {rate}: at most {rate // call_bps}"
        )


def _call_bps(line: Line) -> int:
    """Return the rate of one call's datagrams with their headers, in one direction."""
    data = scenario_of(line).to_engine()
    app = next(flow["app"] for flow in data["flows"] if flow["name"] == "calls up")
    header_bytes = _HEADERS_BYTES + next(
        link["header"] for link in data["links"] if link["name"] == "egress"
    )
    return int(app["rate"] + 8e9 * header_bytes / app["interval"])


def _flows(calls: int) -> list[dict[str, Any]]:
    down, up = {"from": "server", "to": "home"}, {"from": "home", "to": "server"}
    call = {"count": calls, "transport": "udp", "app": "voip"}
    return [
        {"name": "calls down", **down, **call},
        {"name": "calls up", **up, **call},
        {"name": "pages", **down, "app": {"kind": "web", "think": "1 s"}},
        {"name": "downloads", **down, "count": 4},
        {"name": "uploads", **up, "count": 2},
    ]


@dataclass(frozen=True)
class Number:
    """A number of the table: a metric of a group of flows."""

    heading: str
    unit: str
    group: str
    metric: str


NUMBERS = (
    Number("a call up waits", "ms", "calls up", "delay_ms"),
    Number("a call down waits", "ms", "calls down", "delay_ms"),
    Number("a page takes", "s", "pages", "page_p75_s"),
    Number("downloads", "Mbit/s", "downloads", "goodput_mbps"),
    Number("uploads", "Mbit/s", "uploads", "goodput_mbps"),
)
_UP, _DOWN, _PAGE, _DOWNLOADS, _UPLOADS = NUMBERS
# What calls and pages carry, too, is no idle line: on a slow one a call takes most of it.
CARRIED = tuple(
    Number(group, "Mbit/s", group, "goodput_mbps") for group in ("calls up", "calls down", "pages")
)
_CALLS_UP, _CALLS_DOWN, _PAGES = CARRIED
_METRICS = {metric.name: metric for metric in GROUP_METRICS}


@dataclass(frozen=True)
class Tried:
    """What one algorithm made of the line: each number by seed."""

    aqm: str
    values: Mapping[Number, Sequence[float]]

    def estimate(self, number: Number) -> Estimate:
        """Estimate its mean over the seeds in which it was measured."""
        return estimate([value for value in self.values[number] if value == value])

    @property
    def waits_ms(self) -> list[float]:
        """Give a call's delay in its slower direction, by seed."""
        return list(map(max, self.values[_UP], self.values[_DOWN]))

    @property
    def page_s(self) -> list[float]:
        """Give the time of a page, by seed; where none came, longer than any run."""
        return [_NEVER_S if value != value else value for value in self.values[_PAGE]]

    def throughput(self, line: Line) -> float:
        """Return how much of both directions carries data, in the mean: at most 1."""
        down, up = (_DOWNLOADS, _CALLS_DOWN, _PAGES), (_UPLOADS, _CALLS_UP)
        return (self._carried_mbps(down) / line.down + self._carried_mbps(up) / line.up) * 1e6 / 2

    def _carried_mbps(self, numbers: Sequence[Number]) -> float:
        """Add the means; of a group that never got anything there is none."""
        means = (self.estimate(number).mean for number in numbers if number in self.values)
        return sum(mean for mean in means if mean == mean)


@dataclass(frozen=True)
class Advice:
    """All that was tried, and the choice."""

    line: Line
    tried: Sequence[Tried]
    unshaped: Tried
    best: Tried
    as_good: Sequence[Tried]  # cannot be told from the best

    def share_of_most(self, row: Tried) -> float:
        """Return its throughput as a part of the most that an algorithm has."""
        return _share_of_most(row, self.tried, self.line)

    @property
    def _waits_ms(self) -> tuple[float, float]:
        """Give how long a call waits below the best one, and without a shaper."""
        return estimate(self.best.waits_ms).mean, estimate(self.unshaped.waits_ms).mean

    @property
    def helps(self) -> bool:
        """Tell whether calls wait less below a shaper, as the reason prints both."""
        # Without digits, round refuses NaN.
        wait_ms, before_ms = self._waits_ms
        return round(wait_ms, 0) < round(before_ms, 0)

    @property
    def reason(self) -> str:
        """Say why it was chosen, and whether it helps."""
        wait_ms, before_ms = self._waits_ms
        alike = " and ".join(tried.aqm for tried in self.as_good)
        told = f"; {alike} cannot be told from it" if alike else ""
        head = "" if self.helps else "no algorithm helps on this line. The best of them is "
        beside = "in place of" if self.helps else "no less than the"
        return (
            f"{head}{self.best.aqm}: a call waits {wait_ms:.0f} ms, of which the line itself takes "
            f"{self.line.rtt / 2e6:.0f}, {beside} {before_ms:.0f} ms without a shaper{told}."
        )


def advise(line: Line, *, seeds: int = 5, workers: int | None = None) -> Advice:
    """Try the candidates on the line, and choose one."""
    result = run(scenario_of(line), aqms=CANDIDATES, seeds=seeds, workers=workers)
    bare = run(scenario_of(line, with_shaper=False), aqms=["fifo"], seeds=seeds, workers=workers)
    tried = [
        _tried(aqm, [run for run in result.runs if run.labels["aqm"] == aqm]) for aqm in CANDIDATES
    ]
    best, as_good = choose(tried, line)
    return Advice(line, tried, _tried(UNSHAPED, bare.runs), best, as_good)


def _tried(aqm: str, runs: Sequence[Run]) -> Tried:
    return Tried(
        aqm,
        {
            number: [_METRICS[number.metric].measure_run(run, number.group, "load") for run in runs]
            for number in (*NUMBERS, *CARRIED)
        },
    )


def choose(tried: Sequence[Tried], line: Line) -> tuple[Tried, list[Tried]]:
    """Choose the one whose calls wait least, among those that use the line; and list those that
    cannot be told from it.

    Of two that cannot be told apart by the calls, pages decide; then their order.
    """
    able = [one for one in tried if _share_of_most(one, tried, line) >= LEAST_THROUGHPUT]
    quickest = min(able, key=lambda one: estimate(one.waits_ms).mean)
    alike = [one for one in able if not _is_more(one.waits_ms, quickest.waits_ms, _HEARD_MS)]
    first = min(alike, key=lambda one: estimate(one.page_s).mean)
    best, *others = [one for one in alike if not _is_more(one.page_s, first.page_s, 0)]
    return best, others


def _share_of_most(one: Tried, tried: Sequence[Tried], line: Line) -> float:
    return one.throughput(line) / max(each.throughput(line) for each in tried)


def _is_more(values: Sequence[float], than: Sequence[float], by: float) -> bool:
    """Tell whether the values exceed the others by more than this, seed by seed: the whole 95 %
    interval of the difference does."""
    return estimate([a - b for a, b in zip(values, than, strict=True)]).low > by
