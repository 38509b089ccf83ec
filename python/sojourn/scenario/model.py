# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A scenario. Each key means the same in TOML, in Python and in the schema.

A scenario is a directed graph of nodes and links, with a queue and a shaper at the sending end of
each link. Flows follow paths. The queues named in `record` are measured over windows of time.

The way of a key through the files, in reading order:

toml      reads text as data, and gives each mistake a sentence with its line
model     makes a Scenario of it, whose parts are in parts, links, flows and networks
checks    finds parts that do not fit together
networks  lays a shorthand out as a graph, a file for each
engine    turns a graph into the data that the engine, or another host, reads

The files of its parts do not know a Scenario. The steps after `model` import its parts, and name
the class only as a type.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

from pydantic import Field, StrictBool, model_validator

from sojourn.core.arguments import checked
from sojourn.core.hosts import HZ, Ticks
from sojourn.core.units import Duration
from sojourn.scenario import checks, engine
from sojourn.scenario.flows import Flow
from sojourn.scenario.links import Link
from sojourn.scenario.media import Medium
from sojourn.scenario.networks import NETWORKS, TABLES, Shorthand
from sojourn.scenario.networks.cables import Cable, lay_cables
from sojourn.scenario.networks.dumbbell import Dumbbell
from sojourn.scenario.networks.parking_lot import ParkingLot
from sojourn.scenario.parts import Model, Name, Record, Title, refusal

# The format of a file. In format 1 the keys of one host were among the others.
FORMAT: Literal[2] = 2

_IN_PLACE = "in place of nodes, links and flows"


class LinuxHost(Model):
    """Keys of the whole network that only Linux has."""

    offloads: StrictBool = Field(
        False,
        description="devices take large segments and join packets to such (TSO, GSO, GRO); where "
        "they do not, each packet is one of the wire",
    )
    hz: Ticks = Field(
        HZ,
        description="ticks per second of the kernel, of which its TCP counts time; one of 250 is "
        "built where a scenario first asks for it",
    )


class Scenario(Model):
    """A network, its traffic, and its recording."""

    format: Literal[2] = Field(FORMAT, description="a file needs it; the default is Python's alone")
    name: Title = Field(description="in tables and files")
    description: str = Field("", description="for people")
    duration: Duration = Field(description="length of the run")
    nodes: tuple[Name, ...] = Field((), description="names")
    one_host: bool = Field(False, description="one kernel counts the jiffies of all nodes")
    linux: LinuxHost = Field(
        LinuxHost(), description="what only Linux has; the simulator takes no notice"
    )
    links: tuple[Link, ...] = Field((), description="in one direction each")
    cables: tuple[Cable, ...] = Field((), description="laid as two links each where they are read")
    media: tuple[Medium, ...] = Field((), description="lines that several links share in turn")
    flows: tuple[Flow, ...] = Field((), description="the traffic")
    record: Record = Field(Record(), description="what is measured")
    dumbbell: Dumbbell | None = Field(None, description=_IN_PLACE)
    parking_lot: ParkingLot | None = Field(None, description=_IN_PLACE)

    @model_validator(mode="before")
    @classmethod
    def _lay(cls, data: object) -> object:
        return lay_cables(data) if isinstance(data, dict) else data

    @model_validator(mode="after")
    def _check(self) -> Self:
        if problems := checks.problems(self):
            reasons = "; ".join(reason for _, reason in problems)
            raise refusal(reasons, problems=problems)
        return self

    @property
    def shorthand(self) -> Shorthand | None:
        """Return the first network that is written as a shorthand."""
        return self.dumbbell or self.parking_lot

    def expand(self) -> Scenario:
        """Write the scenario out as a graph, with every default of the recording filled in."""
        return engine.expand(self)

    def to_engine(self, host: str | None = "sim") -> dict[str, Any]:
        """Convert it to the form that the engine, or another host, reads: the graph in base
        units."""
        return engine.to_engine(self.expand(), host)

    def to_toml(self) -> str:
        """Write TOML that reads back to an equal scenario."""
        return write_toml(self.to_data())

    def to_data(self) -> dict[str, Any]:
        """Return the data of its TOML file, without defaults."""
        data = self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        return {"format": self.format, **data}

    @checked
    def replace(self, change: Callable[[dict[str, Any]], None]) -> Scenario:
        """Return a changed copy: `change` edits the data that a TOML file would hold."""
        data = self.to_data()
        change(data)
        return Scenario(**data)


def write_toml(data: Mapping[str, Any]) -> str:
    """Write the data of a scenario as the text of its file."""
    import tomlkit  # slow to import

    document = tomlkit.document()
    for key, value in data.items():
        is_block = isinstance(value, list) or key in ("record", *NETWORKS)
        document[key] = _toml(value, is_block)
    return tomlkit.dumps(document)


# Lists of tables inside a table that are written as blocks.
_BLOCKS = ("windows", "flows", "end", *TABLES)
# Lists of tables that have a line for each.
_LINES = ("classes", "bands")
# Longer lists are written as text, by `_long_list`.
_SHORT = 100


def _toml(value: Any, is_block: bool) -> Any:
    """Write a list of tables as [[name]] blocks; small tables inside them stay on one line."""
    import tomlkit

    if isinstance(value, dict):
        table = tomlkit.table() if is_block else tomlkit.inline_table()
        for key, item in value.items():
            table[key] = _toml(item, is_block and key in _BLOCKS)
            if key in _LINES:
                table[key].multiline(True)
        return table
    if not isinstance(value, list):
        return value
    if len(value) > _SHORT and all(type(item) in (int, str) for item in value):
        return _long_list(value)
    in_blocks = is_block and value and isinstance(value[0], dict)
    array = tomlkit.aot() if in_blocks else tomlkit.array()
    for item in value:
        array.append(_toml(item, is_block))
    return array


def _long_list(value: list[int | str]) -> Any:
    """Write a long list, such as a trace or a list of times with hundreds of thousands of entries.
    An array of tomlkit takes the square of their number in time. Its integer is written as the text
    that was read for it, which may be any text. JSON writes numbers and such texts as TOML does."""
    from tomlkit.items import Integer, Trivia

    return Integer(0, Trivia(), json.dumps(value, ensure_ascii=False))
