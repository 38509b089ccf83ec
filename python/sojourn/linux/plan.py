# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The files of a job, from which the guest sets up a scenario.

A node is a namespace, and each stage of a link is one (`sojourn.linux.qdiscs`). Veth pairs join
them; the two ends of a pair share one MAC address and need no ARP. A node has an IP address. Each
node has a route to that address, by the next link: so flows follow their paths. A node has a
further address for each kind of flow that goes another way there, or by another form of route.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from sojourn import _native, algorithms
from sojourn.core.errors import InputError
from sojourn.linux import ends, matches
from sojourn.linux.classes import Counter, edges_of, of_tree
from sojourn.linux.classes import lines as class_lines
from sojourn.linux.ends import RING, ROOT, Discipline, Part, Plain, Queue, end_of, recorded, wanted
from sojourn.linux.matches import Filter, Port, Stream, filters
from sojourn.linux.qdiscs import Stage, own_delays, stages
from sojourn.linux.samples import group_lines, queue_line, steps_of
from sojourn.linux.transport import (
    Namespace,
    NetOptions,
    buffer_sysctls,
    control,
    route_words,
    sysctls,
)
from sojourn.linux.uml.boot import EPOCH_S
from sojourn.scenario.engine import parsed

_STEPS_OF_PROGRESS = 50
# The start of every run: by then its network is set up and has settled.
START_S = EPOCH_S + 10
# Pages of 4096 bytes: three quarters of the guest's 768 MB. Under the kernel's own bound, 69 MB for
# all sockets, the receivers of 2,000 flows drop segments that have arrived.
_TCP_PAGES = 147_456
# The ECN field of an IP header (RFC 3168 §5): in IPv6 four bits from the end of its first 16.
_ECT1, _ECT0, _ECN_MASK = 1, 2, 3
# tc looks for plugins in one folder only, and for netem's tables in the same folder. So only
# commands about our qdisc set it.
TC = "TC_LIB_DIR=$SOJOURN_TC tc"
ANSWERS = "sojourn fifo respond"
# Filters that give probes of protocol 253 their first hop limit again, as if no router had passed
# them on.
_AS_FROM_THE_LINK = (
    "protocol ip prio 3 u32 match ip protocol 253 0xff "
    "action pedit ex munge ip ttl set 255 pipe action csum ip",
    "protocol ipv6 prio 4 u32 match ip6 protocol 253 0xff "
    "action pedit ex munge ip6 hoplimit set 255",
)


@dataclass(frozen=True)
class RecordedQueue:
    """A recorded queue: its name in results, its namespace, the device before it, its own device
    and its handle there."""

    name: str
    algorithm: str
    space: str
    before: str
    device: str
    handle: str
    at_head: bool
    flows_apart: bool  # it keeps the order of each flow's packets only
    ours: bool  # it logs its packets itself
    holds: bool  # its shaper takes packets before it may send them
    ring: tuple[str, int] | None  # name and rate of the ring below it
    told: bool  # it has a report; others only share a ring with one that has

    @property
    def log_name(self) -> str:
        """Return its name in the log of our qdiscs."""
        return f"{self.device} {self.handle}:"

    @property
    def taps(self) -> tuple[str, ...]:
        """Return words for linux/uml/tap.c: the devices at which it watches packets."""
        if self.ours and not self.holds:
            return ()
        return ("-" if self.ours else self.before, self.device)


@dataclass(frozen=True)
class Ring:
    """A driver's ring: its name in results, its namespace and device there, and the device that
    gets its packets."""

    name: str
    space: str
    device: str
    lower: str
    data: Mapping[str, Any]

    @property
    def words(self) -> str:
        """Return what linux/uml/ring/device.c is told of it."""
        bql = -1 if self.data["bql"] is True else int(self.data["bql"])
        numbers = f"{self.data['packets']}/{self.data['rate']}/{bql}"
        return f"{self.device}/{self.lower}/{numbers}"


@dataclass(frozen=True)
class Place:
    """A stage with queues: its link, namespace and device."""

    link: Mapping[str, Any]
    space: str
    device: str
    stage: Stage


@dataclass(frozen=True)
class _Gate:
    """The place of a queue: its link, namespace and device. A stage that has others above it has
    their number."""

    link: int
    space: str
    device: str
    below: int | None


@dataclass(frozen=True)
class Plan:
    """Everything of a job but the programs."""

    files: Mapping[str, str]
    taps: tuple[RecordedQueue, ...]
    rings: tuple[Ring, ...]
    counters: tuple[Counter, ...]  # classes and rings that are recorded
    series_ns: int
    steps: int  # of the series, each of which ends with a sample

    def job(self, programs: str, module: str, duration_ns: int) -> str:
        """Write the script that the guest runs."""
        end_ms = -(-duration_ns // 1_000_000)
        lines = ["#!/bin/sh", "set -e", f"insmod {module}"]
        if self.rings:
            lines += [f"insmod ring.ko rings={','.join(ring.words for ring in self.rings)}"]
        lines += [f"echo {3 * (f'{_TCP_PAGES} ')}> /proc/sys/net/ipv4/tcp_mem"]
        lines += [f"export SOJOURN_TC={module.rpartition('/')[0]}"]
        lines += [f"programs={programs}", ". ./network"]
        late = "{ echo 'the network took longer than the time before the start'; exit 1; }"
        lines += [f"[ $(date +%s) -lt {START_S - 1} ] || {late}"]
        lines += [f"t0={START_S}000000000", "echo $t0 > zero", "pids="]
        for tap in self.taps:
            if tap.taps:
                command = f"tap {' '.join(tap.taps)} $t0 {end_ms} {tap.space}"
                lines += [f"ip netns exec {tap.space} {programs}/{command} &", 'pids="$pids $!"']
        lines += [f"{programs}/clock $t0 < timetable &", 'pids="$pids $!"']
        if self.counters:
            lines += [f"{programs}/classes $t0 < classes > counters &", 'pids="$pids $!"']
        if "queues" in self.files:
            samples = f"{self.series_ns} {self.steps}"
            lines += [f"{programs}/statistics $t0 {samples} < queues > readings &"]
            lines += ['pids="$pids $!"']
        lines += [f"{programs}/play $t0 < flows > played"]
        lines += ["for pid in $pids; do wait $pid; done"]
        for space, device in dict.fromkeys((tap.space, tap.device) for tap in self.taps):
            lines += [f"{TC} -n {space} -s -j qdisc show dev {device} > {space}.tc"]
            # Packets that still wait are logged too, as dropped after the end.
            lines += [f"tc -n {space} qdisc del dev {device} root"]
        lines += ["mount -t debugfs none /sys/kernel/debug", "cat /sys/kernel/debug/sojourn > log"]
        return "\n".join(lines) + "\n"


def plan(scenario: Mapping[str, Any], seed: int, known: _native.Scenario | None = None) -> Plan:
    """Plan the job of a scenario that `refusals.check` accepts, `known` to the engine."""
    laid, sent = lay(scenario, seed, known)
    files = {
        **laid.network(),
        "flows": _lines(_flows(scenario, sent, laid)),
        "timetable": _timetable(scenario["duration"], laid.timetable),
    }
    steps = steps_of(scenario)
    told = [tap for tap in laid.taps if tap.told]
    if steps and told:
        files["queues"] = _lines(queue_line(tap.space, tap.device, tap.handle) for tap in told)
    if laid.counters:
        edges = edges_of(scenario["record"]["windows"])
        files["classes"] = _lines(class_lines(laid.counters, edges))
    return Plan(
        files,
        tuple(laid.taps),
        tuple(laid.rings),
        tuple(laid.counters),
        scenario["record"]["series"],
        steps,
    )


def lay(
    scenario: Mapping[str, Any], seed: int, known: _native.Scenario | None = None
) -> tuple[Layout, list[_Sent]]:
    """Lay out the namespaces and qdiscs of a scenario, and list its groups of flows."""
    plain = Plain.of(scenario)
    known = known or parsed(plain.scenario)
    ways = known.ways(seed)
    sent = _sent(scenario, ways, known, seed)
    laid = Layout(scenario, plain.numbers, _own_delays(sent))
    for kind, (flow, way) in enumerate(zip(scenario["flows"], ways, strict=True)):
        laid.add_routes(kind, flow, way[0], way[1])
        laid.add_streams(kind, flow, way)
        for end in ("from", "to"):
            laid.spaces[laid.nodes[flow[end]]].ask(sysctls(flow))
        laid.spaces[laid.nodes[flow["to"]]].ask(buffer_sysctls(flow))
        if flow["transport"].get("ecn") == "ect1":
            laid.rewrite(kind, flow, way[0][0], sends=True)
            laid.rewrite(kind, flow, way[1][0], sends=False)
    for _, name, forth, back, responder in known.probe_ways():
        laid.add_probes(plain.numbers[name], forth, back, responder)
    laid.add_filters()
    return laid, sent


# Numbers of the links there and back, each flow's start, and its addition to the links' delays.
Way = tuple[list[int], list[int], list[int], list[int]]
# Each flow listens at a port of its own.
_FIRST_PORT, _PORTS = 1024, 30_000


@dataclass(frozen=True)
class _Sent:
    """The flows of a group, with the facts about each that other programs need."""

    flow: Mapping[str, Any]
    way: Way
    first: int  # number of its first flow
    scripts: list[str]  # of its flows, as linux/uml/play.c reads them

    def port(self, index: int) -> int:
        return _FIRST_PORT + (self.first + index) % _PORTS

    @property
    def word(self) -> str:
        """Tell which port of a packet from the sender is the flow's: the called end's port."""
        called_at_sender = any("\ntalk 1 " in script for script in self.scripts)
        return "sport" if called_at_sender else "dport"


def _sent(
    scenario: Mapping[str, Any], ways: list[Way], known: _native.Scenario, seed: int
) -> list[_Sent]:
    try:
        scripts = known.scripts(seed)
    except ValueError as error:
        raise InputError(f"this scenario cannot run with --host linux: {error}") from error
    groups, first = [], 0
    for flow, way, texts in zip(scenario["flows"], ways, scripts, strict=True):
        groups.append(_Sent(flow, way, first, texts))
        first += flow["count"]
    return groups


def _own_delays(sent: Iterable[_Sent]) -> dict[int, dict[Port, int]]:
    """Map the first link of each way to the delays that flows add to their links, by port."""
    delays: dict[int, dict[Port, int]] = {}
    for group in sent:
        forth, _, _, added_ns = group.way
        for index, ns in enumerate(added_ns):
            if ns:
                delays.setdefault(forth[0], {})[_ip(group.flow), group.word, group.port(index)] = ns
    return delays


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def address(kind: int, flow: Mapping[str, Any], *, sends: bool) -> str:
    """Return the address that a node gets for its end of this kind of flow."""
    if _ip(flow) == 6:
        return f"fd00::{1 if sends else 2}:{kind:x}"
    return f"10.{1 if sends else 2}.{kind >> 8}.{kind & 255}"


def _ip(flow: Mapping[str, Any]) -> int:
    """Return the IP version of the flow's packets."""
    return int(flow.get("linux", {}).get("ip", 4))


class Layout:
    """Namespaces and wires, built link by link."""

    def __init__(
        self,
        scenario: Mapping[str, Any],
        numbers: Mapping[str, int],
        own_delays: Mapping[int, Mapping[Port, int]],
    ) -> None:
        ipv6 = any(_ip(flow) == 6 for flow in scenario["flows"])
        self.net = NetOptions(ipv6, offloads=scenario.get("linux", {}).get("offloads", False))
        self.nodes = {name: f"n{i}" for i, name in enumerate(scenario["nodes"])}
        self.spaces = {name: Namespace(name, self.net) for name in self.nodes.values()}
        self.links = scenario["links"]
        self.scenario = scenario
        self.own_delays = own_delays
        self.numbers = numbers  # of each queue, by its name
        self.gates: dict[int, _Gate] = {}  # by number
        self.trees: list[tuple[int, str, Discipline]] = []  # link, namespace
        self.rings: list[Ring] = []
        self.counters: list[Counter] = []
        self.places: list[Place] = []
        # The groups of each entry of `match` that asks for some.
        self.lists = [
            entry["flows"]
            for link in self.links
            for part in ends.parts(link)
            if part.tree
            for tree in part.tree.all()
            for one in tree.classes
            for entry in one.data.get("match") or ()
            if entry.get("flows")
        ]
        self.streams: dict[int, dict[tuple[str, str], Stream]] = {}  # by link
        self.wires: list[str] = []
        self.qdiscs: list[str] = []
        self.taps: list[RecordedQueue] = []
        self.timetable: list[tuple[int, str]] = []
        # Addresses of the sender and the receiver of each group of flows.
        self.ends: list[tuple[str, str]] = []
        self.addresses: dict[tuple[str, int], list[str]] = {}  # by node and version of IP
        self.ways: dict[str, dict[str, str]] = {}  # by address and namespace: a route
        self.answers: dict[str, str] = {}  # by namespace
        self.rewritten: dict[str, list[str]] = {}  # by namespace
        for i, link in enumerate(self.links):
            self._lay(i, link)

    def network(self) -> dict[str, str]:
        """Write the script that sets up the network, and the files that it reads. A process costs
        the guest much time: the script starts few, and each does much."""
        spaces = self.spaces.values()
        # ip keeps a file open for each namespace that a line names, to the end of its batch.
        script = ["ulimit -n 262144", "ip -batch spaces", "$programs/settings < settings"]
        script += [f"ip -n {name} -batch {name}.ip" for name in self.spaces]
        rewriting = [f"tc -n {name} -batch {name}.egress" for name in self.rewritten]
        return {
            "network": _lines([*script, *self.qdiscs, *self.answers.values(), *rewriting]),
            "spaces": _lines([*(f"netns add {name}" for name in self.spaces), *self.wires]),
            "settings": _lines(line for space in spaces for line in space.settings()),
            **{f"{space.name}.ip": _lines(space.ip()) for space in spaces},
            **{
                f"{space.name}.qdiscs": _lines([*space.qdiscs, f"qdisc show dev {space.shown}"])
                for space in spaces
                if space.qdiscs
            },
            **{f"{name}.egress": _lines(lines) for name, lines in self.rewritten.items()},
        }

    def _lay(self, i: int, link: Mapping[str, Any]) -> None:
        first = self.own_delays.get(i)
        before = [own_delays(first)] if first else []
        named = recorded(link, self.scenario)
        stages_here = [*before, *stages(link, named)]
        boxes = [f"l{i}s{k}" for k in range(len(stages_here))]
        self.spaces |= {name: Namespace(name, self.net) for name in boxes}
        row = [self.nodes[link["from"]], *boxes, self.nodes[link["to"]]]
        for hop, (left, right) in enumerate(pairwise(row)):
            self._wire(i, hop, left, right)
        for k, stage in enumerate(stages_here):
            device = f"l{i}h{k + 1}a"
            if stage.part and stage.part.ring:
                device = self._add_ring(i, k + 1, boxes[k], stage.part)
            self._put(boxes[k], device, stage, i)
            if stage.queues:
                self.places.append(Place(link, boxes[k], device, stage))
            if stage.part:
                self._count(stage.part, boxes[k], device, link)
            for queue in stage.queues:
                gate = _Gate(i, boxes[k], device, k if k > len(before) else None)
                self.gates[self.numbers[queue.name]] = gate
                if queue.name in named or self._shares_a_ring(stage, queue, named):
                    told = queue.name in named
                    self._record(queue, stage, gate, f"l{i}h{k}b", told=told)

    def _count(self, part: Part, space: str, device: str, link: Mapping[str, Any]) -> None:
        """Note the classes and the ring that are recorded."""
        trees = part.tree.all() if part.tree else ()
        found = [counter for tree in trees for counter in of_tree(tree, space, device)]
        if part.ring_name:
            found.append(Counter(part.ring_name, RING, space, device, "", ()))
        self.counters += [c for c in found if wanted(c.name, link, self.scenario)]

    @staticmethod
    def _shares_a_ring(stage: Stage, queue: Queue, named: Collection[str]) -> bool:
        """Tell whether the queue's packets go by a ring before those of a recorded queue."""
        others = any(other.name in named for other in stage.queues)
        ours = not algorithms.find(queue.data["algorithm"]).alone
        return bool(stage.part and stage.part.ring and others and ours)

    def _record(self, queue: Queue, stage: Stage, gate: _Gate, before: str, *, told: bool) -> None:
        ring = stage.part.ring if stage.part else None
        algorithm = algorithms.find(queue.data["algorithm"])
        tapped = RecordedQueue(
            name=queue.name,
            algorithm=queue.data["algorithm"],
            space=gate.space,
            before=before,
            device=gate.device,
            handle=queue.handle,
            at_head="dequeue" in algorithm.acts,
            flows_apart=any(row.name in ("flows", "isolation") for row in algorithm.params),
            ours=not algorithm.alone,
            holds=stage.holds,
            ring=(gate.device, ring["rate"]) if ring else None,
            told=told,
        )
        self.taps.append(tapped)

    def _add_ring(self, i: int, hop: int, box: str, part: Part) -> str:
        """Put a driver's ring above the device that leaves the namespace."""
        assert part.ring and part.ring_name
        name, lower = f"l{i}h{hop}r", f"l{i}h{hop}a"
        mac = f"02:00:00:{i >> 8:02x}:{i & 255:02x}:{hop:02x}"
        self.wires.append(f"link add name {name} netns {box} address {mac} type ring")
        self.spaces[box].devices.append(name)
        self.rings.append(Ring(part.ring_name, box, name, lower, part.ring))
        return name

    def _wire(self, i: int, hop: int, left: str, right: str) -> None:
        mac = f"02:00:00:{i >> 8:02x}:{i & 255:02x}:{hop:02x}"
        self._join(f"l{i}h{hop}", mac, left, right)

    def _join(self, name: str, mac: str, left: str, right: str) -> None:
        """Add the devices `a` and `b` of a pair, one in each namespace."""
        self.wires.append(
            f"link add {name}a netns {left} address {mac} type veth "
            f"peer name {name}b netns {right} address {mac}"
        )
        self.spaces[left].devices.append(f"{name}a")
        self.spaces[right].devices.append(f"{name}b")

    def _put(self, box: str, dev: str, stage: Stage, link: int) -> None:
        space = self.spaces[box]
        space.routes += [f"route add {way} dev {dev}" for way in self.net.everywhere]
        words = {
            f"h{q.handle}": self._probe_words(link, self.numbers[q.name]) for q in stage.queues
        }
        probes = words if stage.part else "".join(words.values())
        space.qdiscs = [c.format(dev=dev, probes=probes) for c in stage.commands]
        space.shown = dev
        if stage.part and stage.part.tree:
            self.trees += [(link, box, each) for each in stage.part.tree.all()]
        program = TC if stage.ours else "tc"
        # Where tc refuses a leaf, the shaper may silently keep its own.
        self.qdiscs += [
            f"listed=$({program} -n {box} -batch {box}.qdiscs)",
            *(
                f'case $listed in *"qdisc {kind} "*) ;; *) echo "{dev}: $listed"; exit 1 ;; esac'
                for kind in stage.kinds
            ),
        ]
        for at_ns, commands in stage.timetable:
            self.timetable.append((at_ns, _at_once(box, [c.format(dev=dev) for c in commands])))

    def _probe_words(self, link: int, number: int) -> str:
        """Return words for a queue of this number at the link: the addresses that its probes ask,
        and their kind."""
        words = [f"responder {probe_address(number, ip, asks=False)}" for ip in self.net.versions]
        kind = self.links[link]["probe"]
        return " ".join(words if kind == "echo" else [*words, f"probe {kind}"])

    def add_probes(self, number: int, forth: list[int], back: list[int], responder: str) -> None:
        """Add addresses for a queue's probes at both ends and routes between them, for each IP
        version of the flows."""
        far = self.spaces[self.nodes[responder]]
        for ip in self.net.versions:
            self._add_probe_ways(number, forth, back, far, ip)
        if self.links[self.gates[number].link]["probe"] == "experimental":
            self._respond(far)

    def _add_probe_ways(
        self, number: int, forth: list[int], back: list[int], far: Namespace, ip: int
    ) -> None:
        gate = self.gates[number]
        near_address, far_address = (probe_address(number, ip, asks=asks) for asks in (True, False))
        asking = self.spaces[gate.space]
        asking.addresses.append(near_address)
        far.addresses.append(far_address)
        for links, goal in ((forth, far_address), (back, near_address)):
            for j in links:
                node = self.spaces[self.nodes[self.links[j]["from"]]]
                node.routes.append(f"route add {goal} dev l{j}h0a")
        near = self.spaces[self.nodes[self.links[gate.link]["from"]]]
        near.routes.append(f"route add {near_address} dev {self._answers_enter(gate)}")
        if end_of(self.links[gate.link]):
            # Queues of one namespace have addresses of their own.
            asking.routes.append(f"route add {far_address} dev {gate.device} src {near_address}")
        self._add_stream(Stream(ip, near_address, far_address, ()), [gate.link, *forth])
        self._add_stream(Stream(ip, far_address, near_address, ()), back)

    def _answers_enter(self, gate: _Gate) -> str:
        """Return the device by which answers go from the link's node to the queue that asked. They
        pass no stage above it."""
        if gate.below is None:
            return f"l{gate.link}h0a"
        name = f"l{gate.link}p{gate.below}"
        if f"{name}b" not in self.spaces[gate.space].devices:
            node = self.nodes[self.links[gate.link]["from"]]
            mac = f"02:00:01:{gate.link >> 8:02x}:{gate.link & 255:02x}:{gate.below:02x}"
            self._join(name, mac, node, gate.space)
        return f"{name}a"

    def _add_stream(self, stream: Stream, links: Sequence[int]) -> None:
        """Note the packets of a pair of addresses at the links of their way."""
        if not links:
            return
        nodes = (*(self.links[j]["from"] for j in links), self.links[links[-1]]["to"])
        for j in links:
            known = self.streams.setdefault(j, {})
            key = stream.source, stream.target
            groups = stream.groups | (known[key].groups if key in known else frozenset())
            known[key] = replace(stream, nodes=nodes, groups=groups)

    def add_streams(self, kind: int, flow: Mapping[str, Any], way: Way) -> None:
        """Note a group's packets at the links of their ways."""
        groups = frozenset([flow["name"]])
        sender, receiver = self.ends[kind]
        self._add_stream(Stream(_ip(flow), sender, receiver, (), groups), way[0])
        self._add_stream(Stream(_ip(flow), receiver, sender, (), groups), way[1])

    def add_filters(self) -> None:
        """Add the filters of all trees: by now the addresses of all packets are known."""
        for link, box, tree in self.trees:
            streams = list(self.streams.get(link, {}).values())
            entries = [
                (entry, f"{tree.handle}:{one.minor}")
                for one in tree.classes
                for entry in one.data.get("match") or ()
            ]
            wanted = [
                *self._own_probes(tree),
                *filters(entries, streams, self.net.versions),
            ]
            # HTB has a word for its default, and the bands' map leads to theirs.
            last = f"{tree.handle}:{tree.default}" if tree.kind == "drr" and tree.default else None
            space = self.spaces[box]
            lines = matches.lines(wanted, f"{tree.handle}:", last)
            space.qdiscs += [line.format(dev=space.shown) for line in lines]

    def _own_probes(self, tree: Discipline) -> Iterator[Filter]:
        """Yield the filters that lead probes to the queue that asks. The root knows them by their
        priority."""
        if tree.handle == ROOT:
            return
        for one in tree.classes:
            below = one.inner.queues() if one.inner else [one.queue] if one.queue else []
            for queue in below:
                number = self.numbers[queue.name]
                if algorithms.find(queue.data["algorithm"]).probes:
                    for ip in self.net.versions:
                        near, far = (probe_address(number, ip, asks=a) for a in (True, False))
                        yield matches.of_pair(
                            Stream(ip, near, far, ()), f"{tree.handle}:{one.minor}"
                        )

    def _respond(self, far: Namespace) -> None:
        """Let the node answer experimental probes, by a queue of lo, which no packet of the run
        passes. The node answers probes from its own link only, but each stage is a router here. So
        filters let probes arrive as if there were no router."""
        if far.name in self.answers:
            return
        self.answers[far.name] = f"{TC} -n {far.name} qdisc add dev lo root {ANSWERS}"
        lines = self.rewritten.setdefault(far.name, [])
        for dev in far.devices:
            hook = f"qdisc add dev {dev} clsact"
            lines += [] if hook in lines else [hook]
            lines += [f"filter add dev {dev} ingress {words}" for words in _AS_FROM_THE_LINK]

    def rewrite(self, kind: int, flow: Mapping[str, Any], first: int, *, sends: bool) -> None:
        """Replace ECT(0) by ECT(1) at an end of the flow, where its packets begin their way. No TCP
        of the kernel sends ECT(1)."""
        dev = f"l{first}h0a"
        lines = self.rewritten.setdefault(self.nodes[self.links[first]["from"]], [])
        hook = f"qdisc add dev {dev} clsact"
        if hook not in lines:
            lines.append(hook)
        source = self.ends[kind][0 if sends else 1]
        if _ip(flow) == 6:
            line = (
                f"filter add dev {dev} egress protocol ipv6 prio 2 u32 match ip6 src {source}/128 "
                f"match u16 {_ECT0 << 4:#x} {_ECN_MASK << 4:#x} at 0 "
                f"action pedit munge offset 0 u16 set {_ECT1 << 4:#x} retain {_ECN_MASK << 4:#x}"
            )
        else:
            line = (
                f"filter add dev {dev} egress protocol ip u32 match ip src {source}/32 "
                f"match ip dsfield {_ECT0:#x} {_ECN_MASK:#x} "
                f"action pedit ex munge ip dsfield set {_ECT1:#x} retain {_ECN_MASK:#x} "
                "pipe action csum ip"
            )
        if line not in lines:
            lines.append(line)

    def add_routes(
        self, kind: int, flow: Mapping[str, Any], forth: list[int], back: list[int]
    ) -> None:
        """Add routes at each node of the flow's ways, to the next link of its packets."""
        # A route may make its connections ask for ECN: so flows may differ in that.
        asks = " features ecn" if flow["transport"].get("ecn") else ""
        form = route_words(flow)
        sender = self._reach(kind, flow, back, form, sends=True)
        receiver = self._reach(kind, flow, forth, asks + form, sends=False)
        self.ends.append((sender, receiver))

    def _told_apart(self, group: str) -> str:
        """Tell which lists of groups, of all trees, name this one."""
        return "".join(str(int(group in listed)) for listed in self.lists)

    def _reach(
        self, kind: int, flow: Mapping[str, Any], links: list[int], form: str, *, sends: bool
    ) -> str:
        """Find or add the address of an end, and add the routes to it. A node is one host to queues
        that tell hosts apart. So the end takes an address of the node whose routes are the same."""
        node = flow["from" if sends else "to"]
        # The form of a route is for connections, which begin or end at the first node.
        ways = {
            self.nodes[self.links[i]["from"]]: f"dev l{i}h0a{'' if n else form}"
            for n, i in enumerate(links)
        }
        # A rewriting filter changes all packets from an address, and a tree tells groups by them.
        told = self._told_apart(flow["name"])
        ways[self.nodes[node]] = str(flow["transport"].get("ecn") == "ect1") + told
        known = self.addresses.setdefault((node, _ip(flow)), [])
        for end in known:
            if all(self.ways[end].get(space, way) == way for space, way in ways.items()):
                break
        else:
            end = address(kind, flow, sends=sends)
            known.append(end)
            self.ways[end] = {}
            self.spaces[self.nodes[node]].addresses.append(end)
        for space, way in ways.items():
            if space not in self.ways[end] and space != self.nodes[node]:
                self.spaces[space].routes.append(f"route add {end} {way}")
        self.ways[end] |= ways
        return end


def _at_once(space: str, commands: list[str]) -> str:
    """Join the commands into one process: nothing else happens between them."""
    if len(commands) == 1:
        return f"tc -n {space} {commands[0]}"
    lines = " ".join(f"'{command}'" for command in commands)
    return f"printf '%s\\n' {lines} | {TC} -n {space} -batch -"


def probe_address(link: int, ip: int, *, asks: bool) -> str:
    """Return the address at which a link's probes of this IP version begin or are answered."""
    if ip == 6:
        return f"fd00::{3 if asks else 4}:{link:x}"
    return f"10.{3 if asks else 4}.{link >> 8}.{link & 255}"


def _edges(scenario: Mapping[str, Any]) -> Iterator[str]:
    edges = {edge for w in scenario["record"]["windows"] for edge in (w["from"], w["to"])}
    for edge in sorted(edges | {scenario["duration"]}):
        yield f"edge {edge}"


def _flows(scenario: Mapping[str, Any], sent: Sequence[_Sent], laid: Layout) -> Iterator[str]:
    """Yield lines for linux/uml/play.c."""
    yield from _edges(scenario)
    groups = ((n, group.first, group.flow["count"]) for n, group in enumerate(sent))
    yield from group_lines(scenario, groups)
    if scenario["record"]["transfers"]:
        yield "transfers"
    for kind, group in enumerate(sent):
        flow = group.flow
        cc, stop_ns = control(flow) or "udp", flow["stop"] or 0
        nodes = laid.nodes[flow["from"]], laid.nodes[flow["to"]]
        ends = " ".join([*nodes, *laid.ends[kind]])
        for index, script in enumerate(group.scripts):
            numbers = f"{group.first + index} {group.port(index)}"
            yield f"flow {numbers} {ends} {cc} {group.way[2][index]} {stop_ns}"
            if dscp := flow.get("dscp"):
                yield f"dscp {dscp}"
            yield script.rstrip("\n")


def _timetable(duration_ns: int, commands: list[tuple[int, str]]) -> str:
    """Write the commands in order of time; a bare time only reports the run's progress."""
    marks = [(duration_ns * k // _STEPS_OF_PROGRESS, "") for k in range(1, _STEPS_OF_PROGRESS)]
    return "".join(f"{at} {command}\n" for at, command in sorted([*marks, *commands]))
