# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Is the AQM of a device really on, and does it mark? Judges two readings of a running machine.

Each check is a function of a `Case` and yields a verdict where something is wrong. A sound set-up
has none. Where a reading does not tell, a check is silent.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.core.errors import InputError
from sojourn.core.units import Rate, UnitError
from sojourn.linux import device as dev
from sojourn.linux import typed
from sojourn.linux.device import Class, Reading

# Kinds of queues that act before they are full.
AQMS = {
    *("sojourn", "fq_codel", "codel", "fq_pie", "pie", "cake", "red", "gred", "choke", "sfb"),
    "dualpi2",
}
_MARKERS = {"sojourn", "fq_codel", "codel", "fq_pie", "pie", "red", "choke"}
# Fewer packets tell nothing of what usually happens.
_MANY_PKTS = 10_000
# A download of 75 MB: that a line was never full meanwhile is improbable.
_BUSY_PKTS = 50_000
_SEGMENT_BYTES = 65_536
# A device sends between two readings no more than so many times as its queues.
_MOST_BESIDE = 10
# As long as the usual target of an AQM: more hides the queue behind it.
_HIDDEN_S = 0.005
# The rate of a shaper, of the line's: above the most the modem's queue fills. Nobody gives away
# half of a line by intent.
_MOST_SHARE, _SHARE, _LEAST_SHARE = 0.98, 0.95, 0.5
# Kinds that hold a device back. A reading does not tell the rates of hfsc.
_SHAPERS = {"htb", "hfsc", "tbf", "cake"}
_OURS = "sojourn fq codel ecn"
# Enough that a marking sender has sent some.
_HEARD_BYTES = 100_000
_FEW_CONNECTIONS = 3
_RECEIVED = re.compile(rf"bytes_received:(\d{{1,{dev.DIGITS}}})\b")


@dataclass(frozen=True)
class Verdict:
    """One fault, with the command that shows it and the one that mends it."""

    check: str
    sentence: str
    show: str
    mend: str


@dataclass(frozen=True)
class Case:
    """Two readings of a device, some seconds apart, and the rates of the line that are known."""

    first: Reading
    now: Reading
    device: str
    up: Rate | None = None
    down: Rate | None = None
    arriving_at: str = ""  # the device whose arrivals are led here
    probed: str = ""  # the address to which probes were sent between the readings

    @property
    def line(self) -> Rate | None:
        """Give the rate of the line in the device's direction."""
        return self.down if self.arriving_at else self.up

    @property
    def word(self) -> str:
        """Write the device as one word of a command."""
        return shlex.quote(self.device)

    @property
    def qdiscs(self) -> list[dict[str, Any]]:
        """Give the queues, the root first."""
        return self.now.qdiscs(self.device)

    @property
    def root(self) -> dict[str, Any]:
        """Give the queue at the root; an empty one where the device has none."""
        return next(iter(self.qdiscs), {"kind": "noqueue", "options": {}})

    @property
    def leaves(self) -> list[dict[str, Any]]:
        """Give the queues that have none below."""
        parents = {str(q.get("parent", "")).partition(":")[0] + ":" for q in self.qdiscs}
        # Only parents that were given a number are told by their children.
        return [q for q in self.qdiscs if q["handle"] not in parents or q["handle"] == "0:"]

    @property
    def aqms(self) -> list[dict[str, Any]]:
        """Give the leaves that are AQMs."""
        return [q for q in self.leaves if _is_aqm(q)]

    @property
    def classes(self) -> list[Class]:
        """Give the classes without classes below."""
        every = self.now.classes(self.device)
        return [c for c in every if not any(other.parent == c.id for other in every)]

    @property
    def shaper(self) -> Rate | None:
        """Give the rate of the shaper that holds all of the device back."""
        root, options = self.root, self.root["options"]
        if root["kind"] == "htb":
            every = self.now.classes(self.device)
            tops = [c.ceil for c in every if not c.parent]
            return Rate(sum(tops)) if tops else None
        if root["kind"] == "tbf":
            return _rate(dev.number(options, "rate"))
        return _rate(dev.number(options, "bandwidth")) if root["kind"] == "cake" else None

    @property
    def lacks_a_shaper(self) -> bool:
        """Tell whether surely nothing holds all of the device back."""
        return self.shaper is None and self.root["kind"] != "hfsc"

    def sent_since(self, qdisc: Mapping[str, Any], unit: str = "bytes") -> int:
        """Count the bytes, or the packets, that this queue has sent between the readings."""
        same = ("kind", "handle", "parent")
        for before in self.first.qdiscs(self.device):
            if all(before.get(key) == qdisc.get(key) for key in same):
                return int(qdisc[unit]) - int(before[unit])
        return int(qdisc[unit])

    def passed_since(self) -> int:
        """Count the bytes that the device has taken between the readings."""
        before, now = (
            dev.number(reading.links, self.device, "stats64", "tx", "bytes")
            for reading in (self.first, self.now)
        )
        return now - before if self.device in self.first.links else 0


def _rate(bytes_per_s: int) -> Rate | None:
    return Rate(8 * bytes_per_s) if bytes_per_s > 0 else None


def _is_aqm(qdisc: Mapping[str, Any]) -> bool:
    if qdisc["kind"] == "sojourn":
        return bool(qdisc["options"].get("algorithm") != "fifo")
    return qdisc["kind"] in AQMS


def _where(case: Case) -> str:
    return (
        f"of {case.device}, for what arrives at {case.arriving_at}"
        if case.arriving_at
        else (f"of {case.device}")
    )


def has_an_aqm(case: Case) -> Iterator[Verdict]:
    """Find a device whose queues only drop when they are full."""
    if case.aqms:
        return
    kinds = " and ".join(dict.fromkeys(q["kind"] for q in case.leaves)) or "noqueue"
    below = case.shaper is not None and case.root["kind"] in ("tbf", "htb")
    which = "the queue below the shaper" if below else "the queue"
    kind = "a plain fifo" if kinds in ("htb", "tbf") else kinds
    place = f"parent {case.root['handle']}1" if case.root["kind"] == "tbf" else "root"
    if case.classes:
        place = f"parent {max(case.classes, key=lambda c: c.packets).id}"
    mend = f"tc qdisc replace dev {case.word} {place} {_OURS}"
    yield Verdict(
        "aqm",
        f"{which} {_where(case)} is {kind}, which is no AQM",
        f"tc qdisc show dev {case.word}",
        _shaped(case, case.line) if case.line and case.lacks_a_shaper else mend,
    )


def _shaped(case: Case, line: Rate) -> str:
    """Write the commands for a shaper below the line's rate, and an AQM below the shaper."""
    # A root of another kind may have the same handle, and HTB takes no second `replace`: two
    # verdicts have these commands.
    before = f"tc qdisc del dev {case.word} root 2>/dev/null"
    return "; ".join([before, *typed.shaper(case.word, _below(line), _OURS).splitlines()])


def _below(line: Rate) -> Rate:
    return Rate(int(line * _SHARE))


def _advice(case: Case) -> str:
    """Write the command that finds an algorithm for the line, with the rates that are known."""
    rates = (f"{rate // 1000}kbit" if rate else "RATE" for rate in (case.up, case.down))
    return "sojourn advise --up {} --down {}".format(*rates)


def is_the_way_out(case: Case) -> Iterator[Verdict]:
    """Find a device by which nothing leaves, since the default route takes another one."""
    ways = [str(route.get("dev", "")) for route in case.now.table(dev.ROUTES)]
    if case.arriving_at or not ways or _is_below(case, ways):
        return
    yield Verdict(
        "device",
        f"the default route leaves by {ways[0]}, not by {case.device}",
        "ip route show default",
        f"sojourn doctor {shlex.quote(ways[0])}",
    )


def _is_below(case: Case, ways: Sequence[str]) -> bool:
    """Tell whether the device, or one above it (a VLAN, PPP, a bridge), is one of these."""
    links = case.now.links
    for way in ways:
        name = way
        # Each end of a veth names the other one.
        for _ in links:
            if name not in links:
                break
            if case.device in (name, links[name]["master"]):
                return True
            name = links[name]["link"]
    return False


def is_shaped_below_the_line(case: Case) -> Iterator[Verdict]:
    """Find a shaper that is faster than the line behind it, or none."""
    show = f"tc -s class show dev {case.word}"
    if case.line and case.lacks_a_shaper:
        mend = _advice(case) if case.aqms else _shaped(case, case.line)
        text = f"no shaper {_where(case)} is below the line's {case.line}"
        yield Verdict("shaper", f"{text}: the queue is in the modem", show, mend)
    elif case.line and case.shaper and case.shaper > case.line * _MOST_SHARE:
        yield Verdict(
            "shaper",
            f"the shaper {_where(case)} lets {case.shaper} pass, the line {case.line}: the queue "
            "is in the modem",
            show,
            _at_rate(case, _below(case.line)),
        )
    elif case.line and case.shaper and case.shaper < case.line * _LEAST_SHARE:
        yield Verdict(
            "shaper",
            f"the shaper {_where(case)} lets {case.shaper} pass, less than half of the line's "
            f"{case.line}: one of the two is wrong or old",
            show,
            _at_rate(case, _below(case.line)),
        )
    elif not case.line and (case.aqms or case.shaper) and _never_waits(case):
        yield Verdict(
            "shaper",
            f"the queue {_where(case)} has passed {sum(q['packets'] for q in case.leaves)} packets "
            "and neither dropped nor marked one: the slowest link is elsewhere",
            f"tc -s qdisc show dev {case.word}",
            f"sojourn doctor {shlex.quote(case.arriving_at or case.device)} --up RATE --down RATE",
        )


def _at_rate(case: Case, rate: Rate) -> str:
    """Write the command that gives the shaper this rate."""
    root, at, kbit = case.root, f"dev {case.word}", rate // 1000
    if root["kind"] == "htb":
        top = next(c.id for c in case.now.classes(case.device) if not c.parent)
        return f"tc class change {at} parent {root['handle']} classid {top} htb rate {kbit}kbit"
    if root["kind"] == "tbf":
        return f"tc qdisc change {at} root tbf rate {kbit}kbit burst 10k latency 1s"
    return f"tc qdisc change {at} root {root['kind']} bandwidth {kbit}kbit"


def _never_waits(case: Case) -> bool:
    """Tell whether so much has passed that a full line would have left a trace, and none has."""
    # HTB's overlimits are no trace: each burst of a sender leaves some.
    if any(q["drops"] or q["backlog"] for q in case.qdiscs) or any(map(_marks, case.aqms)):
        return False
    return bool(sum(q["packets"] for q in case.leaves) >= _BUSY_PKTS)


def _marks(qdisc: Mapping[str, Any]) -> int:
    """Count the marks of a queue; iproute2 has several names for them."""
    reasons = dev.inner(qdisc, "sojourn", "marks")
    own = [dev.number(reasons, why) for why in reasons] if isinstance(reasons, dict) else []
    return sum(own) + sum(dev.number(qdisc, key) for key in ("ecn_mark", "ecn_marks", "marked"))


def every_packet_passes(case: Case) -> Iterator[Verdict]:
    """Find packets that pass by the queues: statistics that stand still while the device sends, and
    HTB's direct way for packets without a class."""
    options = case.root["options"]
    direct = dev.number(options, "direct_packets_stat")
    if case.root["kind"] == "htb" and direct > _MANY_PKTS // 10:
        default = f"1:{str(options.get('default', '0x0')).removeprefix('0x')}"
        yield Verdict(
            "class",
            f"HTB {_where(case)} sent {direct} packets without a class, past rate and AQM: its "
            f"default is {default}, and there is no such class",
            f"tc -s qdisc show dev {case.word}",
            f"tc class add dev {case.word} parent 1: classid {default} htb rate RATE",
        )
    elif case.passed_since() > max(
        _SEGMENT_BYTES, _MOST_BESIDE * max(map(case.sent_since, case.qdiscs), default=0)
    ):
        yield Verdict(
            "statistics",
            f"{case.device} sent {case.passed_since()} bytes between two readings, and its queues "
            "nearly none: something passes by them (XDP, an offload of flows)",
            f"tc -s qdisc show dev {case.word}; ip -s link show dev {case.word}",
            f"ethtool -K {case.word} hw-tc-offload off",
        )
    elif case.probed and sum(case.sent_since(q, "packets") for q in case.leaves) < dev.PROBES:
        yield Verdict(
            "statistics",
            f"of {dev.PROBES} datagrams to {case.probed}, fewer passed the queues {_where(case)}",
            f"tc -s qdisc show dev {case.word}; ip route get {case.probed}",
            f"ip route replace {case.probed} dev {case.word}, or --probe with the address of a "
            f"host behind {case.device}",
        )


def every_class_has_traffic(case: Case) -> Iterator[Verdict]:
    """Find a class with an AQM that never got a packet, while another took many."""
    busiest = max(case.classes, key=lambda c: c.packets, default=None)
    if busiest is None or busiest.packets < _MANY_PKTS:
        return
    with_aqm = {q["handle"] for q in case.aqms}
    for idle in case.classes:
        if idle.packets == 0 and idle.leaf in with_aqm:
            yield Verdict(
                "class",
                f"class {idle.id} {_where(case)} never got a packet, class {busiest.id} got "
                f"{busiest.packets}: no filter leads there",
                f"tc -s class show dev {case.word}; tc filter show dev {case.word}",
                f"tc filter add dev {case.word} parent {idle.id.partition(':')[0]}: "
                f"matchall classid {idle.id}",
            )


def packets_are_those_of_the_wire(case: Case) -> Iterator[Verdict]:
    """Find an AQM to which a segment of 64 kB is one packet, where that takes long to send."""
    rate = case.shaper
    if rate is None or 8 * _SEGMENT_BYTES / rate < _HIDDEN_S:
        return
    mtu = case.now.links[case.device]["mtu"]
    device = shlex.quote(case.arriving_at or case.device)
    mend = f"ip link set dev {device} gso_max_segs 1"
    if case.arriving_at:
        mend = f"ethtool -K {device} gro off"
    for qdisc in case.aqms:
        # A queue that tells of no largest packet may hold some.
        held = qdisc["backlog"] // qdisc["qlen"] if qdisc["qlen"] else 0
        largest = max(dev.number(qdisc, "maxpacket"), held)
        if largest > 2 * mtu and not qdisc["options"].get("split_gso"):
            yield Verdict(
                "offloads",
                f"to {qdisc['kind']} {_where(case)} a segment of {largest} bytes is one packet, "
                f"{8000 * largest / rate:.0f} ms long at {rate}",
                f"tc -s qdisc show dev {case.word}; ethtool -k {device}",
                mend,
            )
            return


def nothing_waits_behind_the_aqm(case: Case) -> Iterator[Verdict]:
    """Find a deep ring of the driver behind an AQM without a shaper, or a slower device below."""
    links, lower = case.now.links, case.now.links[case.device]["link"]
    if lower in links and (case.shaper is not None or case.aqms):
        below = Case(case.first, case.now, lower)
        if below.shaper and (case.shaper is None or below.shaper < case.shaper):
            yield Verdict(
                "shaper",
                f"{lower}, below {case.device}, lets only {below.shaper} pass: the queue is there",
                f"tc qdisc show dev {below.word}",
                f"tc qdisc del dev {below.word} root",
            )
    ring, speed_mbps = case.now.ring_pkts(case.device), case.now.number(dev.SPEED, case.device)
    if case.shaper is not None or not case.aqms or not ring or not speed_mbps or speed_mbps < 0:
        return
    held = ring * links[case.device]["mtu"]
    limit = case.now.number(dev.BQL, case.device)
    depth = min(held, limit) if limit else held
    wait_s = 8 * depth / (speed_mbps * 1e6)
    if wait_s > _HIDDEN_S:
        why = f"its BQL lets {limit} bytes in" if limit else "its driver has no BQL"
        yield Verdict(
            "ring",
            f"the ring of {case.device} holds {ring} packets, {1000 * wait_s:.0f} ms at "
            f"{speed_mbps} Mbit/s, behind the AQM; {why}",
            f"ethtool -g {case.word}",
            f"ethtool -G {case.word} tx 64",
        )


def arrivals_have_a_queue(case: Case) -> Iterator[Verdict]:
    """Find arrivals without a queue where their rate is known, and an ingress queue that leads
    nowhere, or to a device that is down."""
    to = case.now.redirect(case.device)
    if case.arriving_at:
        return
    if not (to or case.now.takes_arrivals(case.device)):
        if case.down and not _shapes_elsewhere(case):
            ifb = shlex.quote(f"ifb-{case.device}"[: dev.NAME_LETTERS])
            lines = typed.arriving(case.word, ifb, _below(case.down), _OURS).splitlines()
            yield Verdict(
                "download",
                f"what arrives at {case.device} has no queue here below the line's {case.down}: "
                "it waits at the provider",
                f"tc qdisc show dev {case.word}",
                "; ".join(lines),
            )
    elif not to:
        yield Verdict(
            "download",
            f"what arrives at {case.device} is led to no ifb: it has no queue here",
            f"tc filter show dev {case.word} ingress",
            f"tc filter replace dev {case.word} parent ffff: prio 1 handle 1 matchall "
            "action mirred egress redirect dev ifb0",
        )
    elif not case.now.is_up(to):
        yield Verdict(
            "download",
            f"{to}, to which all that arrives at {case.device} is led, is down: it is lost",
            f"ip link show dev {shlex.quote(to)}",
            f"ip link set {shlex.quote(to)} up",
        )


def _shapes_elsewhere(case: Case) -> bool:
    """Tell whether another device has a shaper, which may be that of what arrives: a router's
    device towards the home. An ifb has none unless it is led there."""
    links = case.now.links
    return any(
        qdisc.get("root") and qdisc["kind"] in _SHAPERS
        for name in links
        if name != case.device and dev.inner(links[name], "linkinfo", "info_kind") != "ifb"
        for qdisc in case.now.qdiscs(name)
    )


def marks_where_it_can(case: Case) -> Iterator[Verdict]:
    """Find an AQM with ECN off, a machine that never asks for ECN, and a path that erases marks."""
    for qdisc in case.aqms:
        options = qdisc["options"]
        if qdisc["kind"] in _MARKERS and not options.get("ecn"):
            algorithm = f"{options.get('algorithm', '')} " * (qdisc["kind"] == "sojourn")
            at = "root" if qdisc.get("root") else f"parent {qdisc.get('parent', '')}"
            yield Verdict(
                "ecn",
                f"{qdisc['kind']} {_where(case)} drops where it could mark: its ECN is off",
                f"tc qdisc show dev {case.word}",
                f"tc qdisc change dev {case.word} {at} {qdisc['kind']} {algorithm}ecn",
            )
    if case.arriving_at:
        return
    if case.now.number(dev.TCP_ECN) == 0:
        yield Verdict(
            "ecn",
            "the TCP of this machine refuses ECN (net.ipv4.tcp_ecn is 0): its packets are dropped, "
            "not marked",
            "sysctl net.ipv4.tcp_ecn",
            "sysctl -w net.ipv4.tcp_ecn=1",
        )
    yield from _bleached(case)


def _bleached(case: Case) -> Iterator[Verdict]:
    """Find connections that agreed on ECN, and on which no packet ever came with it."""
    # A connection has a line of its ends, and an indented one of its numbers.
    numbers = re.findall(r"^\S.*\n\s+(.*)$", case.now.text(dev.SOCKETS), re.MULTILINE)
    agreed = [
        line
        for line in numbers
        if re.search(r"\becn\b", line)
        and int(next(iter(_RECEIVED.findall(line)), 0)) >= _HEARD_BYTES
    ]
    if len(agreed) >= _FEW_CONNECTIONS and not any("ecnseen" in line for line in agreed):
        yield Verdict(
            "ecn",
            f"on {len(agreed)} connections that agreed on ECN no packet came with it: something on "
            "the path erases it (bleaches), and marks with it",
            dev.SOCKETS,
            "tell the provider; until then AQMs on the path drop",
        )


CHECKS: tuple[Callable[[Case], Iterator[Verdict]], ...] = (
    is_the_way_out,
    has_an_aqm,
    is_shaped_below_the_line,
    every_packet_passes,
    every_class_has_traffic,
    packets_are_those_of_the_wire,
    nothing_waits_behind_the_aqm,
    arrivals_have_a_queue,
    marks_where_it_can,
)


def rate_of(option: str, text: str | None) -> Rate | None:
    """Read a line's rate. InputError: it is none."""
    try:
        return None if text is None else Rate(text)
    except UnitError as error:
        raise InputError(f"{option}: {error}") from error


def examine(
    first: Reading,
    now: Reading,
    device: str,
    up: Rate | None = None,
    down: Rate | None = None,
    *,
    probed: str = "",
) -> list[Verdict]:
    """Judge a device, and the one to which its arrivals are led; `up` and `down` are the line's,
    and probes went to `probed`."""
    cases = [Case(first, now, device, up, down, probed=probed)]
    to = now.redirect(device)
    if now.is_up(to):
        cases.append(Case(first, now, to, up, down, arriving_at=device))
    return [verdict for case in cases for check in CHECKS for verdict in check(case)]
