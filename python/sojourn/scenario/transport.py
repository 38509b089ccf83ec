# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Transports of flows: TCP, of this age or another, and UDP."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, field_validator
from pydantic_core import PydanticCustomError

from sojourn.core.errors import InputError
from sojourn.scenario import tcp_preset
from sojourn.scenario.base import Control, Kind


def _read_ecn(value: object) -> object:
    """Read true, false or 'ect1'; refuse 1 and 0."""
    if isinstance(value, bool) or value == "ect1":
        return value
    reason = f"{value!r} is not true, false or 'ect1'"
    raise PydanticCustomError("ecn", "{reason}", {"reason": reason})


_ECN = "true: packets carry ECT(0); 'ect1': ECT(1), the mark of L4S traffic, with dctcp"
Ecn = Annotated[bool | Literal["ect1"], BeforeValidator(_read_ecn)]


_TCP = "the TCP of a system and its age, such as 'linux_3_9'; keys beside it override its own"


class Tcp(Kind):
    """TCP as Linux 6.12 has it, or of another age; `options` are switches to other forms."""

    kind: Literal["tcp"] = Field("tcp", description="which it is")
    tcp: str | None = Field(None, description=_TCP)
    cc: Control = Field("cubic", description="congestion control; unless given, that of `tcp`")
    ecn: Ecn = Field(False, description=_ECN)
    options: dict[str, bool | int | float | str] = Field(
        default_factory=dict, description="switches of TCP by the names of docs/inside/tcp.md"
    )

    @field_validator("tcp")
    @classmethod
    def _known(cls, name: str | None) -> str | None:
        try:
            return name and tcp_preset.find(name).name
        except InputError as error:
            raise PydanticCustomError("row", "{reason}", {"reason": str(error)}) from error

    def resolved(self) -> Tcp:
        """Add every key of its preset; those that are given here stay."""
        if self.tcp is None:
            return self
        of = tcp_preset.find(self.tcp)
        cc = self.cc if "cc" in self.model_fields_set else of.cc
        return self.model_copy(update={"cc": cc, "options": {**of.options, **self.options}})

    def assumed(self) -> list[str]:
        """List options that the preset sets and not the file: a host that cannot set them runs
        without them."""
        given = tcp_preset.find(self.tcp).options if self.tcp else {}
        return sorted(key for key, value in self.options.items() if given.get(key) == value)


class Udp(Kind):
    """UDP: no answer to loss."""

    kind: Literal["udp"] = Field("udp", description="which it is")


Transport = Annotated[Tcp | Udp, Field(discriminator="kind")]
