# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The stages of a link in the words of tc: shaper or classes with their queues, then delay and
loss.

Each stage is a namespace of its own: all packets that enter it are for its qdisc. No qdisc is in a
sender, where netem would disturb TCP's own limits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sojourn import algorithms
from sojourn.core.algorithm import STOCK_PREFIX, Algorithm
from sojourn.core.rows import Row
from sojourn.linux.ends import (
    FIRST_HANDLE,
    Class,
    Discipline,
    Part,
    Queue,
    ceil_of,
    end_of,
    parts,
    rate_steps,
)
from sojourn.linux.matches import Port, port_lines

# Never reached: a stage for delay must not drop packets.
AMPLE_PKTS = 1_000_000
# A timer may be this late before the link loses time. A bucket of this length sends no two packets
# at once.
_SLACK_NS = 5_000
# netem keeps the order of packets only with a rate. At this one a packet takes no time.
_KEEPS_ORDER = "rate 100gbit"
# The kernel counts these bytes beside an IP packet.
ETHERNET_BYTES = 14
# The row for the capacity of the link. As in the simulator it follows the link's rate, unless the
# scenario sets it.
_RATE_ROW = "bandwidth"
# By default tc's table of lengths has one entry for each four bytes; this one has every length.
_EVERY_LENGTH = ("mtu", "2047", "tsize", "2048")
_SUFFIX = {"pkts": "p", "bytes": "b"}
_TIMES = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_RATES = {"gbit": 10**9, "mbit": 10**6, "kbit": 10**3, "bit": 1}
# Rows of the kernel's own qdiscs for which tc has another word, and rows that are always written.
_SPELT = {"limit_bytes": "limit"}
_ALWAYS = {
    "red": ("limit_bytes", "min", "max", "avpkt", "burst", "bandwidth"),
    "choke": ("limit", "min", "max", "burst", "bandwidth"),
    "sfb": ("limit",),
}


@dataclass(frozen=True)
class Stage:
    """tc commands for one device; `{dev}` stands for it, `{probes}` for the words of its
    probes; those of a tree's queues are `{probes[NAME]}`. Times are those of the run; all
    commands of one time take effect at one moment."""

    commands: tuple[str, ...]
    timetable: tuple[tuple[int, tuple[str, ...]], ...] = ()
    # The qdiscs that `tc qdisc show` must name afterwards.
    kinds: tuple[str, ...] = ("netem",)
    # Queues that can be recorded, and whether their shaper takes packets before it may send them.
    queues: tuple[Queue, ...] = ()
    holds: bool = False
    part: Part | None = None  # of an end

    @property
    def ours(self) -> bool:
        """Tell whether a queue of it is our qdisc."""
        return any(kind.split()[0] == "sojourn" for kind in self.kinds)


def stages(link: Mapping[str, Any], recorded: Collection[str]) -> list[Stage]:
    """List the stages that packets of the link pass, in order. Queues of these names are
    recorded."""
    if not end_of(link):
        return _of_link(link, link["name"] in recorded)
    passed: list[Stage] = []
    for part in parts(link):
        if part.queue and not part.ring:
            alone = _alone(link, part.stage, part.queue)
            passed += _of_link(alone, part.queue.name in recorded)
        else:
            passed.append(_tree(link, part))
    rest = _delay(link, link["delay"])
    return [*passed, _far(link)] if rest else passed


def _alone(link: Mapping[str, Any], stage: Mapping[str, Any], queue: Queue) -> dict[str, Any]:
    """Make the link that has only this stage of an end, and no delay."""
    shaping = {key: stage[key] for key in ("rate", "shaper", "burst", "queue")}
    shaping["schedule"] = stage.get("schedule", [])
    own = {"name": queue.name, "delay": 0, "delays": [], "jitter": None, "loss": 0.0}
    own["stage"] = stage["name"]
    return {**{key: value for key, value in link.items() if key != "end"}, **shaping, **own}


def _of_link(link: Mapping[str, Any], recorded: bool) -> list[Stage]:
    passed = []
    rest = _delay(link, link["delay"])
    if link["rate"] is not None:
        if not recorded and link["shaper"] == "wire" and _plain_fifo(link["queue"]):
            passed.append(_netem_rate(link, limit_pkts=_limit(link["queue"]) + 1))
        else:
            passed.append(_tbf(link) if link["shaper"] == "tbf" else _htb(link))
            if link["shaper"] == "wire":
                # The bucket releases a packet at its first bit; this adds the time to its last.
                passed.append(_netem_rate(link, limit_pkts=AMPLE_PKTS))
    if rest:
        passed.append(_far(link))
    return passed


def _far(link: Mapping[str, Any]) -> Stage:
    """Make the stage of delay and loss. A change leaves the packets inside as they are."""

    def words(verb: str, delay_ns: int) -> str:
        netem = f"netem limit {AMPLE_PKTS} {_delay(link, delay_ns)}"
        return f"qdisc {verb} dev {{dev}} root {netem}"

    later = link["delays"]
    steps = ((step["at"], (words("change", step["delay"]),)) for step in later)
    return Stage((words("add", link["delay"]),), tuple(steps))


# The burst is much more than comes in one instant: only its netem delays packets of a class.
_CLASS = "htb rate 100gbit burst 1mb cburst 1mb quantum 1514"


def own_delays(added_ns: Mapping[Port, int]) -> Stage:
    """Make the stage that adds the delays of single flows to those of their links. Flows of one
    delay share a class, and all other packets pass."""
    classes = {ns: number for number, ns in enumerate(sorted({*added_ns.values()} - {0}), start=1)}
    commands = ["qdisc add dev {dev} root handle 1: htb"]
    for ns, number in classes.items():
        commands += [
            f"class add dev {{dev}} parent 1: classid 1:{number:x} {_CLASS}",
            f"qdisc add dev {{dev}} parent 1:{number:x} netem limit {AMPLE_PKTS} delay {_us(ns)}",
        ]
    to = {port: f"1:{classes[ns]:x}" for port, ns in added_ns.items() if ns}
    return Stage((*commands, *port_lines(to, "1:")), kinds=("htb",))


def _plain_fifo(queue: Mapping[str, Any]) -> bool:
    return queue["algorithm"] == "fifo" and set(queue) <= {"algorithm", "limit"}


def _limit(queue: Mapping[str, Any]) -> int:
    return int(queue.get("limit", algorithms.rows_of(queue["algorithm"])["limit"].default))


def _netem_rate(link: Mapping[str, Any], *, limit_pkts: int) -> Stage:
    """Make the stage of a wire. netem's limit counts the packet that is being sent, the engine's
    does not."""

    def words(verb: str, rate_bps: int) -> str:
        netem = f"netem rate {rate_bps}bit limit {limit_pkts}"
        return f"qdisc {verb} dev {{dev}} root {counted(link)}{netem}"

    steps = ((step["at"], (words("change", step["rate"]),)) for step in link["schedule"])
    return Stage((words("add", link["rate"]),), tuple(steps))


def frame_bytes(link: Mapping[str, Any], ip_bytes: int) -> int:
    """Return the bytes that the link counts for an IP packet."""
    framed: int = max(ip_bytes + link["header"], link["mpu"])
    return -(-framed // 48) * 53 if link["linklayer"] == "atm" else framed


def counted(link: Mapping[str, Any]) -> str:
    """Return words for the length of packets, which precede the kind of a qdisc. All qdiscs below
    it count the same; a change that omits the words removes them."""
    words = []
    if more := link["header"] - ETHERNET_BYTES:
        words += ["overhead", str(more)]
    if link["mpu"]:
        words += ["mpu", str(link["mpu"])]
    if link["linklayer"] != "ethernet":
        words += ["linklayer", link["linklayer"]]
    if link["mpu"] or link["linklayer"] != "ethernet":
        words += _EVERY_LENGTH
    return " ".join(["stab", *words, ""]) if words else ""


def _tbf(link: Mapping[str, Any]) -> Stage:
    def words(verb: str, rate_bps: int) -> str:
        tbf = f"tbf rate {rate_bps}bit burst {link['burst']}b limit {AMPLE_PKTS}"
        return f"qdisc {verb} dev {{dev}} root handle 1: {counted(link)}{tbf}"

    return _above(link, (), words, "1:1")


def _htb(link: Mapping[str, Any]) -> Stage:
    def words(verb: str, rate_bps: int) -> str:
        # A wire is a bucket that holds almost nothing.
        burst = max(1, rate_bps * _SLACK_NS // 8_000_000_000)
        if link["shaper"] == "htb":
            burst = link["burst"]
        return (
            f"class {verb} dev {{dev}} parent 1: classid 1:10 htb rate {rate_bps}bit "
            f"ceil {rate_bps}bit burst {burst}b cburst {burst}b quantum 1514"
        )

    root = f"qdisc add dev {{dev}} root handle 1: {counted(link)}htb default 10"
    return _above(link, (root,), words, "1:10")


def _above(
    link: Mapping[str, Any],
    before: tuple[str, ...],
    words: Callable[[str, int], str],
    parent: str,
) -> Stage:
    """Make the stage of a shaper in these words above the link's queue, which gets the rate as a
    row."""
    queue, rate_bps = link["queue"], link["rate"]
    leaf = f"qdisc add dev {{dev}} parent {parent} handle 10: {leaf_words(queue, rate_bps)}"

    def step(rate_bps: int) -> tuple[str, ...]:
        if not _takes_rate(queue):
            return (words("change", rate_bps),)
        return words("change", rate_bps), _rate_change(queue, rate_bps, parent, "10")

    steps = ((later["at"], step(later["rate"])) for later in link["schedule"])
    own = Queue(
        link["name"], f"{FIRST_HANDLE:x}", queue, rate_bps, rate_bps, (), None, link.get("stage")
    )
    return Stage(
        (*before, words("add", rate_bps), leaf),
        tuple(steps),
        (leaf_words(queue).split()[0],),
        (own,),
        link["shaper"] == "tbf",
    )


def _tree(link: Mapping[str, Any], part: Part) -> Stage:
    """Make the stage of a discipline with classes, or of a queue from which a ring pulls."""
    if part.queue:
        place = f"root handle {part.queue.handle}: {counted(link)}"
        commands = [f"qdisc add dev {{dev}} {place}{_queue_words(part.queue)}"]
        kinds = [f"{leaf_words(part.queue.data).split()[0]} {part.queue.handle}:"]
        return Stage(tuple(commands), (), tuple(kinds), (part.queue,), part=part)
    assert part.tree
    commands = list(_discipline(part.tree, "root", counted(link)))
    steps: dict[int, list[str]] = {}
    for discipline in part.tree.all():
        for at_ns, words in _class_steps(discipline):
            steps.setdefault(at_ns, []).append(words)
    listed = list(part.tree.queues())
    return Stage(
        tuple(commands),
        tuple((at_ns, tuple(words)) for at_ns, words in sorted(steps.items())),
        (
            *(f"{each.kind} {each.handle}:" for each in part.tree.all()),
            *(f"{leaf_words(queue.data).split()[0]} {queue.handle}:" for queue in listed),
        ),
        tuple(listed),
        part=part,
    )


def _discipline(tree: Discipline, place: str, sizes: str = "") -> Iterator[str]:
    """Yield the lines of a discipline at this place, its classes, and all below them."""
    yield f"qdisc add dev {{dev}} {place} handle {tree.handle}: {sizes}{_kind_words(tree)}"
    if tree.kind != "prio":
        for one in _parents_first(tree):
            yield f"class add {_class_words(tree, one)}"
    for one in tree.classes:
        below = f"parent {tree.handle}:{one.minor}"
        if one.inner:
            yield from _discipline(one.inner, below)
        elif one.queue:
            words = _queue_words(one.queue)
            yield f"qdisc add dev {{dev}} {below} handle {one.queue.handle}: {words}"


def _kind_words(tree: Discipline) -> str:
    if tree.kind == "htb":
        return f"htb default {tree.default}" if tree.default else "htb"
    if tree.kind == "drr":
        return "drr"
    # Linux has at least two bands. Packets without a filter go where all priorities lead.
    others = int(tree.default or "1", 16) - 1
    return f"prio bands {max(2, len(tree.classes))} priomap{f' {others}' * 16}"


def _parents_first(tree: Discipline) -> list[Class]:
    """List the classes in the file's order, but each behind its parent."""
    listed: dict[str, Class] = {}
    left = list(tree.classes)
    while ready := [one for one in left if one.parent is None or one.parent in listed]:
        listed |= {one.minor: one for one in ready}
        left = [one for one in left if one.minor not in listed]
    return list(listed.values())


def _class_words(tree: Discipline, one: Class, rates: tuple[int, int] | None = None) -> str:
    """Write a class with all its values, since a change restates them."""
    parent = f"{tree.handle}:{one.parent or ''}"
    words = f"dev {{dev}} parent {parent} classid {tree.handle}:{one.minor} {tree.kind}"
    data = one.data
    if tree.kind == "drr":
        return f"{words} quantum {data['quantum']}"
    rate, ceil = rates or (data["rate"], ceil_of(data))
    words += f" rate {rate}bit ceil {ceil}bit burst {data['burst']}b cburst {data['cburst']}b"
    words += f" prio {data['prio']}"
    return f"{words} quantum {data['quantum']}" if data.get("quantum") else words


def _class_steps(tree: Discipline) -> Iterator[tuple[int, str]]:
    """Yield the times and the lines of later rates of classes, and of their queues' rows."""
    for one in tree.classes if tree.kind == "htb" else ():
        for at_ns, rate, ceil in rate_steps(one.data):
            yield at_ns, f"class change {_class_words(tree, one, (rate, ceil))}"
            yield from ((at_ns, words) for words in _row_changes(tree.handle, one, rate))


def _row_changes(handle: str, one: Class, rate_bps: int) -> Iterator[str]:
    """Yield the lines that tell queues the rate of the class of HTB around them."""
    if one.queue and _takes_rate(one.queue.data):
        yield _rate_change(one.queue.data, rate_bps, f"{handle}:{one.minor}", one.queue.handle)
    if one.inner and one.inner.kind != "htb":
        for below in one.inner.classes:
            yield from _row_changes(one.inner.handle, below, rate_bps)


def _queue_words(queue: Queue) -> str:
    """Write a queue of an end, with the words of its own probes."""
    return leaf_words(queue.data, queue.bandwidth).replace(
        "{probes}", f"{{probes[h{queue.handle}]}}"
    )


def _takes_rate(queue: Mapping[str, Any]) -> bool:
    return not algorithms.find(queue["algorithm"]).alone and _RATE_ROW not in queue


def _rate_change(queue: Mapping[str, Any], rate_bps: int, parent: str, handle: str) -> str:
    """Write the line that tells a queue another rate."""
    row = f"sojourn {algorithms.find(queue['algorithm']).inside} {_rate_words(queue, rate_bps)}"
    return f"qdisc change dev {{dev}} parent {parent} handle {handle}: {row}"


def _rate_words(queue: Mapping[str, Any], rate_bps: int) -> str:
    row = algorithms.find(queue["algorithm"]).rows[_RATE_ROW]
    return " ".join(_row_words(row, rate_bps // 8))


def leaf_words(queue: Mapping[str, Any], rate_bps: int | None = None) -> str:
    """Write our qdisc with the scenario's rows, each by its own name, and the rate of the link; or
    one of the kernel's own qdiscs."""
    rows = {key: value for key, value in queue.items() if key != "algorithm"}
    algorithm = algorithms.find(queue["algorithm"])
    known = algorithm.rows
    if algorithm.alone:
        return _kernel_words(algorithm, rows)
    words = ["sojourn"]
    if rows.get("flows", 0) > 1:
        words.append("fq")
    elif not known["flows"].default:
        rows.pop("flows", None)
    words.append(algorithm.inside)
    if algorithm.probes:
        words.append("{probes}")
    # Packets occupy memory on this host only: a scenario's limits must mean the same on each host.
    rows.setdefault("memory_limit", known["memory_limit"].max)
    for name, number in rows.items():
        words += _row_words(known[name], int(number))
    if rate_bps is not None and _takes_rate(queue):
        words.append(_rate_words(queue, rate_bps))
    return " ".join(words)


def _kernel_words(algorithm: Algorithm, rows: Mapping[str, int]) -> str:
    """Write one of the kernel's own qdiscs in tc's words."""
    name = algorithm.name.removeprefix(STOCK_PREFIX)
    given = {row: algorithm.rows[row].default for row in _ALWAYS.get(name, ())} | dict(rows)
    words = (
        word
        for row, number in given.items()
        for word in _kernel_row_words(algorithm.rows[row], number)
    )
    return " ".join([name, *words])


def _kernel_row_words(row: Row, number: int) -> Iterator[str]:
    """Yield the words of a row. Here tc knows units of times and rates only, and no nanoseconds."""
    if row.kind == "choice":
        yield row.choices[number]
    elif row.kind == "bool":
        if number != row.default:
            yield row.name if number else f"no{row.name}"
    else:
        yield _SPELT.get(row.name, row.name)
        yield _kernel_value(row, number)


def _kernel_value(row: Row, number: int) -> str:
    if row.unit == "ns":
        return f"{number / 1000:.3f}us"
    if row.unit == "bytes/s":
        return f"{8 * number}bit"
    # A size prints itself with its unit, which tc does not know.
    return repr(number / 2**32) if row.unit == "q32" else str(int(number))


def own_words(algorithm: Algorithm, rows: Mapping[str, int]) -> str:
    """Write our qdisc with the rows that differ from their defaults."""
    words = ["sojourn", *["fq"] * (rows.get("flows", 0) > 1), algorithm.inside]
    for name, number in rows.items():
        row = algorithm.rows[name]
        if number != row.default:
            words += _row_words(row, int(number))
    return " ".join(words)


def _row_words(row: Row, number: int) -> list[str]:
    if row.kind == "bool":
        return [row.name if number else f"no{row.name}"]
    return [row.name, value_text(row, number)]


def value_text(row: Row, number: int) -> str:
    """Write a number of our rows as the plugin reads it and prints it, to the last bit."""
    if row.kind == "choice":
        return row.choices[number]
    if row.unit == "ns":
        return _in_largest(number, _TIMES)
    if row.unit == "bytes/s":
        return _in_largest(8 * number, _RATES)
    if row.unit == "q32":
        return _share_text(number)
    return f"{number}{_SUFFIX.get(row.unit, '')}"


def _in_largest(number: int, sizes: Mapping[str, int]) -> str:
    """Write the number in the largest unit that is exact."""
    fits = (unit for unit, size in sizes.items() if size == 1 or (number and number % size == 0))
    unit = next(fits)
    return f"{number // sizes[unit]}{unit}"


def _share_text(number: int) -> str:
    """Write a share of 2^32, whose largest number means always. Ten digits distinguish them all."""
    if number == 2**32 - 1:
        return "1"
    texts = (f"{number / 2**32:.{digits}g}" for digits in range(1, 11))
    return next(text for text in texts if round(float(text) * 2**32) == number)


def _delay(link: Mapping[str, Any], delay_ns: int) -> str:
    """Write netem's words for delay, jitter and loss; return "" where there are none."""
    words = []
    jitter = link["jitter"] if link["jitter"] and link["jitter"]["sd"] else None
    if delay_ns or jitter or link["delays"]:
        words.append(f"delay {_us(delay_ns)}")
    if jitter:
        words.append(_us(jitter["sd"]))
        if jitter["distribution"] == "normal":
            words.append("distribution normal")
        if not jitter["reorder"]:
            words.append(_KEEPS_ORDER)
    if link["loss"]:
        words.append(f"loss {100 * link['loss']:.6f}%")
    return " ".join(words)


def _us(ns: int) -> str:
    """Write a time in us: tc's netem knows no nanoseconds. The kernel rounds to 64 ns."""
    return f"{ns / 1000:.3f}us"
