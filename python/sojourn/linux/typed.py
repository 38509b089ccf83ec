# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Queues as the commands that a person would type: those of a scenario, which are a guest's with a
name for each device, and those of a home's router."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sojourn import algorithms
from sojourn.core.units import Duration, Rate
from sojourn.linux import qdiscs
from sojourn.linux.ends import end_of
from sojourn.linux.plan import Layout, Place, lay
from sojourn.scenario import variant

# A limit of bytes that is never reached.
_NO_LIMIT = 1 << 30


def commands(scenario: Mapping[str, Any]) -> str:
    """Write the commands for the queues of each link that has a rate or an end; the rest is in
    comments. Delay and loss are the network's own and left out."""
    named = [link["name"] for link in scenario["links"] if end_of(link) or link["rate"] is not None]
    laid, _ = lay({**scenario, "record": {**scenario["record"], "queues": named}}, 1)
    lines = [line for place in laid.places for line in _of_place(place, laid)]
    return "\n".join([*lines, *_addresses(laid)]) + "\n"


def _of_place(place: Place, laid: Layout) -> Iterator[str]:
    link, stage = place.link, place.stage.queues[0].stage
    device = _variable(" ".join([link["name"], *([stage] if stage else [])]))
    of = f", stage '{stage}'" if stage else ""
    yield f"# link '{link['name']}' from '{link['from']}' to '{link['to']}'{of}"
    for line in laid.spaces[place.space].qdiscs:
        yield f"tc {line.replace(f' dev {place.device} ', f' dev {device} ')}"
    for at_ns, later in place.stage.timetable:
        yield f"# after {Duration(at_ns)}:"
        yield from (f"# tc {line.format(dev=device)}" for line in later)
    if place.stage.part and place.stage.part.ring:
        yield from _of_ring(place.stage.part.ring, device)
    yield ""


def _variable(text: str) -> str:
    name = re.sub(r"\W+", "_", text).upper()
    return f"${'_' * name[:1].isdigit()}{name}"


def _of_ring(ring: Mapping[str, Any], device: str) -> Iterator[str]:
    """Yield the settings of a card that is such a ring."""
    yield f"# the card of {device} sends at {Rate(ring['rate'])}"
    yield f"ethtool -G {device} tx {ring['packets']}"
    if ring["bql"] is not True:
        limit = ring["bql"] or _NO_LIMIT
        folder = f"/sys/class/net/{device}/queues/tx-0/byte_queue_limits"
        yield from (f"echo {limit} > {folder}/limit_{which}" for which in ("max", "min"))


def _addresses(laid: Layout) -> Iterator[str]:
    """Yield the meaning of the addresses in filters."""
    streams = {key: stream for known in laid.streams.values() for key, stream in known.items()}
    filters = "\n".join(line for space in laid.spaces.values() for line in space.qdiscs)
    for (source, target), stream in streams.items():
        if f" src {source}/" in filters and f" dst {target}/" in filters:
            who = f"of {', '.join(sorted(stream.groups))}" if stream.groups else "of probes"
            ends = f"from '{stream.nodes[0]}' to '{stream.nodes[-1]}'"
            yield f"# {source} to {target}: packets {who} {ends}"


def words(text: str) -> str:
    """Write the words behind `tc qdisc add dev DEV root` for the choice of `--aqm`."""
    chosen = variant.read(text, by="show")
    rows = algorithms.read_rows(chosen.algorithm, chosen.all_rows)
    algorithm = algorithms.find(chosen.algorithm)
    if algorithm.alone:
        return qdiscs.leaf_words({"algorithm": algorithm.name, **rows})
    return qdiscs.own_words(algorithm, rows)


# What arrives is led through a device of the kernel's that has a queue. The name ifb0 is taken: the
# kernel makes two when it loads the module.
_ARRIVING = """\
ip link add name {to} type ifb
ip link set {to} up
tc qdisc replace dev {device} handle ffff: ingress
tc filter replace dev {device} parent ffff: prio 1 handle 1 matchall \
action mirred egress redirect dev {to}
"""
# With a single class the quantum decides nothing; HTB's own would be too large for fast lines.
_SHAPER = """\
tc qdisc replace dev {device} root handle 1: htb default 10
tc class replace dev {device} parent 1: classid 1:10 htb rate {kbit}kbit quantum 1514
tc qdisc replace dev {device} parent 1:10 handle 10: {words}
"""


def shaper(device: str, rate: Rate, queue: str) -> str:
    """Write the commands for a shaper of this rate, and for a queue in these words below it."""
    return _SHAPER.format(device=device, kbit=rate // 1000, words=queue)


def arriving(device: str, to: str, rate: Rate, queue: str) -> str:
    """Write the commands that lead what arrives at a device through such a shaper, that of the
    device `to`, which is made."""
    return _ARRIVING.format(device=device, to=to) + shaper(to, rate, queue)


def router(aqm: str, up: Rate, down: Rate) -> str:
    """Write the commands for a router whose device to the modem is WAN: a shaper of each rate in
    both directions, and this algorithm below it."""
    # Other machines ask for ECN, whatever the default of the row is.
    known = algorithms.find(variant.read(aqm, by="advise").algorithm)
    queue = words(aqm) + " ecn" * (known.ecn and not known.rows["ecn"].default)
    return shaper("WAN", up, queue) + arriving("WAN", "ifb-WAN", down, queue)
