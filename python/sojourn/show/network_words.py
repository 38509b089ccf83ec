# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The words of a network's picture: rates and delays of links, queues, stages, classes, traffic.

They are made from a scenario in the engine's form, in which all numbers are in base units.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sojourn import algorithms
from sojourn.core.errors import InputError
from sojourn.core.rows import Row
from sojourn.core.units import Duration, Rate, Size
from sojourn.scenario.flows import KINDS, write_number
from sojourn.scenario.parts import write_dscp
from sojourn.show.network_fold import LEAST, number_of, renumbered, runs, starred

# A fifo with so large a limit never drops.
_NEVER_FULL = 1_000_000
# Rows of a queue, or keys of traffic, that are written; the scenario's file has all.
_MOST_ROWS = 3
# The default of DRR's classes: a full frame.
_QUANTUM_BYTES = 1514


@dataclass(frozen=True)
class Line:
    """A line of a box: a queue or a class, `depth` steps below the root of its tree."""

    text: str
    depth: int = 0
    is_measured: bool = False
    # What a class takes, beside its rate and queue.
    is_note: bool = False


@dataclass(frozen=True)
class Box:
    """A queue, or a stage with its classes, at the begin of a link."""

    title: str
    lines: tuple[Line, ...] = ()
    is_measured: bool = False


@dataclass(frozen=True)
class Queues:
    """What is known of all queues: names of the measured ones, and the algorithms that take turns
    in those under test. Both are by full names, such as `up 1/af`."""

    measured: frozenset[str]
    tested: Mapping[str, str]

    def map(self, change: Callable[[str], str]) -> Queues:
        """Return the same with changed names."""
        return Queues(
            frozenset(map(change, self.measured)),
            {change(name): words for name, words in self.tested.items()},
        )

    def words(self, name: str, queue: Mapping[str, Any] | str) -> str:
        """Name the algorithm with the first of its given rows."""
        return self.tested.get(name) or queue_words(queue)


def queue_words(queue: Mapping[str, Any] | str) -> str:
    """Write an algorithm with its rows as people write them."""
    rows: dict[str, Any] = {"algorithm": queue} if isinstance(queue, str) else dict(queue)
    name = str(rows.pop("algorithm", "fifo"))
    if rows.get("limit", 0) >= _NEVER_FULL:
        del rows["limit"]
    try:
        known, shown = algorithms.rows_of(name), algorithms.shown_names([name])[name]
    except InputError:
        # A C file of a finished result may be gone.
        return name
    words = [_row(known[key], value) for key, value in rows.items() if key in known]
    return ", ".join([shown, *_first(words)])


def _row(row: Row, value: Any) -> str:
    text = row.write(value)
    return row.name if text is True else f"{row.name} {str(text).lower()}"


def _first(words: Sequence[str]) -> list[str]:
    more = ["…"] if len(words) > _MOST_ROWS else []
    return [*words[:_MOST_ROWS], *more]


def wire_words(link: Mapping[str, Any], delays: Sequence[int] = ()) -> str:
    """Write rate, delay and losses of a link. `delays` has those of all links that are drawn as
    one."""
    delays = delays or [link["delay"]]
    words = [rate_words(link)] if link.get("rate") is not None else []
    least, most = min(delays), max(delays)
    if most:
        words.append(str(Duration(most)) if least == most else _range(Duration, least, most))
    if later := [step["delay"] for step in link.get("delays") or ()]:
        words.append(f"later {_range(Duration, min(later), max(later))}")
    if jitter := link.get("jitter"):
        words.append(f"± {Duration(jitter['sd'])} {jitter['distribution']}")
    if link.get("loss"):
        words.append(f"{100 * link['loss']:g} % lost")
    return ", ".join(words)


def _range(unit: Any, least: int, most: int) -> str:
    """Write a span; the unit once where both have the same."""
    number, _, first = str(unit(least)).partition(" ")
    if least == most:
        return str(unit(least))
    last = str(unit(most))
    return f"{number} to {last}" if last.endswith(f" {first}") else f"{number} {first} to {last}"


def rate_words(table: Mapping[str, Any]) -> str:
    """Write a rate, and the span of those that come later."""
    if table.get("traced") or table.get("trace"):
        digits = 10 ** max(len(str(table["rate"])) - 3, 0)
        mean = Rate(table["rate"] // digits * digits)
        return f"a trace, {mean} in the mean"
    later = [step["rate"] for step in table.get("schedule") or () if step.get("rate") is not None]
    rate = str(Rate(table["rate"]))
    return f"{rate}, later {_range(Rate, min(later), max(later))}" if later else rate


def boxes(link: Mapping[str, Any], queues: Queues) -> tuple[Box, ...]:
    """Describe what is at the begin of a link, from top to bottom; a link without a rate has
    nothing there."""
    name = link["name"]
    if not (stages := link.get("end")):
        return tuple(_plain(link, name, queues))
    several = sum(stage["kind"] != "ring" for stage in stages) > 1
    made = []
    for stage in stages:
        own = f"{name}/{stage['name']}"
        if stage["kind"] == "queue":
            made.append(_queue_stage(stage, own if several else name, queues))
        elif stage["kind"] == "ring":
            made.append(Box(_ring(stage), (), not queues.measured.isdisjoint((own, name))))
        else:
            title = f"{stage['name']}: {stage['kind']}"
            lines = _discipline(stage, own if several else name, queues, 0)
            made.append(Box(title, tuple(lines)))
    return tuple(made)


def _plain(link: Mapping[str, Any], name: str, queues: Queues) -> Iterator[Box]:
    is_measured = name in queues.measured
    if link.get("rate") is None and not is_measured:
        return
    words = queues.words(name, link["queue"])
    shaper = link.get("shaper", "wire")
    yield Box(words if shaper == "wire" else f"{words}; {shaper}", (), is_measured)
    if ring := (link.get("sim") or {}).get("ring"):
        yield Box(f"ring of {ring} packets")


def _queue_stage(stage: Mapping[str, Any], name: str, queues: Queues) -> Box:
    words = f"{stage['name']}: {queues.words(name, stage['queue'])}"
    if stage.get("rate") is not None:
        words += f", {rate_words(stage)}"
    if (medium := stage.get("medium")) is not None:
        words += f", turns on {medium}"
    if (shaper := stage.get("shaper") or "wire") != "wire":
        words += f", {shaper}"
    return Box(words, (), name in queues.measured)


def _ring(stage: Mapping[str, Any]) -> str:
    bql = stage.get("bql") or False
    limit = {False: "", True: ", BQL"}.get(bql) if isinstance(bql, bool) else f", BQL {Size(bql)}"
    return f"{stage['name']}: ring of {stage['packets']}{limit}, {Rate(stage['rate'])}"


def _discipline(stage: Mapping[str, Any], name: str, queues: Queues, depth: int) -> Iterator[Line]:
    """List the classes or bands of a stage, those of HTB below their parents."""
    entries = stage["bands"] if stage["kind"] == "prio" else stage["classes"]
    below: dict[str | None, list[Mapping[str, Any]]] = {}
    for entry in entries:
        below.setdefault(entry.get("parent"), []).append(entry)

    def lines(parent: str | None, depth: int) -> Iterator[Line]:
        for entry, own in _alike(below.get(parent, ()), below, name, queues):
            yield from _class(stage, entry, f"{name}/{entry['name']}", own, depth)
            if inner := entry.get("inner"):
                yield from _discipline(inner, name, queues, depth + 1)
            yield from lines(entry["name"], depth + 1)

    yield from lines(None, depth)


def _alike(
    entries: Sequence[Mapping[str, Any]],
    below: Mapping[str | None, Sequence[Any]],
    name: str,
    queues: Queues,
) -> Iterator[tuple[Mapping[str, Any], Queues]]:
    """Join leaves that differ by the number in their names alone."""
    groups: dict[str, dict[str, Mapping[str, Any]]] = {}
    for entry in entries:
        number = number_of(entry["name"])
        is_leaf = entry["name"] not in below and not entry.get("inner")
        is_measured = f"{name}/{entry['name']}" in queues.measured
        key = json.dumps([is_measured, starred(entry, number if is_leaf else "")], sort_keys=True)
        groups.setdefault(key, {})[number or entry["name"]] = entry
    for by_number in groups.values():
        first = next(iter(by_number))
        if len(by_number) < LEAST:
            yield from ((entry, queues) for entry in by_number.values())
            continue
        number = runs(by_number)
        joined = renumbered(by_number[first], first, number)
        joined["name"] += f" (×{len(by_number)})"
        new_names = {f"{name}/{by_number[first]['name']}": f"{name}/{joined['name']}"}
        yield joined, queues.map(partial(_renamed, new_names))


def _renamed(new_names: Mapping[str, str], name: str) -> str:
    return new_names.get(name, name)


def _class(
    stage: Mapping[str, Any], entry: Mapping[str, Any], name: str, queues: Queues, depth: int
) -> Iterator[Line]:
    words = [entry["name"]]
    if stage["kind"] == "htb":
        ceil = entry.get("ceil") or entry["rate"]
        words.append(_range(Rate, entry["rate"], ceil))
        later = [step["rate"] for step in entry.get("schedule") or ()]
        words += [f"later {_range(Rate, min(later), max(later))}"] if later else []
        words += [f"prio {entry['prio']}"] if entry.get("prio") else []
    elif stage["kind"] == "drr":
        words.append(f"quantum {Size(entry.get('quantum') or _QUANTUM_BYTES)}")
    if inner := entry.get("inner"):
        words.append(inner["kind"])
    elif entry.get("queue") is not None:
        words.append(queues.words(name, entry["queue"]))
    yield Line(", ".join(words), depth, name in queues.measured)
    takes = [_match(match) for match in entry.get("match") or ()]
    takes += ["all else"] if stage.get("default") == entry["name"] else []
    if takes:
        yield Line(f"takes {', or '.join(takes)}", depth, is_note=True)


def _match(entry: Mapping[str, Any]) -> str:
    words = []
    for key, value in entry.items():
        values = value if isinstance(value, list | tuple) else [value]
        if not values:
            continue
        texts = [str(write_dscp(v)) if key == "dscp" else str(v) for v in values]
        words.append(f"{'flows ' if key == 'flows' else f'{key} '}{', '.join(texts)}")
    return " and ".join(words)


def with_media(link: Mapping[str, Any], media: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the link with words for the media of its stages in place of their names."""
    words = {
        medium["name"]: f"{medium['name']}, {Rate(medium['rate'])} in cycles of "
        f"{Duration(medium['cycle'])}"
        for medium in media
    }
    stages = [
        {**stage, "medium": words[stage["medium"]]} if stage.get("medium") else stage
        for stage in link.get("end") or ()
    ]
    return {**link, "end": stages} if stages else link


def flow_words(flow: Mapping[str, Any]) -> str:
    """Describe the traffic of a group: kind, transport, round trip, times."""
    words = [_app(flow["app"]), _transport(flow["transport"])]
    if flow.get("dscp"):
        words.append(str(write_dscp(flow["dscp"])))
    if isinstance(flow.get("rtt"), int):
        words.append(f"round trip {Duration(flow['rtt'])}")
    elif flow.get("rtt"):
        words.append("round trips of their own")
    start, stop = flow.get("start") or 0, flow.get("stop")
    begin = f"from {Duration(start)}" if isinstance(start, int) and start else ""
    end = "" if stop is None else f"to {Duration(stop)}"
    if begin or end:
        words.append(f"{begin} {end or 'on'}".strip())
    return ", ".join(words)


def _app(app: Mapping[str, Any]) -> str:
    kind = app["kind"]
    words: list[str] = []
    for key in KINDS[kind].table["keys"]:
        value = app.get(key["name"])
        if value is None or value == key["default"] or key["unit"] == "text":
            continue
        text = write_number(key, value)
        is_plain = not words and key["name"] in ("size", "rate")
        words.append(text if is_plain else f"{key['name'].replace('_', ' ')} {text}")
    return f"{kind} {', '.join(_first(words))}".strip()


def _transport(transport: Mapping[str, Any]) -> str:
    kind = str(transport["kind"]).upper()
    words = [kind, str(transport["cc"])] if transport.get("cc") else [kind]
    return " ".join(words) + (" with ECN" if transport.get("ecn") is True else "")
