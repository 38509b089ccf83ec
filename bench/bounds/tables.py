# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Draws the rows of a part of `python -m bench.bounds` as a table with their goals."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bench.bounds.measure import Result

# The goals.
SEARCH_US = 2.0  # the longest search for a packet to drop, in a full queue
PACKET_RATIO = 1.05  # a packet, to one of the other revision
SEND_RATIO = 1.5  # a large packet, to a queue that only splits it
STATISTICS_US = 50.0  # the longest read of statistics
FREED_US = 1.0  # a change, for each packet that it frees
FLOW_US = 0.1  # and for each flow

MICROSECONDS = {"ns": 1e-3, "us": 1.0, "ms": 1e3}
UNITS = {"packet": "ns", "change": "ms", "reset": "ms"}
ARRIVAL_STATES = ("below the limit", "at the limit", "the difference")


@dataclass(frozen=True)
class Line:
    """Tries of one operation, in microseconds, and what is allowed: for the worst of them, or
    as a ratio to the line beside, of the worst or, where a try is many packets, the median."""

    state: str
    queue: str
    tries_us: tuple[float, ...]
    beside: str = ""
    most_us: float | None = None
    worst_ratio: float | None = None
    median_ratio: float | None = None

    @property
    def worst_us(self) -> float:
        return max(self.tries_us)

    @property
    def median_us(self) -> float:
        return statistics.median(self.tries_us)


def name(result: Result) -> str:
    words = result.row.queue
    if result.row.algorithm:
        words += f", {result.flows:,} flows"
    return f"{words} ({result.module.name})" if result.module.name else words


def line_of(result: Result, hz: int, operations: int = 1) -> Line:
    us = tuple(attempt.cycles * 1e6 / hz / operations for attempt in result.attempts)
    return Line(result.row.state, name(result), us, result.row.beside)


def arrival_lines(results: Sequence[Result], hz: int) -> list[Line]:
    """List arrivals: in each try one packet that needs no room, then one that does."""
    lines = []
    for result in results:
        both = line_of(result, hz).tries_us
        below, above = both[::2], both[1::2]
        more = tuple(after - before for before, after in zip(below, above, strict=True))
        most = (None, None, SEARCH_US if result.row.judged else None)
        for state, tries, most_us in zip(ARRIVAL_STATES, (below, above, more), most, strict=True):
            where = f"{result.row.state}, {state}"
            lines.append(Line(where, name(result), tries, most_us=most_us))
    return lines


def packet_lines(results: Sequence[Result], hz: int) -> list[Line]:
    """List packets beside those of the other revision, where there is one."""
    first = results[0]
    others = [name(result) for result in results if result.module != first.module]
    lines = []
    for result in results:
        one = line_of(result, hz, int(result.row.command.split()[3]))
        if others:
            goal = PACKET_RATIO if result is first else None
            one = replace(one, beside=others[0], median_ratio=goal)
        lines.append(one)
    return lines


def other_line(result: Result, hz: int) -> Line:
    one = line_of(result, hz)
    if not result.row.judged:
        return one
    if result.row.part == "send":
        return replace(one, worst_ratio=SEND_RATIO)
    if result.row.part == "statistics":
        return replace(one, most_us=STATISTICS_US)
    if result.row.part in ("change", "reset"):
        freed = min(attempt.lost for attempt in result.attempts)
        return replace(one, most_us=FREED_US * freed + FLOW_US * result.flows)
    return one


def lines_of(results: Sequence[Result], hz: int) -> list[Line]:
    part = results[0].row.part
    if part == "arrival":
        return arrival_lines(results, hz)
    if part == "packet":
        return packet_lines(results, hz)
    return [other_line(result, hz) for result in results]


def by_state(lines: Sequence[Line]) -> list[Line]:
    """Sort lines as in the plan, another revision's below ours."""
    states = list(dict.fromkeys(line.state for line in lines))
    return sorted(lines, key=lambda line: states.index(line.state))


def digits(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:#.3g}".rstrip(".")


def verdict(measured: float, allowed: float, shown: float) -> str:
    return f"{digits(shown)} {'met' if measured <= allowed else 'missed'}"


def goal_text(line: Line, beside: Line | None, unit_us: float) -> str:
    if line.most_us is not None:
        return verdict(line.worst_us, line.most_us, line.most_us / unit_us)
    if beside and line.worst_ratio:
        ratio = line.worst_us / beside.worst_us
        return verdict(ratio, line.worst_ratio, line.worst_ratio)
    if beside and line.median_ratio:
        ratio = line.median_us / beside.median_us
        return verdict(ratio, line.median_ratio, line.median_ratio)
    return ""


def cells(line: Line, beside: Line | None, unit_us: float) -> list[str]:
    ratios = ["", ""]
    if beside:
        ratios[0] = digits(line.worst_us / beside.worst_us)
        ratios[1] = digits(line.median_us / beside.median_us)
    numbers = [digits(line.worst_us / unit_us), digits(line.median_us / unit_us)]
    tries = f"{len(line.tries_us):,}"
    return [line.state, line.queue, tries, *numbers, *ratios, goal_text(line, beside, unit_us)]


def drawn(head: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> str:
    """Draw columns of words first, then those of numbers."""
    rule = ["---"] * words + ["--:"] * (len(head) - words)
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, rule, *rows))


def matrix(lines: Sequence[Line], besides: Mapping[tuple[str, str], Line]) -> str:
    """Draw a column for each state: the worst try in ms, and its ratio to the line beside."""
    states = list(dict.fromkeys(line.state for line in lines))
    rows = []
    for queue in dict.fromkeys(line.queue for line in lines):
        own = [line for line in lines if line.queue == queue]
        pairs = [(line, besides[line.state, line.beside]) for line in own]
        ratios = [line.worst_us / beside.worst_us for line, beside in pairs]
        medians = [line.median_us / beside.median_us for line, beside in pairs]
        each = [
            f"{digits(line.worst_us / 1e3)}, {digits(ratio)}"
            for line, ratio in zip(own, ratios, strict=True)
        ]
        allowed = own[0].worst_ratio
        said = verdict(max(ratios), allowed, allowed) if allowed else ""
        rows.append([queue, *each, digits(max(medians)), said])
    head = ["send, worst in ms, ratio", *states, "ratio of median, most", "goal"]
    tries = f"{len(lines[0].tries_us):,} tries of each"
    return f"{tries}\n\n{drawn(head, rows, 1)}"


def table(results: Sequence[Result], hz: int) -> str:
    part = results[0].row.part
    unit = UNITS.get(part, "us")
    lines = by_state(lines_of(results, hz))
    besides = {(line.state, line.queue): line for line in lines}
    if part == "send":
        return matrix(lines, besides)
    head = [part, "queue", "tries", f"worst, {unit}", f"median, {unit}"]
    head += ["ratio of worst", "of median", "goal"]
    size = MICROSECONDS[unit]
    rows = [cells(line, besides.get((line.state, line.beside)), size) for line in lines]
    return drawn(head, rows, 2)
