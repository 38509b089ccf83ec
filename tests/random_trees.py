# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Drawn links with stages: any kind of stage above another, any algorithm in a class, any load."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from sojourn.algorithms import algorithms, find

# Packets of the drawn flows, with Ethernet's header.
PACKET_BYTES = 1_514
SECONDS = 2


@dataclass
class Drawn:
    """A file, and the offer of each group in Mbit/s; none for TCP."""

    text: str
    offers_mbps: dict[str, float | None] = field(default_factory=dict)


class _Tree:
    """Draws the stages of one link."""

    def __init__(self, rng: random.Random, *, only_fifo: bool) -> None:
        self.rng = rng
        self.leaves = 0
        self.names = 0
        names = sorted(name for name in algorithms() if "sim" in find(name).hosts)
        self.algorithms = ["fifo"] if only_fifo else names
        self.is_odd = not only_fifo
        # Turns and buckets of a byte cost a kernel minutes, or are less exact there.
        self.quanta_bytes = [300, 1514, 9000] if only_fifo else [1, 300, 1514, 9000]
        self.bursts_bytes = [1600, 5000] if only_fifo else [1, 1600, 5000]
        # Who finds the only place of a queue free is decided by the hosts' jitter.
        self.limits = [50, 200, 500] if only_fifo else [1, 5, 50, 500]

    def name(self) -> str:
        self.names += 1
        return f"c{self.names}"

    def leaf(self) -> str:
        """Write the keys of a leaf that takes the group of its number."""
        self.leaves += 1
        algorithm, limit = self.rng.choice(self.algorithms), self.rng.choice(self.limits)
        queue = f'queue = {{ algorithm = "{algorithm}", limit = {limit} }}'
        return f'match = [{{ flows = "g{self.leaves}" }}], {queue}'

    def inside(self, depth: int) -> str:
        """Write a queue, or now and then a discipline, for a class."""
        if depth < 2 and self.rng.random() < 0.15:
            first = self.leaves
            inner = self.discipline(depth + 1)
            groups = ", ".join(f'"g{i + 1}"' for i in range(first, self.leaves))
            return f"match = [{{ flows = [{groups}] }}], inner = {{ {inner} }}"
        return self.leaf()

    def discipline(self, depth: int, kinds: tuple[str, ...] = ("htb", "prio", "drr")) -> str:
        kind = self.rng.choice(kinds)
        if kind == "htb":
            return f'kind = "htb", classes = [{", ".join(self.htb(depth))}]'
        list_name = "bands" if kind == "prio" else "classes"
        entries = []
        for _ in range(self.rng.randint(1, 4)):
            quantum = f', quantum = "{self.rng.choice(self.quanta_bytes)} B"' * (kind == "drr")
            entries.append(f'{{ name = "{self.name()}"{quantum}, {self.inside(depth)} }}')
        return f'kind = "{kind}", {list_name} = [{", ".join(entries)}]'

    def htb(self, depth: int) -> list[str]:
        entries: list[str] = []

        def add(parent: str | None, levels: int, most_kbps: int) -> None:
            rate_kbps = self.rng.randint(100, max(most_kbps, 101))
            ceil_kbps = rate_kbps + self.rng.choice([0, 0, 5_000, 50_000])
            name = self.name()
            keys = f'name = "{name}", rate = "{rate_kbps} kbit/s", ceil = "{ceil_kbps} kbit/s"'
            keys += f', burst = "{self.rng.choice(self.bursts_bytes)} B"'
            keys += f', parent = "{parent}"' if parent else ""
            keys += f", prio = {self.rng.randint(0, 7)}" if self.rng.random() < 0.3 else ""
            keys += ', quantum = "1514 B"' if self.rng.random() < 0.5 else ""
            if self.rng.random() < 0.1:
                later = self.rng.randint(100, 20_000)
                keys += (
                    f', schedule = [{{ at = "1 s", rate = "{later} kbit/s", ceil = "60 Mbit/s" }}]'
                )
            place = len(entries)
            entries.append("")
            children = self.rng.randint(2, 4) if levels > 1 and self.rng.random() < 0.6 else 0
            for _ in range(children):
                add(name, levels - 1, rate_kbps)
            entries[place] = f"{{ {keys} }}" if children else f"{{ {keys}, {self.inside(depth)} }}"

        for _ in range(self.rng.randint(1, 2)):
            add(None, self.rng.randint(1, 4), 20_000)
        if self.is_odd and self.rng.random() < 0.3:
            self.rng.shuffle(entries)
        return entries


def draw(seed: int, *, only_fifo: bool = False) -> Drawn:
    """Draw a file; with `only_fifo` the load is datagrams alone."""
    rng = random.Random(seed)
    tree = _Tree(rng, only_fifo=only_fifo)
    has_ring = rng.random() < 0.4
    kinds = ("htb", "prio", "drr") if has_ring else ("htb",)
    stages = [f'{{ name = "top", {tree.discipline(0, kinds)} }}']
    if has_ring:
        bql = rng.choice(["true", "false", '"6 kB"'])
        packets, rate = rng.choice([0, 1, 16, 256]), rng.randint(1, 60)
        stages.append(
            f'{{ name = "ring", kind = "ring", packets = {packets}, bql = {bql}, '
            f'rate = "{rate} Mbit/s" }}'
        )
    else:
        rate, limit = rng.randint(1, 60), rng.choice([10, 1000])
        stages += [
            f'{{ name = "below", kind = "queue", rate = "{rate} Mbit/s", '
            f'queue = {{ algorithm = "fifo", limit = {limit} }} }}'
        ] * (rng.random() < 0.5)
        if not only_fifo and rng.random() < 0.3:
            algorithm = rng.choice(tree.algorithms)
            stages.append(
                f'{{ name = "last", kind = "htb", default = "rest", classes = [{{ name = "rest", '
                f'rate = "{rng.randint(1, 60)} Mbit/s", queue = "{algorithm}" }}] }}'
            )
    offers: dict[str, float | None] = {}
    flows = []
    for leaf in range(1, tree.leaves + 1):
        name, is_tcp = f"g{leaf}", not only_fifo and rng.random() < 0.4
        offers[name] = (
            None if is_tcp else round(rng.choice([0.2, 2, 10, 40]) * rng.random() + 0.1, 2)
        )
        load = (
            f"count = {rng.randint(1, 3)}"
            if is_tcp
            else f'transport = "udp"\napp = {{ kind = "cbr", rate = "{offers[name]} Mbit/s", '
            'payload = "1472 B" }'
        )
        flows.append(f'[[flows]]\nname = "{name}"\nfrom = "a"\nto = "b"\n{load}\n')
    end = ",\n    ".join(stages)
    text = (
        f'format = 2\nname = "drawn {seed}"\nduration = "{SECONDS} s"\nnodes = ["a", "r", "b"]\n\n'
        f'[[links]]\nname = "in"\nfrom = "a"\nto = "r"\nrate = "1 Gbit/s"\n\n'
        f'[[links]]\nname = "link"\nfrom = "r"\nto = "b"\nend = [\n    {end},\n]\n\n'
        '[[links]]\nname = "back"\nfrom = "b"\nto = "a"\ndelay = "10 ms"\n\n'
        '[[links]]\nname = "answers"\nfrom = "b"\nto = "r"\n\n'
        + "\n".join(flows)
        + '\n[record]\nqueues = ["link"]\n'
    )
    return Drawn(text, offers)


def parts(stage: Any) -> list[Any]:
    """List the classes of a discipline of the engine's data."""
    return list(stage.get("bands") or stage.get("classes") or ())
