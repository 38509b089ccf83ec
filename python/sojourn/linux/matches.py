# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Filters of tc: which packets go to which class.

u32 looks at addresses, DSCP and protocol. A group of flows is known by its pair of addresses. u32
compares a packet with each filter in turn; a table of 256 buckets spares it that where there are
many.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

# More filters than these are hashed.
MOST_IN_TURN = 16
BUCKETS = 256
# Protocol and priority of the filters of a version of IP, and u32's word for its headers.
U32 = {4: ("ip prio 1", "ip"), 6: ("ipv6 prio 2", "ip6")}
# For the packets that no other filter takes.
_LAST = "protocol all prio 9 matchall"
# Where an address's last four bytes are in the header.
_ADDRESS_AT = {4: {"src": 12, "dst": 16}, 6: {"src": 20, "dst": 36}}
_PROTOCOLS: dict[str, dict[int, tuple[int, ...]]] = {
    "tcp": {4: (6,), 6: (6,)},
    "udp": {4: (17,), 6: (17,)},
    "probe": {4: (1, 253), 6: (58, 253)},
}
# Keys of an entry that ask for packets of certain ends; a pair of addresses tells them.
_OF_ENDS = ("flows", "from", "to", "via")


@dataclass(frozen=True)
class Stream:
    """Packets of one pair of addresses, and all that `match` can ask of them but their DSCP."""

    ip: int
    source: str
    target: str
    nodes: tuple[str, ...]  # on their way, ends included
    groups: frozenset[str] = frozenset()  # of flows; none: probes or their answers

    @property
    def is_probe(self) -> bool:
        """Tell whether they are probes or answers to probes."""
        return not self.groups

    def fits(self, entry: Mapping[str, Any]) -> bool:
        """Tell whether an entry's ends fit."""
        kinds = entry.get("transport")
        return (
            _meets(entry.get("flows"), self.groups)
            and _meets(entry.get("from"), self.nodes[:1])
            and _meets(entry.get("to"), self.nodes[-1:])
            and _meets(entry.get("via"), self.nodes)
            and (not kinds or bool({*kinds} & self._kinds))
        )

    @property
    def _kinds(self) -> set[str]:
        # Groups of both transports may have one pair of addresses.
        return {"probe"} if self.is_probe else {"tcp", "udp"}


def _meets(asked: Iterable[str] | None, there: Iterable[str]) -> bool:
    return not asked or not {*asked}.isdisjoint(there)


@dataclass(frozen=True)
class Filter:
    """One filter of u32: the words that a packet must fit, and the class that it then goes to."""

    ip: int
    words: str
    to: str
    # The key of its bucket, where it has one: an address's last byte, by 'src' and 'dst'.
    keys: Mapping[str, int] | None = None


def filters(
    entries: Iterable[tuple[Mapping[str, Any], str]],
    streams: Sequence[Stream],
    versions: Iterable[int],
) -> Iterator[Filter]:
    """Yield the filters of entries of `match`, each with its class, in order."""
    for entry, to in entries:
        if any(entry.get(key) for key in _OF_ENDS):
            for stream in streams:
                if stream.fits(entry):
                    yield from _of_stream(entry, stream, to)
        else:
            for ip in versions:
                for words in _field_words(entry, ip, entry.get("transport") or ()):
                    yield Filter(ip, words, to)


def of_pair(stream: Stream, to: str) -> Filter:
    """Make the filter of all packets of a pair of addresses."""
    bits, (_, word) = 32 if stream.ip == 4 else 128, U32[stream.ip]
    words = f"match {word} src {stream.source}/{bits} match {word} dst {stream.target}/{bits}"
    keys = {"src": _last_byte(stream.source), "dst": _last_byte(stream.target)}
    return Filter(stream.ip, words, to, keys)


def _last_byte(address: str) -> int:
    return (
        int(address.rpartition(":")[2], 16) % 256
        if ":" in address
        else int(address.rpartition(".")[2])
    )


def _of_stream(entry: Mapping[str, Any], stream: Stream, to: str) -> Iterator[Filter]:
    pair = of_pair(stream, to)
    kinds = [] if stream.is_probe else [k for k in entry.get("transport") or () if k != "probe"]
    for words in _field_words(entry, stream.ip, kinds):
        yield Filter(stream.ip, f"{pair.words} {words}".strip(), to, pair.keys)


def _field_words(entry: Mapping[str, Any], ip: int, kinds: Iterable[str]) -> Iterator[str]:
    """Yield words for each DSCP and protocol that an entry lets pass."""
    word = U32[ip][1]
    numbers = [number for kind in kinds for number in _PROTOCOLS[kind][ip]]
    protocols = [f"match {word} protocol {number} 0xff" for number in numbers] or [""]
    codes: Iterable[int | None] = entry.get("dscp") or (None,)
    for dscp in codes:
        for protocol in protocols:
            yield " ".join(filter(None, [_dscp_words(dscp, ip), protocol]))


def _dscp_words(dscp: int | None, ip: int) -> str:
    if dscp is None:
        return ""
    if ip == 6:
        return f"match u16 {dscp << 6:#x} 0xfc0 at 0"
    return f"match ip dsfield {dscp << 2:#x} 0xfc"


def lines(
    wanted: Iterable[Filter], parent: str, last: str | None = None, table: int = 2
) -> Iterator[str]:
    """Yield tc's lines of filters at a qdisc: their order is kept, and a table is used where more
    than a few filters of addresses follow each other. `last` takes all other packets."""
    by_version: dict[int, list[Filter]] = {}
    for one in wanted:
        by_version.setdefault(one.ip, []).append(one)
    for ip, ordered in sorted(by_version.items()):
        head = f"filter add dev {{dev}} parent {parent} protocol {U32[ip][0]}"
        for hashed, run in groupby(ordered, key=_has_key):
            listed = list(run)
            if hashed and len(listed) > MOST_IN_TURN:
                word = _spreading(listed)
                where = _ADDRESS_AT[ip][word]
                keyed = [(one.keys[word], one) for one in listed if one.keys]
                yield from _table(head, table, keyed, f"mask 0x000000ff at {where}")
                table += 1
            else:
                yield from (_line(head, one) for one in listed)
    if last:
        yield f"filter add dev {{dev}} parent {parent} {_LAST} flowid {last}"


def _has_key(one: Filter) -> bool:
    return one.keys is not None


def _line(head: str, one: Filter) -> str:
    return f"{head} u32 {one.words or 'match u32 0 0'} flowid {one.to}"


def _spreading(listed: Iterable[Filter]) -> str:
    """Return the address whose last bytes differ most."""
    keys = [one.keys for one in listed if one.keys]
    spread = {word: len({key[word] for key in keys}) for word in ("dst", "src")}
    return max(spread, key=lambda word: spread[word])


def _table(head: str, table: int, keyed: Iterable[tuple[int, Filter]], key: str) -> Iterator[str]:
    yield f"{head} handle {table:x}: u32 divisor {BUCKETS}"
    for bucket, one in keyed:
        yield f"{head} u32 ht {table:x}:{bucket:x}: {one.words} flowid {one.to}"
    yield f"{head} u32 match u32 0 0 link {table:x}: hashkey {key}"


# A flow's port: version of IP, and its packets' destination port ('dport') or source port
# ('sport').
Port = tuple[int, str, int]
# Both ports are in the first four bytes behind IP's header.
_PORTS_AT = {4: 20, 6: 40}
_LOW_BYTE = {"sport": "0x00ff0000", "dport": "0x000000ff"}


def port_lines(classes: Mapping[Port, str], parent: str) -> Iterator[str]:
    """Yield tc's lines of the filters of ports at a qdisc, each with its class."""
    table = 2
    kinds = sorted({(ip, word) for ip, word, _ in classes})
    for kind in kinds:
        ip, word = kind
        head = f"filter add dev {{dev}} parent {parent} protocol {U32[ip][0]}"
        listed = [
            (port % BUCKETS, Filter(ip, f"match {U32[ip][1]} {word} {port} 0xffff", to))
            for (*of, port), to in classes.items()
            if tuple(of) == kind
        ]
        if len(listed) > MOST_IN_TURN:
            key = f"mask {_LOW_BYTE[word]} at {_PORTS_AT[ip]}"
            yield from _table(head, table, listed, key)
            table += 1
        else:
            yield from (_line(head, one) for _, one in listed)
