# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Rules of a link's stages that need no route. The engine has those of packets on their ways."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sojourn.core.errors import nearest
from sojourn.scenario.ends import (
    MOST_BANDS,
    MOST_CLASSES,
    MOST_INNER,
    MOST_LEVELS,
    MOST_STAGES,
    Band,
    Drr,
    DrrClass,
    HtbClass,
    InnerDrr,
    InnerHtb,
    InnerPrio,
    Prio,
    QueueStage,
    Ring,
    classes,
    disciplines,
    named,
    of,
)
from sojourn.scenario.links import OF_ONE_QUEUE
from sojourn.scenario.parts import Path, Problem

if TYPE_CHECKING:
    from sojourn.scenario.ends import Match, Stage
    from sojourn.scenario.links import Link
    from sojourn.scenario.model import Scenario

_Class = HtbClass | Band | DrrClass
_Discipline = InnerHtb | InnerPrio | InnerDrr


def end_problems(link: Link, place: Path) -> Iterator[Problem]:
    """Yield the problems of a link's stages."""
    if "end" not in link.model_fields_set:
        return
    for key in OF_ONE_QUEUE:
        if key in link.model_fields_set:
            yield (*place, key), "a link with `end` has this in its stages: leave it out here"
    end = link.end
    place = (*place, "end")
    if not end:
        yield place, "no stages: list at least one, or leave this out"
    if len(end) > MOST_STAGES:
        yield place, f"{len(end)} stages; allowed: up to {MOST_STAGES}"
    count = sum(1 for stage in end for _ in classes(stage))
    if count > MOST_CLASSES:
        yield place, f"{count} classes; allowed: up to {MOST_CLASSES} at an end"
        return
    yield from _twice([((*place, i), stage.name) for i, stage in enumerate(end)], "stages")
    for i, stage in enumerate(end):
        yield from _order(end, i, (*place, i))
        if isinstance(stage, QueueStage):
            yield from _schedule(stage, (*place, i))
        if isinstance(stage, Ring) and stage.bql is not False and not stage.bql:
            reason = "a limit of no bytes: write false for none, or true for one that adapts"
            yield (*place, i, "bql"), reason
        names = [((*place, i, *path), entry.name) for path, entry in classes(stage)]
        yield from _twice(names, f"classes of '{stage.name}'")
        for path, discipline in disciplines(stage):
            yield from _discipline(discipline, (*place, i, *path))


def _twice(names: Sequence[tuple[Path, str]], of_what: str) -> Iterator[Problem]:
    seen: set[str] = set()
    for path, name in names:
        if name in seen:
            yield (*path, "name"), f"two {of_what} are called '{name}': rename one"
        seen.add(name)


def _order(end: Sequence[Stage], i: int, place: Path) -> Iterator[Problem]:
    """Yield problems of a stage among its neighbours."""
    stage, below = end[i], end[i + 1] if i + 1 < len(end) else None
    if isinstance(stage, Ring):
        if i == 0:
            yield place, "a ring takes packets from the stage above: put one before it"
        elif below is not None:
            yield place, "a ring is at the wire: make it the last stage"
    elif isinstance(stage, Prio | Drr) and not isinstance(below, Ring):
        yield place, f"'{stage.kind}' has no pace of its own: put a ring directly below it"
    elif isinstance(stage, QueueStage):
        if stage.medium is not None:
            if stage.rate is not None:
                yield (*place, "rate"), "the medium sets the pace: leave this out"
            if isinstance(below, Ring):
                yield (*place, "medium"), "the ring below sets the pace: leave this out"
        elif stage.rate is None and not isinstance(below, Ring):
            reason = "is missing: give a rate or a medium, or put a ring directly below"
            yield (*place, "rate"), reason
        elif stage.rate is not None and isinstance(below, Ring):
            reason = "the ring below has the rate: leave this out, or use 'htb' to shape above it"
            yield (*place, "rate"), reason
        for key in ("schedule", "shaper", "burst"):
            if stage.rate is None and key in stage.model_fields_set:
                yield (*place, key), "goes with a rate: leave this out"


def _schedule(table: QueueStage | HtbClass, place: Path) -> Iterator[Problem]:
    last = -1
    for i, step in enumerate(table.schedule):
        if step.at <= last:
            reason = f"{step.at} is not later than the step before: put the steps in order"
            yield (*place, "schedule", i, "at"), reason
        last = step.at


def _discipline(discipline: _Discipline, place: Path) -> Iterator[Problem]:
    key = "bands" if isinstance(discipline, InnerPrio) else "classes"
    entries: Sequence[_Class] = getattr(discipline, key)
    if not entries:
        yield (*place, key), f"no {key}: list at least one"
    if isinstance(discipline, InnerPrio) and len(entries) > MOST_BANDS:
        yield (*place, key), f"{len(entries)} bands; allowed: up to {MOST_BANDS}"
    if place.count("inner") == MOST_INNER + 1:
        yield place, f"a discipline inside more than {MOST_INNER} others: leave the last out"
    parents = set()
    if isinstance(discipline, InnerHtb):
        parents = {e.parent for e in discipline.classes if e.parent not in (None, e.name)}
        yield from _parents(discipline.classes, (*place, key))
    leaves = [entry.name for entry in entries if entry.name not in parents]
    default = discipline.default
    if default in parents and any(entry.name == default for entry in entries):
        reason = f"'{default}' has children, and holds no packets.{nearest(default, leaves)}"
        yield (*place, "default"), reason
    elif default is not None and default not in leaves:
        yield (*place, "default"), f"there is no class '{default}'.{nearest(default, leaves)}"
    for i, entry in enumerate(entries):
        at = (*place, key, i)
        if isinstance(entry, HtbClass):
            yield from _rates(entry, at)
        if isinstance(entry, HtbClass | DrrClass) and entry.quantum == 0:
            yield (*at, "quantum"), "a turn of no bytes never sends: give at least 1 B"
        if entry.name in parents:
            for own in ("match", "queue", "inner", "responder", "tested"):
                if own in entry.model_fields_set:
                    reason = f"'{entry.name}' has children, and holds no packets: leave this out"
                    yield (*at, own), reason
        else:
            yield from _leaf(entry, at, is_default=entry.name == default)


def _parents(entries: Sequence[HtbClass], place: Path) -> Iterator[Problem]:
    """Yield unknown parents, circles, and classes that are too deep."""
    parents = {entry.name: entry.parent for entry in entries}
    levels: dict[str, int] = {}
    reported: set[str] = set()
    too_deep = False
    for i, entry in enumerate(entries):
        if entry.parent is not None and entry.parent not in parents:
            others = [name for name in parents if name != entry.name]
            reason = f"there is no class '{entry.parent}'.{nearest(entry.parent, others)}"
            yield (*place, i, "parent"), reason
        way: list[str] = []
        name: str | None = entry.name
        while name in parents and name not in levels and name not in way:
            way.append(name)
            name = parents[name]
        if name in way:
            circle = way[way.index(name) :]
            if reported.isdisjoint(circle):
                names = " in ".join(f"'{member}'" for member in (*circle, name))
                yield (*place, i, "parent"), f"a circle: {names}: leave one parent out"
            reported |= {*circle}
            levels |= dict.fromkeys(way, 0)
            continue
        depth = levels.get(name or "", 0)
        for member in reversed(way):
            depth += 1
            levels[member] = depth
        if depth > MOST_LEVELS and not too_deep:
            too_deep = True
            reason = f"{depth} classes below each other; allowed: up to {MOST_LEVELS}"
            yield (*place, i, "parent"), reason


def _rates(entry: HtbClass, place: Path) -> Iterator[Problem]:
    yield from _schedule(entry, place)
    for key in ("burst", "cburst"):
        if getattr(entry, key) == 0:
            yield (*place, key), "tc takes no bytes for its own default: give at least 1 B"
    filled = entry.filled()
    assert filled.ceil is not None
    if filled.ceil < entry.rate:
        yield (*place, "ceil"), f"{filled.ceil} is below the rate, {entry.rate}: raise it"
    for i, step in enumerate(filled.schedule):
        if step.ceil is not None and step.ceil < step.rate:
            reason = f"the ceiling, {step.ceil}, is below the rate, {step.rate}: give a `ceil` too"
            yield (*place, "schedule", i), reason


def _leaf(entry: _Class, place: Path, *, is_default: bool) -> Iterator[Problem]:
    if entry.queue is None and entry.inner is None:
        yield place, f"'{entry.name}' has no children: give it a `queue` or an `inner`"
    if entry.queue is not None and entry.inner is not None:
        yield (*place, "inner"), "a class has a `queue` or an `inner`: leave one out"
    elif entry.inner is not None:
        for key in ("responder", "tested"):
            if key in entry.model_fields_set:
                yield (*place, key), "goes with a `queue`: give it to a class inside"
    if not entry.match and not is_default:
        reason = f"no packet comes to '{entry.name}': give it a `match`, or make it the `default`"
        yield place, reason
    for i, match in enumerate(entry.match):
        given = match.model_fields_set
        if not given:
            yield (*place, "match", i), "fits no packet: give it a key, such as dscp or flows"
        for name in given:
            if not getattr(match, name):
                key = "from" if name == "from_" else name
                yield (*place, "match", i, key), "an empty list fits no packet: leave it out"


def names_problems(scenario: Scenario) -> Iterator[Problem]:
    """Yield names in and of stages that mean nothing, or two things."""
    if not any(link.end for link in scenario.links):
        return
    nodes = dict.fromkeys(scenario.nodes)
    groups = dict.fromkeys(flow.name for flow in scenario.flows)
    for number, link in enumerate(scenario.links):
        for i, stage in enumerate(link.end):
            place: Path = ("links", number, "end", i)
            tables = [((), stage), *classes(stage)]
            for path, table in tables:
                if (name := of(table, "responder")) is not None and name not in nodes:
                    reason = f"there is no node '{name}'.{nearest(name, nodes)}"
                    yield (*place, *path, "responder"), reason
                for m, match in enumerate(of(table, "match") or ()):
                    yield from _unknown(match, (*place, *path, "match", m), nodes, groups)
    yield from _full_names(scenario)


def _unknown(
    match: Match, place: Path, nodes: dict[str, None], groups: dict[str, None]
) -> Iterator[Problem]:
    wanted = (
        *(("flows", name, "group of flows", groups) for name in match.flows),
        *(("from", name, "node", nodes) for name in match.from_),
        *(("to", name, "node", nodes) for name in match.to),
        *(("via", name, "node", nodes) for name in match.via),
    )
    for key, name, what, known in wanted:
        if name not in known:
            yield (*place, key), f"there is no {what} '{name}'.{nearest(name, known)}"


def _full_names(scenario: Scenario) -> Iterator[Problem]:
    """Yield names of two things in results, and recorded names of nothing."""
    links = [link.name for link in scenario.links]
    places: list[tuple[Path, str]] = [
        (("links", i, *path, "name"), name)
        for i, link in enumerate(scenario.links)
        for name, path, _ in named(link)
        if name != link.name
    ]
    counts = Counter([*links, *(name for _, name in places)])
    for path, name in places:
        if counts[name] > 1:
            yield path, f"results would have two '{name}': rename one"
    known = {link.name for link in scenario.links if link.takes_time} | {name for _, name in places}
    for i, name in enumerate(scenario.record.queues):
        if name not in known:
            reason = f"there is no link, stage or class '{name}'.{nearest(name, sorted(known))}"
            yield ("record", "queues", i), reason
