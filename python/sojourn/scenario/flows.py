# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Groups of flows: their transport, and the traffic that they send.

Each kind of traffic has a model, made from the engine's table of keys. Names, units, ranges,
defaults and sentences are in that table and nowhere else.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StrictInt,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from sojourn import _native
from sojourn.algorithms import comments
from sojourn.core.errors import InputError, nearest, written
from sojourn.core.units import Duration, Rate, Share, Size
from sojourn.scenario import trace
from sojourn.scenario.links import OF_SIM
from sojourn.scenario.parts import Dscp, Kind, Model, Name, Times, refusal

if TYPE_CHECKING:
    from sojourn._native import TrafficKey, TrafficKind


class Sent(Kind):
    """The traffic that a flow sends."""

    table: ClassVar[TrafficKind]


# Nobody could replay a larger file of connections here.
_MOST_BYTES = 1 << 28


def _read_vectors(value: object) -> object:
    """Return the vectors: the text itself, or that of the file which it names."""
    if not isinstance(value, str) or "\n" in value:
        return value
    try:
        if not value:
            raise ValueError("write the name of a file of vectors, or the vectors")
        return trace.text(Path(value), "file of vectors", _MOST_BYTES)
    except ValueError as error:
        raise refusal(error) from error


Vectors = Annotated[str, BeforeValidator(_read_vectors)]
_QUANTITIES: Mapping[str, Any] = {"time": Duration, "rate": Rate, "size": Size, "share": Share}
# A range that reaches these is the unit's own; descriptions leave it out.
_WIDE = {"time": 86_400 * 10**9, "rate": 10**13, "rates": 10**13, "size": 10**15}


def _field(key: TrafficKey) -> tuple[Any, Any]:
    """Make the type and the default of a field."""
    unit = key["unit"]
    form: Any
    default: Any = key["default"]
    options: dict[str, Any] = {"description": key["help"]}
    if key["most"] < _WIDE.get(unit, 0):
        options["description"] += f" ({range_text(key)})"
    if unit in _QUANTITIES:
        form = _QUANTITIES[unit]
        if default is not None:
            default = form(default if unit == "share" else int(default))
    elif unit == "count":
        form = int
        options |= {"strict": True, "ge": int(key["least"]), "le": int(key["most"])}
        default = None if default is None else int(default)
    elif unit == "rates":
        form = list[Rate]
        options["min_length"] = 1
        default = [Rate(int(rate)) for rate in default]
    elif unit == "number":
        form = float
        options |= {"strict": True, "allow_inf_nan": False, "ge": key["least"], "le": key["most"]}
    elif unit == "words":
        form = Literal[tuple(key["words"])]
    else:
        form = Vectors
    if key["needed"]:
        return form, Field(**options)
    return (form if default is not None else form | None), Field(default, **options)


def write_number(key: TrafficKey, number: float | str | Sequence[float] | None) -> str:
    """Write a number of the base unit as people do, or several."""
    if isinstance(number, Sequence) and not isinstance(number, str):
        return ", ".join(write_number(key, one) for one in number)
    quantity = Rate if key["unit"] == "rates" else _QUANTITIES.get(key["unit"])
    if number is None or isinstance(number, str):
        return "" if number is None else number
    if quantity is None or key["unit"] == "share":
        return f"{number:g}"
    return str(quantity(int(number)))


def range_text(key: TrafficKey) -> str:
    """Describe the range, or list the words that are allowed."""
    if key["unit"] == "text":
        return ""
    if key["words"]:
        return ", ".join(key["words"])
    return f"{write_number(key, key['least'])} to {write_number(key, key['most'])}"


def _model(kind: TrafficKind) -> type[Sent]:
    fields: dict[str, Any] = {
        "kind": (Literal[kind["name"]], Field(kind["name"], description="which it is"))
    } | {key["name"]: _field(key) for key in kind["keys"]}
    # A distribution of times is called Poisson too.
    name = {"onoff": "OnOff", "poisson": "PoissonDatagrams"}.get(kind["name"])
    model = create_model(
        name or kind["name"].capitalize(),
        __base__=Sent,
        __module__="sojourn.scenario",  # which has it under its name: pickle looks it up there
        __doc__=kind["help"],
        **fields,
    )
    model.table = kind
    return model


KINDS: Mapping[str, type[Sent]] = {kind["name"]: _model(kind) for kind in _native.traffic()}

if TYPE_CHECKING:
    App = Sent
else:
    App = Annotated[reduce(or_, KINDS.values()), Field(discriminator="kind")]


# Switches of TCP by name.
Options = dict[str, bool | int | float | str]

# TCP of an age, as data in tcp/NAME.toml: `tcp = "linux_3_9"` sets every switch of a flow's TCP.
#
# about      one sentence
# source     where the values are from; each key has a comment with its place
# cc         the congestion control, unless the flow names one
# differs    properties of that TCP that no switch sets
# [options]  switches that are not at their default, by the names of docs/inside/tcp.md
_TCP_PRESETS = Path(__file__).parents[1] / "tcp"


@dataclass(frozen=True)
class TcpPreset:
    """The TCP of a system, of one age."""

    name: str
    about: str
    source: str
    cc: str
    options: Options
    file: Path
    differs: Sequence[str] = ()

    def sources(self) -> dict[str, str]:
        """Read the comment of each key, `cc` among them."""
        return comments(self.file)


@functools.cache
def tcp_presets() -> dict[str, TcpPreset]:
    """Return every preset, by its name."""
    return {
        file.stem: TcpPreset(file.stem, file=file, **tomllib.loads(file.read_text("utf-8")))
        for file in sorted(_TCP_PRESETS.glob("*.toml"))
    }


def find_tcp(name: str) -> TcpPreset:
    """Find the preset of that name; raise InputError with the nearest."""
    if name not in tcp_presets():
        raise InputError(f"there is no TCP '{name}'.{nearest(name, tcp_presets())}")
    return tcp_presets()[name]


def _read_ecn(value: object) -> object:
    """Read true, false or 'ect1'; refuse 1 and 0."""
    if isinstance(value, bool) or value == "ect1":
        return value
    reason = f"{written(value)} is not true, false or 'ect1'"
    raise PydanticCustomError("ecn", "{reason}", {"reason": reason})


_ECN = "true: packets carry ECT(0); 'ect1': ECT(1), the mark of L4S traffic, with dctcp"
Ecn = Annotated[bool | Literal["ect1"], BeforeValidator(_read_ecn)]


# Congestion controls with two names: hosts know them by the one on the right.
_SAME = {"newreno": "reno"}
Control = Annotated[str, AfterValidator(lambda name: _SAME.get(name, name))]
_TCP = "the TCP of a system and its age, such as 'linux_3_9'; keys beside it override its own"


class Tcp(Kind):
    """TCP as Linux 6.12 has it, or of another age; `options` are switches to other forms."""

    kind: Literal["tcp"] = Field("tcp", description="which it is")
    tcp: str | None = Field(None, description=_TCP)
    cc: Control = Field("cubic", description="congestion control; unless given, that of `tcp`")
    ecn: Ecn = Field(False, description=_ECN)
    options: Options = Field(
        default_factory=dict, description="switches of TCP by the names of docs/inside/tcp.md"
    )

    @field_validator("tcp")
    @classmethod
    def _known(cls, name: str | None) -> str | None:
        try:
            return name and find_tcp(name).name
        except InputError as error:
            raise refusal(error) from error

    def resolved(self) -> Tcp:
        """Add every key of its preset; those that are given here stay."""
        if self.tcp is None:
            return self
        preset = find_tcp(self.tcp)
        cc = self.cc if "cc" in self.model_fields_set else preset.cc
        return self.model_copy(update={"cc": cc, "options": {**preset.options, **self.options}})

    def assumed(self) -> list[str]:
        """List options that the preset sets and not the file: a host that cannot set them runs
        without them."""
        preset = find_tcp(self.tcp).options if self.tcp else {}
        return sorted(key for key, value in self.options.items() if preset.get(key) == value)


class Udp(Kind):
    """UDP: no answer to loss."""

    kind: Literal["udp"] = Field("udp", description="which it is")


Transport = Annotated[Tcp | Udp, Field(discriminator="kind")]


_START = (
    "of all flows, with a random time within `start_spread` after it; or of each flow: a list, or "
    "a distribution, to which no spread is added"
)
_RTT = (
    "each flow's round trip without queues, where it is longer than the delays of its links: "
    "a time, a list, or a distribution"
)


_Sysctl = Annotated[str, Field(pattern=r"^tcp_[a-z0-9_]+$")]


class SimFlows(Model):
    """Keys of flows that only the simulator has."""

    send_jitter: Duration | None = Field(
        None, description="random delay of the sender; unless given, one packet time of the path"
    )
    options: Options = Field(
        default_factory=dict,
        description="switches of TCP by the names of docs/inside/tcp.md, over those of `transport`",
    )


class LinuxFlows(Model):
    """Keys of flows that only Linux has."""

    ip: Literal[4, 6] = Field(4, description="version of the Internet Protocol")
    cc: Control | None = Field(
        None, description="the kernel's congestion control, in place of `cc`"
    )
    sysctls: dict[_Sysctl, StrictInt | str] = Field(
        default_factory=dict,
        description="settings of net.ipv4 that begin with `tcp_`, in the namespaces of both ends",
    )


class Traffic(Model):
    """Flows of one kind: `count` of them."""

    name: Name = Field("flow", description="of the group, in tables and files")
    count: int = Field(1, strict=True, ge=1, le=100_000, description="flows of the group")
    transport: Transport = Field(Tcp(), description="how they send")
    app: App = Field(KINDS["bulk"].model_validate({}), description="what they send")
    dscp: Dscp = Field(0, description="mark of its packets, both ways: a name, or 0 to 63")
    start: Times = Field(Duration(0), description=_START)
    start_spread: Duration = Field(
        Duration("1 s"), description="each flow starts at a random time within this after `start`"
    )
    rtt: Times | None = Field(None, description=_RTT)
    stop: Duration | None = Field(
        None,
        description="time of the run at which sender and receiver vanish, with all that was not "
        "yet sent; unless given, they stay to the end",
    )
    sim: SimFlows = Field(SimFlows(), description=OF_SIM)
    linux: LinuxFlows = Field(
        LinuxFlows(),
        description="what only Linux has; the simulator takes no notice",
    )

    @model_validator(mode="before")
    @classmethod
    def _kinds(cls, data: object) -> object:
        """Accept a kind alone: `app = "bulk"` and `transport = "udp"`."""
        if not isinstance(data, dict):
            return data
        data = dict(data)
        for key, default in (("transport", "tcp"), ("app", "bulk")):
            value = data.get(key)
            if isinstance(value, str):
                data[key] = {"kind": value}
            elif isinstance(value, dict) and "kind" not in value:
                data[key] = {"kind": default, **value}
        return data


class Flow(Traffic):
    """Traffic between two nodes; without a path it takes the one with the fewest links."""

    from_: Name = Field(alias="from", description="node that sends the data")
    to: Name = Field(description="node that receives it")
    path: tuple[Name, ...] | None = Field(
        None, description="links from the sender; unless given, the way with the fewest of them"
    )
    reverse_path: tuple[Name, ...] | None = Field(None, description="links back to it")
    part_of: Name | None = Field(
        None,
        description="group of which it is a part: quantiles of completion times are those of the "
        "whole; unless given, it is a group by itself",
    )
