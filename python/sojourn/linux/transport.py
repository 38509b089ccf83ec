# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A network namespace as lines for linux/uml/settings.c and for ip, and the settings of a flow's
TCP: sysctls of the namespaces at its two ends, and words of its routes. Options that neither sets
stay as Linux 6.12 has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

# The kernel's own defaults of the receive buffer.
RECEIVE_BUFFER_BYTES = 131_072
RECEIVE_BUFFER_MAX_BYTES = 6 << 20
# A peer announces a segment size that includes these 12 bytes beside the payload (RFC 7323 §2).
_TIMESTAMPS_BYTES = 12


def _number(value: Any) -> int:
    return int(value)


def _refusal(value: Any) -> int:
    return int(not value)


# Documentation/networking/ip-sysctl.rst of Linux 6.12.
_SYSCTLS: dict[str, dict[str, Callable[[Any], int]]] = {
    "sack": {"tcp_sack": _number},
    "dsack": {"tcp_dsack": _number},
    "timestamps": {"tcp_timestamps": _number},
    "frto": {"tcp_frto": lambda on: 2 if on else 0},
    "rack": {"tcp_recovery": _number},
    "tlp": {"tcp_early_retrans": lambda on: 3 if on else 0},
    "slow_start_after_idle": {"tcp_slow_start_after_idle": _number},
    "reordering_pkts": {"tcp_reordering": _number},
    "max_reordering_pkts": {"tcp_max_reordering": _number},
    "syn_linear_timeouts": {"tcp_syn_linear_timeouts": _number},
    "ecn_fallback": {"tcp_ecn_fallback": _number},
    "compressed_ack": {"tcp_comp_sack_nr": lambda on: 44 if on else 0},
    "path_metrics": {"tcp_no_metrics_save": _refusal, "tcp_no_ssthresh_metrics_save": _refusal},
}
# ip-route(8).
_ROUTES = ("initial_window_pkts", "min_rto_ms", "mss_bytes")
# tcp_rmem and tcp_moderate_rcvbuf, where the scenario itself gives them. The window that a buffer
# allows differs between ages, by the memory that a packet takes. With the buffer of an age Linux
# 6.12 would have another window than the kernel of that age.
BUFFERS = ("rcvbuf_bytes", "rcvbuf_max_bytes", "rcvbuf_moderation")
SETTABLE = {*_SYSCTLS, *_ROUTES, *BUFFERS}

Settings = tuple[tuple[str, Any], ...]


def control(flow: Mapping[str, Any]) -> str | None:
    """Return the flow's congestion control; None for datagrams."""
    own: str | None = flow.get("linux", {}).get("cc")
    return own or flow["transport"].get("cc")


def _options(flow: Mapping[str, Any]) -> dict[str, Any]:
    return dict(flow["transport"].get("options") or {})


def ignored(flow: Mapping[str, Any]) -> list[str]:
    """List the options that the preset of an age asks for and that cannot be set."""
    assumed = flow["transport"].get("assumed") or []
    return sorted(key for key in assumed if key not in SETTABLE - {*BUFFERS})


def refused(flow: Mapping[str, Any]) -> list[str]:
    """List the options that the scenario itself asks for and that cannot be set."""
    return sorted(_options(flow).keys() - SETTABLE - {*ignored(flow)})


def settings(flow: Mapping[str, Any]) -> Settings:
    """Return the settings of the namespaces at the flow's ends. All flows of a namespace share
    them."""
    options = {k: v for k, v in _options(flow).items() if k in _SYSCTLS}
    return tuple(sorted({**options, **_own(flow)}.items()))


def _own(flow: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sysctls that the scenario itself names."""
    return dict(flow.get("linux", {}).get("sysctls", {}))


def buffers(flow: Mapping[str, Any]) -> Settings:
    """Select the options of the flow's receive buffer."""
    options, left = _options(flow), ignored(flow)
    return tuple((key, options[key]) for key in BUFFERS if key in options and key not in left)


def sysctls(flow: Mapping[str, Any]) -> list[str]:
    """List the lines of sysctls for both ends."""
    lines = [
        f"ipv4/{sysctl} {written(value)}"
        for key, value in sorted(_options(flow).items())
        for sysctl, written in _SYSCTLS.get(key, {}).items()
    ]
    return lines + [f"ipv4/{key} {value}" for key, value in sorted(_own(flow).items())]


def buffer_sysctls(flow: Mapping[str, Any]) -> list[str]:
    """List the lines that make the flow's receive buffer the default of the kernel's sockets."""
    options = dict(buffers(flow))
    if not options:
        return []
    first = options.get("rcvbuf_bytes", RECEIVE_BUFFER_BYTES)
    most = options.get("rcvbuf_max_bytes", RECEIVE_BUFFER_MAX_BYTES)
    grows = int(options.get("rcvbuf_moderation", True))
    return [f"ipv4/tcp_rmem 4096 {first} {most}", f"ipv4/tcp_moderate_rcvbuf {grows}"]


def route_words(flow: Mapping[str, Any]) -> str:
    """Return the words that end a route from an end of the flow, each with a space before it."""
    options = _options(flow)
    words = []
    if "initial_window_pkts" in options:
        words.append(f"initcwnd {options['initial_window_pkts']}")
    if "min_rto_ms" in options:
        words.append(f"rto_min {options['min_rto_ms']}ms")
    if "mss_bytes" in options:
        beside = _TIMESTAMPS_BYTES if options.get("timestamps", True) else 0
        words.append(f"advmss {options['mss_bytes'] + beside}")
    return "".join(f" {word}" for word in words)


# Large enough that no sender ever waits for it: the network is under test.
_SEND_BUFFER_MAX_BYTES = 64 << 20
_OF_EACH_SPACE = (
    "ipv4/ip_forward 1",
    "ipv4/tcp_no_metrics_save 1",
    f"ipv4/tcp_rmem 4096 {RECEIVE_BUFFER_BYTES} {RECEIVE_BUFFER_MAX_BYTES}",
    f"ipv4/tcp_wmem 4096 131072 {_SEND_BUFFER_MAX_BYTES}",
)


@dataclass(frozen=True)
class NetOptions:
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
class Namespace:
    """A network namespace: its addresses, devices, routes, and the qdiscs of one device."""

    name: str
    net: NetOptions = NetOptions()
    addresses: list[str] = field(default_factory=list)
    devices: list[str] = field(default_factory=list)
    routes: list[str] = field(default_factory=list)
    qdiscs: list[str] = field(default_factory=list)
    shown: str = ""  # the device of the qdiscs
    sysctls: list[str] = field(default_factory=list)

    def ask(self, sysctls: Iterable[str]) -> None:
        """Add these sysctls; flows that ask for the same add it once."""
        self.sysctls += [sysctl for sysctl in sysctls if sysctl not in self.sysctls]

    def settings(self) -> Iterator[str]:
        """Yield lines for linux/uml/settings.c."""
        yield f"space {self.name}"
        if not self.net.ipv6:  # IPv6 would send packets of its own
            yield "sysctl net/ipv6/conf/all/disable_ipv6 1"
        yield from (f"sysctl net/{sysctl}" for sysctl in (*_OF_EACH_SPACE, *self.sysctls))
        verb = "large" if self.net.offloads else "plain"
        yield from (f"{verb} {dev}" for dev in self.devices)
        if self.net.ipv6:
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
        size = "" if self.net.offloads else "gso_max_segs 1 "
        yield from (f"link set {dev} arp off {size}up" for dev in self.devices)
        yield from (f"addr add {own}/{128 if ':' in own else 32} dev lo" for own in self.addresses)
        yield from self.routes
