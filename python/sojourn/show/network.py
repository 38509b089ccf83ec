# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A picture of a whole network: nodes, links, the queues at each link's begin, and who sends to
whom.

`read` makes a Network of a scenario in the engine's form; like nodes and flows are one entry each.
`outline` orders it from the first sender on, and `text` prints that for a terminal.
`sojourn.show.network_layout` draws it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sojourn.scenario.ends import recorded
from sojourn.show.network_fold import fold, number_of, renumbered, runs, spans, starred
from sojourn.show.network_words import Box, Queues, boxes, flow_words, wire_words, with_media


@dataclass(frozen=True)
class Node:
    """A node, or several like ones."""

    name: str
    count: int = 1

    @property
    def text(self) -> str:
        """Return the name, with the number of nodes where there are several."""
        return self.name if self.count == 1 else f"{self.name} (×{self.count})"


@dataclass(frozen=True)
class Way:
    """One direction of a link, from its queues to the node at its other end."""

    name: str
    from_: str
    to: str
    words: str
    boxes: tuple[Box, ...]

    @property
    def looks(self) -> tuple[str, tuple[Box, ...]]:
        """Return all that the picture shows beside name and ends."""
        return self.words, self.boxes


@dataclass(frozen=True)
class Wire:
    """A link, with the one back if there is one."""

    there: Way
    back: Way | None = None

    @property
    def is_even(self) -> bool:
        """Tell whether both directions are the same but for their names."""
        return self.back is not None and self.back.looks == self.there.looks

    @property
    def ends(self) -> tuple[str, str]:
        """Return both nodes."""
        return self.there.from_, self.there.to

    def other(self, node: str) -> str:
        """Return the node at the other end."""
        a, b = self.ends
        return b if node == a else a

    def away(self, node: str) -> Wire:
        """Return the link with the direction that leaves this node first, where it has that."""
        if self.there.from_ == node or self.back is None:
            return self
        return Wire(self.back, self.there)


@dataclass(frozen=True)
class Sent:
    """Flows of one kind from the same ends, as the picture shows them."""

    name: str
    count: int
    from_: str
    to: str
    words: str
    # The nodes of the picture at which they begin and end.
    begins: tuple[str, ...]
    ends: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the whole sentence."""
        count = f"{self.count} × " if self.count > 1 else ""
        return f"{count}{self.name}: {self.from_} → {self.to}, {self.words}"


@dataclass(frozen=True)
class Network:
    """All that a picture shows. Ways and flows name nodes by the keys of `nodes`."""

    nodes: Mapping[str, Node]
    wires: tuple[Wire, ...]
    flows: tuple[Sent, ...]
    # The layer of each node, from the senders on.
    layers: Mapping[str, int]

    @property
    def has_measured(self) -> bool:
        """Tell whether a queue is measured."""
        return any(
            box.is_measured or any(line.is_measured for line in box.lines)
            for wire in self.wires
            for way in (wire.there, wire.back)
            if way
            for box in way.boxes
        )


def read(scenario: Mapping[str, Any], tested: Mapping[str, str] | None = None) -> Network:
    """Read a scenario in the engine's form. `tested` has words for queues whose algorithms take
    turns, by full names."""
    groups = fold(scenario)
    key_of = {name: first for first, names in groups.items() for name in names}
    nodes = {first: Node(", ".join(spans(names)), len(names)) for first, names in groups.items()}
    names = scenario["record"]["queues"]
    measured = frozenset([*names, *recorded(scenario["links"], names)])
    queues = Queues(measured, tested or {})
    layers = _layers(scenario, key_of)
    links = [with_media(link, scenario.get("media") or ()) for link in scenario["links"]]
    ways = list(_ways(links, key_of, groups, queues))
    wires = tuple(wire.away(min(wire.ends, key=lambda node: layers[node])) for wire in _pairs(ways))
    return Network(nodes, wires, tuple(_flows(scenario, key_of, groups)), layers)


def _ways(
    links: Sequence[Mapping[str, Any]],
    key_of: Mapping[str, str],
    groups: Mapping[str, Sequence[str]],
    queues: Queues,
) -> Iterator[Way]:
    """Make one way of the links between like nodes."""
    alike: dict[tuple[str, str, str], dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for link in links:
        ends = link["from"], link["to"]
        number = _number(ends, key_of, groups)
        key = (key_of[ends[0]], key_of[ends[1]], starred(link["name"], number))
        alike[key][number or link["name"]] = link
    for (from_, to, name), by_number in alike.items():
        first, link = next(iter(by_number.items()))
        own = queues
        if len(by_number) > 1:
            number = runs(by_number)
            link, name = renumbered(link, first, number), name.replace("*", number)
            own = queues.map(partial(renumbered, number=first, text=number))
        delays = [link["delay"] for link in by_number.values()]
        yield Way(name, from_, to, wire_words(link, delays), boxes(link, own))


def _number(
    ends: Sequence[str], key_of: Mapping[str, str], groups: Mapping[str, Sequence[str]]
) -> str:
    """Return the number of the end that is drawn with others; empty where both are alone."""
    return next((number_of(end) for end in ends if len(groups[key_of[end]]) > 1), "")


def _pairs(ways: Sequence[Way]) -> Iterator[Wire]:
    """Join each way with the one back: that of the like name, or else the first."""
    free = dict.fromkeys(ways)
    for way in ways:
        if way not in free:
            continue
        del free[way]
        back = [o for o in free if (o.from_, o.to) == (way.to, way.from_)]
        like = [o for o in back if o.name == f"{way.name} back"] or back
        if like:
            del free[like[0]]
        yield Wire(way, like[0] if like else None)


def _flows(
    scenario: Mapping[str, Any], key_of: Mapping[str, str], groups: Mapping[str, Sequence[str]]
) -> Iterator[Sent]:
    """Join flows that differ by the numbers of their ends, or that a shorthand divided among pairs
    of nodes."""
    alike: dict[tuple[str, ...], list[Mapping[str, Any]]] = defaultdict(list)
    for flow in scenario["flows"]:
        from_, to, name = flow["from"], flow["to"], flow["name"]
        words, plain = flow_words(flow), name.removesuffix(f" {from_}-{to}")
        if plain != name:
            alike[(plain, words)].append(flow)
            continue
        star = starred(name, _number((from_, to), key_of, groups))
        alike[(star, words, key_of[from_], key_of[to])].append(flow)
    for (name, words, *_), flows in alike.items():
        numbers = [_number((flow["from"], flow["to"]), key_of, groups) for flow in flows]
        ends = {key: list(dict.fromkeys(flow[key] for flow in flows)) for key in ("from", "to")}
        yield Sent(
            name.replace("*", runs(numbers)) if all(numbers) else name,
            sum(flow["count"] for flow in flows),
            ", ".join(spans(ends["from"])),
            ", ".join(spans(ends["to"])),
            words,
            tuple(dict.fromkeys(key_of[end] for end in ends["from"])),
            tuple(dict.fromkeys(key_of[end] for end in ends["to"])),
        )


def _layers(scenario: Mapping[str, Any], key_of: Mapping[str, str]) -> dict[str, int]:
    """Place each node in a layer: along the paths of the flows, then beside its neighbours."""
    steps: dict[str, dict[str, None]] = defaultdict(dict)
    for link in scenario["links"]:
        steps[key_of[link["from"]]][key_of[link["to"]]] = None
    ends = {link["name"]: (key_of[link["from"]], key_of[link["to"]]) for link in scenario["links"]}
    layers: dict[str, int] = {}
    seen = set()
    for flow in scenario["flows"]:
        way = (key_of[flow["from"]], key_of[flow["to"]])
        if flow.get("path"):
            path = [ends[flow["path"][0]][0], *(ends[name][1] for name in flow["path"])]
        elif way in seen:
            continue
        else:
            path = _path(steps, *way)
        seen.add(way)
        _place(layers, path)
    around: dict[str, list[str]] = defaultdict(list)
    for from_, tos in steps.items():
        for to in tos:
            around[from_].append(to)
            around[to].append(from_)
    for start in dict.fromkeys(key_of.values()):
        if start not in layers:
            # What no flow passes is to the right of its neighbours.
            near = [layers[other] + 1 for other in around[start] if other in layers]
            layers[start] = max(near, default=0)
    least = min(layers.values())
    return {node: layer - least for node, layer in layers.items()}


def _path(steps: Mapping[str, Mapping[str, None]], from_: str, to: str) -> list[str]:
    """Find the way with the fewest links; none where there is no way."""
    before = {from_: from_}
    queue = deque([from_])
    while queue and to not in before:
        node = queue.popleft()
        for other in steps.get(node, ()):
            if other not in before:
                before[other] = node
                queue.append(other)
    if to not in before:
        return [from_, to]
    path = [to]
    while path[-1] != from_:
        path.append(before[path[-1]])
    return path[::-1]


def _place(layers: dict[str, int], path: Sequence[str]) -> None:
    """Place the nodes of a path that have no layer yet, one by one from those that have."""
    known = [i for i, node in enumerate(path) if node in layers]
    if not known:
        layers |= {node: i for i, node in enumerate(dict.fromkeys(path))}
        return
    # A path that goes back, from the right to the left, has falling layers.
    first, last = known[0], known[-1]
    step = -1 if layers[path[first]] > layers[path[last]] else 1
    for i in range(first - 1, -1, -1):
        layers.setdefault(path[i], layers[path[i + 1]] - step)
    for i in range(first + 1, len(path)):
        layers.setdefault(path[i], layers[path[i - 1]] + step)


@dataclass(frozen=True)
class Row:
    """A row of an outline: a node, or a link to the node of a later row. `depth` counts the
    branches that it is in."""

    depth: int
    node: str = ""
    wire: Wire | None = None
    # The link begins a branch.
    is_branch: bool = False
    # The node of an earlier row, to which the link goes back.
    to: str = ""


def outline(network: Network) -> list[Row]:
    """Order the network from the first node on. The longest way goes on at the same depth; the
    others are branches before it."""
    around: dict[str, list[Wire]] = defaultdict(list)
    for wire in network.wires:
        for end in dict.fromkeys(wire.ends):
            around[end].append(wire)
    children: dict[str, list[tuple[Wire, str]]] = defaultdict(list)
    others: dict[str, list[Wire]] = defaultdict(list)
    order: list[str] = []
    used: set[int] = set()
    seen: set[str] = set()
    tops = []
    for top in sorted(network.nodes, key=lambda node: network.layers[node]):
        if top not in seen:
            tops.append(top)
            _walk(top, around, children, others, order, used, seen)
    length: dict[str, int] = {}
    for node in reversed(order):
        length[node] = 1 + max((length[child] for _, child in children[node]), default=0)
    rows: list[Row] = []
    for top in tops:
        rows += _rows(top, children, others, length)
    return rows


def _walk(
    top: str,
    around: Mapping[str, Sequence[Wire]],
    children: dict[str, list[tuple[Wire, str]]],
    others: dict[str, list[Wire]],
    order: list[str],
    used: set[int],
    seen: set[str],
) -> None:
    """Find a tree of the links, depth first; the others belong to the later of their nodes."""
    seen.add(top)
    order.append(top)
    stack = [(top, iter(around.get(top, ())))]
    while stack:
        node, wires = stack[-1]
        wire = next(wires, None)
        if wire is None:
            stack.pop()
        elif id(wire) not in used:
            used.add(id(wire))
            other = wire.other(node)
            if other in seen:
                others[node].append(wire.away(node))
                continue
            seen.add(other)
            order.append(other)
            children[node].append((wire.away(node), other))
            stack.append((other, iter(around[other])))


def _rows(
    top: str,
    children: Mapping[str, Sequence[tuple[Wire, str]]],
    others: Mapping[str, Sequence[Wire]],
    length: Mapping[str, int],
) -> Iterator[Row]:
    stack: list[Row] = [Row(0, top)]
    while stack:
        row = stack.pop()
        yield row
        if row.wire is not None:
            continue
        node, depth = row.node, row.depth
        for wire in others.get(node, ()):
            yield Row(depth, wire=wire, to=wire.other(node))
        # The last of the longest goes on; sorting keeps the order of the others.
        below = sorted(children.get(node, ()), key=lambda child: length[child[1]])
        later: list[Row] = []
        for i, (wire, child) in enumerate(below):
            is_branch = i + 1 < len(below)
            inner = depth + is_branch
            later += [Row(inner, wire=wire, is_branch=is_branch), Row(inner, child)]
        stack += reversed(later)


@dataclass(frozen=True)
class Label:
    """What is written at a link of one direction, or of both where they are alike."""

    title: str
    words: str
    boxes: tuple[Box, ...]


# Arrows of a link: there, back, both.
Marks = tuple[str, str, str]
ACROSS: Marks = ("→", "←", "↔")
DOWN: Marks = ("↓", "↑", "↕")


def labels(wire: Wire, marks: Marks) -> list[Label]:
    """Label a link; the three marks show there, back, and both."""
    there, back, both = marks
    way, other = wire.there, wire.back
    if other and wire.is_even:
        words = f"{way.words} each way" if way.words else ""
        names = [way.name, other.name]
        if names[0] == f"{names[1]} back":
            names.reverse()
        names[1] = f"{both}\u00a0back" if names[1] == f"{names[0]} back" else f"{both} {names[1]}"
        return [Label(" ".join(names), words, way.boxes)]
    ways = [(there, way), (back, other)]
    return [Label(f"{mark} {each.name}", each.words, each.boxes) for mark, each in ways if each]


def text(network: Network) -> str:
    """Draw the network in lines of text."""
    lines: list[str] = []
    for row in outline(network):
        bars = "│  " * row.depth
        if row.wire is None:
            lines.append(bars + network.nodes[row.node].text)
            continue
        if row.is_branch:
            lines.append("│  " * (row.depth - 1) + "├──╮")
        if row.to:
            lines.append(f"{bars}├─ to {network.nodes[row.to].text}:")
        marks = ACROSS if row.to else DOWN
        lines += [f"{bars}│    {line}" for line in _label_lines(row.wire, marks)]
    lines += ["", "Who sends to whom", *(f"  {sent.text}" for sent in network.flows)]
    return "\n".join(lines).replace("\u00a0", " ") + "\n"


def _label_lines(wire: Wire, marks: Marks) -> Iterator[str]:
    for label in labels(wire, marks):
        yield ": ".join(filter(None, [label.title, label.words]))
        for box in label.boxes:
            yield f"  [{box.title}]{' (measured)' if box.is_measured else ''}"
            for line in box.lines:
                mark = " (measured)" if line.is_measured else ""
                yield f"  {'  ' * (line.depth + 1 + line.is_note)}{line.text}{mark}"
