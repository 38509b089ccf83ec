# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A medium that the queues of several links share in turn, as modems share a cable's upstream. A
queue stage names it in place of a rate. The engine has the rules."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sojourn.core.units import Duration, Rate, Size
from sojourn.scenario.parts import Model, Name

_Exponent = Annotated[int, Field(strict=True, ge=0, le=15)]


class Medium(Model):
    """A line on which one member sends at a time. Members ask for turns and are granted them, as in
    the upstream of a cable plant (DOCSIS)."""

    name: Name = Field(description="unique among the media; a queue stage has it as `medium`")
    rate: Rate = Field(description="of the line")
    cycle: Duration = Field(
        Duration("2 ms"),
        description="time that one list of grants describes, 100 us to 100 ms; the list is made a "
        "cycle before",
    )
    grant: Size = Field(
        Size("8 kB"), description="bytes of a turn at most; turns go round until a cycle is full"
    )
    slots: int = Field(
        8,
        strict=True,
        ge=1,
        le=1024,
        description="requests at the begin of a cycle, of 16 bytes each; two in one slot are lost",
    )
    backoff: tuple[_Exponent, _Exponent] = Field(
        (3, 8),
        description="first and last window of those that were lost: powers of two, in slots",
    )
