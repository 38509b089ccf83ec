# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""one_wire.py: the network of a recording: namespace c, whose queue is recorded, and s behind it.

s has two addresses; connections to the second one use ECN.
"""

from __future__ import annotations

from tests.linux import netlink as nl
from tests.linux.play import SPACE_FD, Script

WIRE = 2
HERE = "10.0.0.1"
PLAIN, OFFERS_ECN = "10.0.0.2", "10.0.0.3"


def lay(script: Script, kind: str, *options: bytes) -> None:
    """Both ends, with this qdisc at s; the script goes on in c, whose end is still down."""
    for space in ("c", "s"):
        script.space(space)
        script.add("write", "/proc/sys/net/ipv6/conf/all/disable_ipv6", 1)
    script.space("c")
    script.wire(WIRE, "c0", "s0", SPACE_FD + 1)
    script.space("s")
    script.set_link(WIRE)
    for address in (PLAIN, OFFERS_ECN):
        script.address(WIRE, address)
    script.neighbour(WIRE, HERE, 1)
    script.qdisc(WIRE, "root", "1:", nl.CREATE, kind, *options)
    script.space("c")
    script.address(WIRE, HERE)


def up(script: Script) -> None:
    """c's end, with the settings that a link loses when it goes down."""
    script.set_link(WIRE)
    for address in (PLAIN, OFFERS_ECN):
        script.neighbour(WIRE, address, 2)
    script.ecn_route(WIRE, OFFERS_ECN)
