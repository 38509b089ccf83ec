# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Tables of the keys that only one host has, of a link or of flows; the other host never sees
them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt

from sojourn.core.hosts import HZ, Ticks
from sojourn.core.units import Duration
from sojourn.scenario.base import Control, Model

RING = "packets in the driver ring below the queue, where no algorithm sees them"
SEND_JITTER = "random delay of the sender; unless given, one packet time of the path"

Options = dict[str, bool | int | float | str]
_Sysctl = Annotated[str, Field(pattern=r"^tcp_[a-z0-9_]+$")]


class SimLink(Model):
    """Keys of a link that only the simulator has."""

    ring: int = Field(0, strict=True, ge=0, le=65536, description=RING)


class SimFlows(Model):
    """Keys of flows that only the simulator has."""

    send_jitter: Duration | None = Field(None, description=SEND_JITTER)
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
