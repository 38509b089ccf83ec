# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The end of a link as stages: trees of queues above each other, and a driver's ring at the wire.

A link has one queue and a shaper, or `end`: stages from top to bottom. Walks over them take models,
the data of a file, and that of the engine alike. `end_checks` has the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    PlainSerializer,
    StrictBool,
    Tag,
)

from sojourn.core.errors import written
from sojourn.core.units import Rate, Size
from sojourn.scenario.parts import Dscp, Kind, Model, Name, Path, refusal, write_dscp
from sojourn.scenario.queues import (
    MOST_BURST,
    TESTED_HELP,
    BurstKey,
    Queue,
    ShaperKey,
    Step,
    up_to,
)

MOST_STAGES, MOST_CLASSES, MOST_LEVELS, MOST_BANDS, MOST_INNER = 8, 4096, 8, 16, 8
# Kinds of stages that have classes.
DISCIPLINES = ("htb", "prio", "drr")
KINDS = ("queue", *DISCIPLINES, "ring")
# Linux's quantum of a class without one: bytes of a tenth of a second, in these bounds.
_R2Q, _LEAST_QUANTUM, _MOST_QUANTUM = 10, 1_000, 200_000


def _listed(value: object) -> object:
    return value if isinstance(value, list | tuple) else (value,)


def _one_or_list(values: tuple[Any, ...]) -> Any:
    return values[0] if len(values) == 1 else list(values)


def _dscps(values: tuple[int, ...]) -> Any:
    return _one_or_list(tuple(map(write_dscp, values)))


_ONE_OR_LIST = PlainSerializer(_one_or_list, when_used="json")
_Names = Annotated[
    tuple[Name, ...],
    BeforeValidator(_listed, json_schema_input_type=Name | list[Name]),
    _ONE_OR_LIST,
]
_Dscps = Annotated[
    tuple[Dscp, ...],
    BeforeValidator(_listed, json_schema_input_type=Dscp | list[Dscp]),
    PlainSerializer(_dscps, when_used="json"),
]
_Transport = Literal["tcp", "udp", "probe"]
_Transports = Annotated[
    tuple[_Transport, ...],
    BeforeValidator(_listed, json_schema_input_type=_Transport | list[_Transport]),
    _ONE_OR_LIST,
]


class Match(Model):
    """A packet fits if it fits every key that is given, by one of the key's values."""

    dscp: _Dscps = Field((), description="marks of the packet: names such as 'ef', or numbers")
    flows: _Names = Field((), description="groups of its flow, which a probe has not")
    from_: _Names = Field((), alias="from", description="nodes that sent it")
    to: _Names = Field((), description="nodes that it goes to")
    via: _Names = Field((), description="nodes on its way, before or behind, both ends included")
    transport: _Transports = Field((), description="what it is a packet of")


_MATCH = "packets that it takes: those that fit one entry of the list, unless a class before does"
_DEFAULT = "takes what no class takes; needed if there may be such packets"
_RESPONDER = "node that answers probes of its queue; unless given, the far end of the link"


class _Leaf(Model):
    """Keys of a class that holds packets."""

    match: tuple[Match, ...] = Field((), description=_MATCH)
    queue: Queue | None = Field(None, description="where its packets wait")
    inner: Inner | None = Field(None, description="a discipline inside, in place of `queue`")
    responder: Name | None = Field(None, description=_RESPONDER)
    tested: StrictBool = Field(False, description=TESTED_HELP)


class _Named(Model):
    """A name."""

    name: Name = Field(description="unique in the end, or among the classes of a stage")


class ClassStep(Step):
    """From `at` on, the class has this rate."""

    ceil: Rate | None = Field(
        None,
        description="from then on; unless given, as before, or `rate` if the class has no `ceil`",
    )


_Bytes = Annotated[Size, up_to(MOST_BURST)]


class HtbClass(_Leaf, _Named):
    """A class of HTB. One without children is a leaf, and has `queue` or `inner`."""

    parent: Name | None = Field(None, description="class that it borrows from; unless given, none")
    rate: Rate = Field(description="its own, which no parent takes from it")
    ceil: Rate | None = Field(None, description="with what it borrows; unless given, `rate`")
    burst: _Bytes = Field(Size(1600), description="token bucket of `rate`")
    cburst: _Bytes = Field(Size(1600), description="token bucket of `ceil`")
    prio: int = Field(0, strict=True, ge=0, le=7, description="lower numbers borrow first")
    quantum: _Bytes | None = Field(
        None,
        description="bytes of a turn among those that borrow; unless given, those of 0.1 s at "
        "`rate`, 1 kB to 200 kB",
    )
    schedule: tuple[ClassStep, ...] = Field((), description="later rates")

    def filled(self) -> HtbClass:
        """Fill in every key whose default depends on others."""
        ceil, steps = self.ceil or self.rate, []
        for step in self.schedule:
            if step.ceil is not None or self.ceil is None:
                ceil = step.ceil or step.rate
            steps.append(step.model_copy(update={"ceil": ceil}))
        quantum = min(max(self.rate // 8 // _R2Q, _LEAST_QUANTUM), _MOST_QUANTUM)
        filled = {
            "ceil": self.ceil or self.rate,
            "quantum": Size(quantum) if self.quantum is None else self.quantum,
            "schedule": tuple(steps),
        }
        return self.model_copy(update=filled)


class Band(_Leaf, _Named):
    """A band of `prio`: it sends when no band before it has a packet."""


class DrrClass(_Leaf, _Named):
    """A class of `drr`."""

    quantum: _Bytes = Field(Size(1514), description="bytes of a turn")


class InnerHtb(Kind):
    """HTB inside a class."""

    kind: Literal["htb"] = Field("htb", description="which it is")
    classes: tuple[HtbClass, ...] = Field(description="parents and leaves, in the order of `match`")
    default: Name | None = Field(None, description=f"leaf that {_DEFAULT}; unless given, none")


class InnerPrio(Kind):
    """Bands inside a class."""

    kind: Literal["prio"] = Field("prio", description="which it is")
    bands: tuple[Band, ...] = Field(description=f"the first is served first; up to {MOST_BANDS}")
    default: Name | None = Field(None, description=f"band that {_DEFAULT}; unless given, none")


class InnerDrr(Kind):
    """Classes in turn inside a class."""

    kind: Literal["drr"] = Field("drr", description="which it is")
    classes: tuple[DrrClass, ...] = Field(description="served in turn")
    default: Name | None = Field(None, description=f"class that {_DEFAULT}; unless given, none")


class Htb(InnerHtb, _Named):
    """Classes that keep their rates, and borrow from parents up to their ceilings."""


class Prio(InnerPrio, _Named):
    """Bands in strict order, above a ring."""


class Drr(InnerDrr, _Named):
    """Classes in turn by deficit round robin, above a ring."""


class QueueStage(Kind, _Named):
    """One queue and its shaper."""

    kind: Literal["queue"] = Field("queue", description="which it is")
    rate: Rate | None = Field(None, description="needed without a medium or a ring below")
    medium: Name | None = Field(None, description="one of `media`, which grants it turns")
    schedule: tuple[Step, ...] = Field((), description="later rates")
    shaper: ShaperKey = "wire"
    burst: BurstKey = Size("3028 B")
    queue: Queue = Field(description="where its packets wait")
    responder: Name | None = Field(None, description=_RESPONDER)
    tested: StrictBool = Field(False, description=TESTED_HELP)


def _read_bql(value: object) -> object:
    if isinstance(value, str) and any(map(str.isdigit, value)):
        value = Size(value)
    if isinstance(value, bool | Size):
        return value
    allowed = "neither true, a limit that adapts, nor false, nor a size such as '9 kB'"
    raise refusal(f"{written(value)} is {allowed}")


class Ring(Kind, _Named):
    """The driver's ring at the wire. It takes packets from the stage above while it has room."""

    kind: Literal["ring"] = Field("ring", description="which it is")
    packets: int = Field(
        strict=True, ge=0, le=65536, description="that wait in it, beside the one on the line"
    )
    bql: Annotated[
        StrictBool | Size,
        up_to(MOST_BURST),
        BeforeValidator(_read_bql, json_schema_input_type=bool | Size),
    ] = Field(
        False, description="Linux's limit of bytes in the ring: true adapts it, a size fixes it"
    )
    rate: Rate = Field(description="of the wire")


def _kind(value: object) -> str | None:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return f"<{kind}>" if isinstance(kind, str) else None


def tags() -> Iterator[str]:
    """Yield the tags of kinds; `queue` alone is a key too."""
    yield from (f"<{kind}>" for kind in KINDS)


def _one_of(kinds: Sequence[str]) -> Discriminator:
    names = ", ".join(f"'{kind}'" for kind in kinds)
    return Discriminator(
        _kind,
        custom_error_type="refusal",
        custom_error_message=f"write a table whose kind is one of {names}",
    )


Inner = Annotated[
    Annotated[InnerHtb, Tag("<htb>")]
    | Annotated[InnerPrio, Tag("<prio>")]
    | Annotated[InnerDrr, Tag("<drr>")],
    _one_of(DISCIPLINES),
]
Stage = Annotated[
    Annotated[QueueStage, Tag("<queue>")]
    | Annotated[Htb, Tag("<htb>")]
    | Annotated[Prio, Tag("<prio>")]
    | Annotated[Drr, Tag("<drr>")]
    | Annotated[Ring, Tag("<ring>")],
    _one_of(KINDS),
]
EndKey = Annotated[
    tuple[Stage, ...],
    Field(description="stages from top to bottom, in place of `rate`, `queue` and their like"),
]
for _model in (HtbClass, Band, DrrClass, Htb, Prio, Drr, InnerHtb, InnerPrio, InnerDrr):
    _model.model_rebuild()


# Walks over links, stages and classes; each may be a model, or a table of data.
Table = Any


def of(table: Table, key: str) -> Any:
    """Return a value of a model, or of a table of data; None if there is none."""
    return table.get(key) if isinstance(table, Mapping) else getattr(table, key, None)


def _tables(value: object) -> Iterator[tuple[int, Table]]:
    if isinstance(value, list | tuple):
        yield from ((i, v) for i, v in enumerate(value) if isinstance(v, Mapping | Model))


def stages(link: Table) -> list[Table]:
    """List the stages of a link."""
    return [stage for _, stage in _tables(of(link, "end"))]


def classes(stage: Table) -> Iterator[tuple[Path, Table]]:
    """Yield every class and band with its path, and behind it those inside."""
    for key in ("classes", "bands"):
        for i, entry in _tables(of(stage, key)):
            yield (key, i), entry
            for path, inner in classes(of(entry, "inner") or {}):
                yield (key, i, "inner", *path), inner


def disciplines(stage: Table) -> Iterator[tuple[Path, Table]]:
    """Yield a stage with classes, and the disciplines inside, each with its path."""
    if of(stage, "kind") in DISCIPLINES:
        yield (), stage
        for path, entry in classes(stage):
            if inner := of(entry, "inner"):
                yield (*path, "inner"), inner


def named(link: Table) -> Iterator[tuple[str, Path, Table]]:
    """Yield what has rows in the results of a link with stages: name, path in the link, table."""
    tables = stages(link)
    several = sum(of(stage, "kind") != "ring" for stage in tables) > 1
    for i, stage in enumerate(tables):
        kind, full = of(stage, "kind"), f"{of(link, 'name')}/{of(stage, 'name')}"
        if kind == "ring":
            yield full, ("end", i), stage
            continue
        above = full if several else str(of(link, "name"))
        if kind == "queue":
            yield above, ("end", i), stage
        for path, entry in classes(stage):
            yield f"{above}/{of(entry, 'name')}", ("end", i, *path), entry


def queues(link: Table) -> Iterator[tuple[str, Path, Table]]:
    """Yield the queues of any link: name in results, path in the link, and the table that has the
    key `queue`."""
    if not of(link, "end"):
        yield str(of(link, "name")), (), link
        return
    yield from (entry for entry in named(link) if of(entry[2], "queue") is not None)


def queues_of(links: Sequence[Table]) -> dict[str, Any]:
    """Return the queue of each name in results."""
    return {name: of(table, "queue") for link in links for name, _, table in queues(link)}


def link_of(links: Sequence[Table], name: str) -> Table:
    """Find the link of a name in results."""
    return next(
        link
        for link in links
        if any(name == known for known, _, _ in (*queues(link), *named(link)))
    )


def recorded(links: Sequence[Table], names: Sequence[str]) -> list[str]:
    """List the queues in results of the names in a record. A link's name is that of all its
    queues."""
    by_name: dict[str, list[str]] = {}
    for link in links:
        for name, _, _ in queues(link):
            by_name.setdefault(str(of(link, "name")), []).append(name)
            by_name.setdefault(name, [name])
    return list(dict.fromkeys(queue for name in names for queue in by_name.get(name, ())))


def is_tested(table: Table) -> bool:
    """Tell whether the table of a queue says that this is under test."""
    return of(table, "tested") is True or of(of(table, "queue"), "tested") is True


def queue_rates(link: Table, name: str, media: Sequence[Table] = ()) -> list[tuple[int, int]]:
    """List the rates to which a queue's utilisation refers, each with the time in ns from which it
    holds; empty without one. Those of a leaf of HTB are its ceilings, others have the ring's."""
    holder: Table = link
    for full, path, table in named(link):
        if full == name:
            holder = _paced(link, path) if path[2:] else table
    if (medium := of(holder, "medium")) is not None:
        holder = next(table for table in media if of(table, "name") == medium)
    elif of(holder, "rate") is None and of(link, "end"):
        holder = stages(link)[-1]
    if of(holder, "rate") is None:
        return []
    if isinstance(holder, HtbClass):
        holder = holder.filled()
    key = "rate" if of(holder, "ceil") is None else "ceil"
    steps = [(int(of(step, "at")), int(of(step, key))) for step in of(holder, "schedule") or ()]
    return [(0, int(of(holder, key))), *steps]


def _paced(link: Table, path: Path) -> Table:
    """Find the innermost class with a rate around the class at this path."""
    table, found = link, None
    for key in path:
        table = table[key] if isinstance(key, int) else of(table, key)
        if not isinstance(table, list | tuple) and of(table, "rate") is not None:
            found = table
    return found
