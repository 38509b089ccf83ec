# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A scenario. Each key means the same in TOML, in Python and in the schema.

A scenario is a directed graph of nodes and links, with a queue and a shaper at the sending end of
each link. Flows follow paths. The queues named in `record` are measured over windows of time.

The way of a key through the files, in reading order:

toml      reads text as data, and gives each mistake a sentence with its line
model     makes a Scenario of it, whose parts are in base, times, links, cables, hosts, apps,
          transport, traffic, shorthand, networks and record
checks    finds parts that do not fit together, with checks_shorthand and checks_engine
expand    writes a shorthand out as a graph, with lay and pairs
engine    turns a graph into the data that the engine, or another host, reads

The files of its parts do not know a Scenario. The steps after `model` import its parts, and name
the class only as a type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from sojourn.core.units import Duration
from sojourn.scenario import cables
from sojourn.scenario.base import Model, Name
from sojourn.scenario.hosts import LinuxHost
from sojourn.scenario.links import Cable, Link
from sojourn.scenario.networks import Dumbbell, ParkingLot, Shorthand
from sojourn.scenario.record import Record
from sojourn.scenario.traffic import Flow

# The format of a file. In format 1 the keys of one host were among the others.
FORMAT: Literal[2] = 2

_IN_PLACE = "in place of nodes, links and flows"


class Scenario(Model):
    """A network, its traffic, and its recording."""

    format: Literal[2] = Field(FORMAT, description="of the file")
    name: Name = Field(description="in tables and files")
    description: str = Field("", description="for people")
    duration: Duration = Field(description="length of the run")
    nodes: tuple[Name, ...] = Field((), description="names")
    one_host: bool = Field(False, description="one kernel counts the jiffies of all nodes")
    linux: LinuxHost = Field(
        LinuxHost(), description="what only Linux has; the simulator takes no notice"
    )
    links: tuple[Link, ...] = Field((), description="in one direction each")
    cables: tuple[Cable, ...] = Field((), description="laid as two links each where they are read")
    flows: tuple[Flow, ...] = Field((), description="the traffic")
    record: Record = Field(Record(), description="what is measured")
    dumbbell: Dumbbell | None = Field(None, description=_IN_PLACE)
    parking_lot: ParkingLot | None = Field(None, description=_IN_PLACE)

    @model_validator(mode="before")
    @classmethod
    def _lay(cls, data: object) -> object:
        return cables.lay(data) if isinstance(data, dict) else data

    @model_validator(mode="after")
    def _check(self) -> Self:
        from sojourn.scenario.checks import problems

        found = problems(self)
        if found:
            said = "; ".join(reason for _, reason in found)
            raise PydanticCustomError("graph", "{reason}", {"reason": said, "problems": found})
        return self

    @property
    def shorthand(self) -> Shorthand | None:
        """Return the first network that is written as a shorthand."""
        return self.dumbbell or self.parking_lot

    def expand(self) -> Scenario:
        """Write the scenario out as a graph, with every default of the recording filled in."""
        from sojourn.scenario.expand import expand

        return expand(self)

    def to_engine(self, host: str = "sim") -> dict[str, Any]:
        """Convert it to the form that the engine, or another host, reads: the graph in base
        units."""
        from sojourn.scenario.engine import to_engine

        return to_engine(self.expand(), host)

    def to_toml(self) -> str:
        """Write TOML that reads back to an equal scenario."""
        from sojourn.scenario.writer import dumps

        return dumps(self.to_data())

    def to_data(self) -> dict[str, Any]:
        """Return the data of its TOML file, without defaults."""
        data = self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        return {"format": self.format, **data}

    def replace(self, change: Callable[[dict[str, Any]], None]) -> Scenario:
        """Return a changed copy: `change` edits the data that a TOML file would hold."""
        data = self.to_data()
        change(data)
        return Scenario.model_validate(data)
