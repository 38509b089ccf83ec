# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A network namespace as lines for linux/uml/settings.c and for ip."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sojourn.linux.transport import RECEIVE_BUFFER_BYTES, RECEIVE_BUFFER_MAX_BYTES

# Large enough that no sender ever waits for it: the network is under test.
_SEND_BUFFER_MAX_BYTES = 64 << 20
_SYSCTLS = (
    "ipv4/ip_forward 1",
    "ipv4/tcp_no_metrics_save 1",
    f"ipv4/tcp_rmem 4096 {RECEIVE_BUFFER_BYTES} {RECEIVE_BUFFER_MAX_BYTES}",
    f"ipv4/tcp_wmem 4096 131072 {_SEND_BUFFER_MAX_BYTES}",
)


@dataclass(frozen=True)
class Manner:
    """Settings that all namespaces of a network share."""

    ipv6: bool = False
    offloads: bool = False

    @property
    def versions(self) -> tuple[int, ...]:
        """Return the versions of IP that packets may have."""
        return (4, 6) if self.ipv6 else (4,)

    @property
    def everywhere(self) -> tuple[str, ...]:
        """Return the destinations of a route for all packets."""
        return ("default", "::/0") if self.ipv6 else ("default",)


@dataclass
class Space:
    """A network namespace: its addresses, devices, routes, and the qdiscs of one device."""

    name: str
    manner: Manner = Manner()
    addresses: list[str] = field(default_factory=list)
    devices: list[str] = field(default_factory=list)
    routes: list[str] = field(default_factory=list)
    qdiscs: list[str] = field(default_factory=list)
    sysctls: list[str] = field(default_factory=list)

    def ask(self, sysctls: Iterable[str]) -> None:
        """Add these sysctls; flows that ask for the same add it once."""
        self.sysctls += [sysctl for sysctl in sysctls if sysctl not in self.sysctls]

    def settings(self) -> Iterator[str]:
        """Yield lines for linux/uml/settings.c."""
        yield f"space {self.name}"
        if not self.manner.ipv6:  # IPv6 would send packets of its own
            yield "sysctl net/ipv6/conf/all/disable_ipv6 1"
        yield from (f"sysctl net/{sysctl}" for sysctl in (*_SYSCTLS, *self.sysctls))
        verb = "large" if self.manner.offloads else "plain"
        yield from (f"{verb} {dev}" for dev in self.devices)
        if self.manner.ipv6:
            yield from self._silent_ipv6()

    def _silent_ipv6(self) -> Iterator[str]:
        """Yield lines that keep IPv6 silent. It would look for routers and neighbours and join
        groups, and its packets would be in the queues. A device without an address of its own looks
        for neither. A device without multicast joins no group; multicast ends before the namespace
        forwards."""
        for dev in self.devices:
            yield f"sysctl net/ipv6/conf/{dev}/addr_gen_mode 1"
            yield f"alone {dev}"
        yield "sysctl net/ipv6/conf/all/forwarding 1"

    def ip(self) -> Iterator[str]:
        """Yield lines for ip inside the namespace."""
        yield "link set lo up"
        # A device keeps packets of one size: the queue sees packets as TCP hands them down.
        size = "" if self.manner.offloads else "gso_max_segs 1 "
        yield from (f"link set {dev} arp off {size}up" for dev in self.devices)
        yield from (f"addr add {own}/{128 if ':' in own else 32} dev lo" for own in self.addresses)
        yield from self.routes
