# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Drawing of a network as SVG.

A wide drawing has the nodes in columns, from the first senders to the right, and the labels of
links in columns between them. A narrow one, or one of a network that is too long, is an outline:
node below node, with branches further right. In both no label can meet another.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal

from sojourn.show import theme
from sojourn.show.network import ACROSS, DOWN, Label, Network, Sent, Wire, labels, outline
from sojourn.show.network_words import Box

# Units of the drawing: those of a page at about its width, and of a telephone.
WIDE, NARROW = 760, 360
# A broader drawing takes more of a page than its text; a still wider one would have small letters.
BROAD, _WIDEST = 980, 1256
_SIZE, _LINE = 12, 16
_PAD, _GAP = 8, 14
# Widths at which the words of links and the queues are folded, the first that fit.
_FOLDS = (
    (230, 230),
    (190, 230),
    (150, 230),
    (150, 190),
    (110, 190),
    (110, 160),
    (80, 150),
    (70, 130),
)
_NODE_FOLD = 110
# Between a node and the label of a link.
_CHANNEL = 18
_INK, _SOFT = theme.INK.light, theme.SOFT.light
MEASURED = theme.CALIBRATED.light


@functools.cache
def width_of(words: str, *, is_strong: bool = False) -> float:
    """Measure a text in DejaVu Sans, which is wider than the fonts of most readers."""
    import sojourn.show.fonts  # noqa: F401, before Matplotlib

    # isort: split
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(
        family="DejaVu Sans", weight="bold" if is_strong else "normal", size=_SIZE
    )
    return float(text_to_path.get_text_width_height_descent(words, font, ismath=False)[0])


def folded(words: str, width: float, *, is_strong: bool = False) -> list[str]:
    """Fold a text at its spaces; a word that is too long is cut."""
    lines = [""]
    for word in words.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if width_of(longer, is_strong=is_strong) <= width:
            lines[-1] = longer
            continue
        if lines[-1]:
            lines.append("")
        for letter in word:
            if lines[-1] and width_of(lines[-1] + letter, is_strong=is_strong) > width:
                lines.append("")
            lines[-1] += letter
    return lines


@dataclass(frozen=True)
class Text:
    """A line of text, at the left end of its base."""

    x: float
    y: float
    words: str
    is_strong: bool = False
    colour: str = _INK

    @property
    def width(self) -> float:
        """Return its width, or a little more."""
        return width_of(self.words, is_strong=self.is_strong)


@dataclass(frozen=True)
class Frame:
    """A rectangle: a node or a queue."""

    x: float
    y: float
    width: float
    height: float
    kind: Literal["node", "queue", "measured"]


@dataclass(frozen=True)
class Stroke:
    """A line of a link or of flows, as the path of an SVG; `tip` has the place and the direction of
    an arrow."""

    path: str
    colour: str = _SOFT
    is_dashed: bool = False
    tips: tuple[tuple[float, float, str], ...] = ()


@dataclass
class Drawing:
    """Texts, frames and lines, in units from the upper left corner."""

    width: float = 0
    height: float = 0
    texts: list[Text] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    strokes: list[Stroke] = field(default_factory=list)

    def put(self, other: Drawing, x: float, y: float) -> None:
        """Add texts and frames of another drawing at this place."""
        self.texts += [Text(t.x + x, t.y + y, t.words, t.is_strong, t.colour) for t in other.texts]
        self.frames += [Frame(f.x + x, f.y + y, f.width, f.height, f.kind) for f in other.frames]
        self.width = max(self.width, x + other.width)
        self.height = max(self.height, y + other.height)

    def line(self, x: float, words: str, *, is_strong: bool = False, colour: str = _INK) -> None:
        """Write a line below what there is."""
        self.texts.append(Text(x, self.height + _LINE - 4, words, is_strong, colour))
        self.width = max(self.width, x + self.texts[-1].width)
        self.height += _LINE


def _lines(words: str, width: float, *, is_strong: bool = False, colour: str = _INK) -> Drawing:
    drawing = Drawing()
    for line in folded(words, width, is_strong=is_strong):
        drawing.line(0, line, is_strong=is_strong, colour=colour)
    return drawing


def _box(box: Box, width: float) -> Drawing:
    """Draw a queue, or a stage with its classes; measured ones have the colour of the key."""
    inner = Drawing()
    colour = MEASURED if box.is_measured else _INK
    for words in folded(box.title, width - 2 * _PAD, is_strong=bool(box.lines)):
        inner.line(0, words, is_strong=bool(box.lines), colour=colour)
    for line in box.lines:
        x = 10 * (line.depth + 1 + line.is_note)
        colour = MEASURED if line.is_measured else _SOFT if line.is_note else _INK
        room = max(width - 2 * _PAD - x, 60)
        for i, words in enumerate(folded(line.text, room)):
            inner.line(x + 6 * bool(i), words, colour=colour)
    drawing = Drawing()
    drawing.put(inner, _PAD, 4)
    drawing.width, drawing.height = inner.width + 2 * _PAD, inner.height + 8
    kind: Literal["queue", "measured"] = "measured" if box.is_measured else "queue"
    drawing.frames.append(Frame(0, 0, drawing.width, drawing.height, kind))
    return drawing


def _label(label: Label, width: float, box_width: float, *, is_back: bool = False) -> Drawing:
    """Draw a label to be put above the line of a link, or of the way back below it. Its queues are
    next to the line, at the end where the link begins."""
    boxes = [_box(box, box_width) for box in label.boxes]
    width = max(width, *(box.width for box in boxes)) if boxes else width
    words = _lines(label.title, width, is_strong=True)
    if label.words:
        words.put(_lines(label.words, width), 0, words.height)
    parts = [words, *boxes]
    if is_back:
        parts = [*parts[1:], parts[0]]
    whole = max(part.width for part in parts)
    drawing = Drawing()
    for part in parts:
        drawing.put(part, whole - part.width if is_back else 0, drawing.height)
        drawing.height += 3
    return drawing


def _node(text: str, width: float) -> Drawing:
    inner = _lines(text, width - 2 * _PAD, is_strong=True)
    drawing = Drawing()
    drawing.put(inner, _PAD, 5)
    drawing.width, drawing.height = inner.width + 2 * _PAD, inner.height + 12
    drawing.frames.append(Frame(0, 0, drawing.width, drawing.height, "node"))
    return drawing


@dataclass
class _Item:
    """A node or the label of a link, placed by its axis: the height of its line."""

    column: int
    above: Drawing
    below: Drawing
    near: list[_Item] = field(default_factory=list)
    axis: float = 0

    @property
    def width(self) -> float:
        return max(self.above.width, self.below.width)


def draw(network: Network, width: int = WIDE) -> Drawing:
    """Draw the network with its flows; columns where they fit, or else an outline."""
    if width >= WIDE:
        for folds in _FOLDS:
            columns = _Columns(network, *folds)
            if columns.width <= _WIDEST:
                return columns.drawing()
    return _outline(network, width)


class _Columns:
    """A drawing of columns: nodes in those with even numbers, labels of links between them."""

    def __init__(self, network: Network, fold: float, box_fold: float) -> None:
        self.network = network
        layers = network.layers
        last = max(layers.values())
        self.nodes = {
            key: _node_item(2 * layers[key], node.text) for key, node in network.nodes.items()
        }
        self.wires: list[tuple[Wire, _Item]] = []
        self.low: list[tuple[Wire, _Item]] = []
        for wire in network.wires:
            a, b = sorted(layers[end] for end in wire.ends)
            is_left = layers[wire.there.from_] > layers[wire.there.to]
            # The label of a long link is near its begin; one within a layer is at its right.
            column = 2 * b - 1 if is_left or a == last > 0 else 2 * a + 1
            ways = labels(wire, (ACROSS[1], ACROSS[0], ACROSS[2]) if is_left else ACROSS)
            item = _Item(
                column,
                _label(ways[0], fold, box_fold),
                _label(ways[1], fold, box_fold, is_back=True) if ways[1:] else Drawing(),
            )
            if b - a == 1:
                item.near = [self.nodes[end] for end in wire.ends]
                for node in item.near:
                    node.near.append(item)
                self.wires.append((wire, item))
            else:
                self.low.append((wire, item))
        items = [*self.nodes.values(), *(item for _, item in [*self.wires, *self.low])]
        count = max(item.column for item in items) + 1
        widths = [max((i.width for i in items if i.column == c), default=0.0) for c in range(count)]
        natural = sum(widths) + _CHANNEL * (count - 1) + 2 * _PAD
        self.width: float = max(natural, WIDE)
        channel = _CHANNEL + min((self.width - natural) / max(count - 1, 1), 40.0)
        left = (self.width - natural - (channel - _CHANNEL) * (count - 1)) / 2 + _PAD
        self.lefts, self.rights = [], []
        for width in widths:
            self.lefts.append(left)
            self.rights.append(left + width)
            left += width + channel

    def drawing(self) -> Drawing:
        """Place all, and draw links, nodes, labels and flows."""
        bottom = self._place()
        drawing = Drawing(self.width)
        for wire, item in self.wires:
            self._wire(drawing, wire, item)
        for wire, item in self.low:
            item.axis = bottom + item.above.height + _GAP
            bottom = item.axis + item.below.height
            self._low_wire(drawing, wire, item)
        for node in self.nodes.values():
            x = self._middle(node.column) - node.width / 2
            drawing.put(node.above, x, node.axis - node.above.height / 2)
        drawing.height = max(drawing.height, bottom) + _GAP
        for sent in self.network.flows:
            self._flow(drawing, sent)
        _key(drawing, self.network)
        drawing.width = self.width
        return drawing

    def _middle(self, column: int) -> float:
        return (self.lefts[column] + self.rights[column]) / 2

    def _place(self) -> float:
        """Give each item its axis: near the mean of its neighbours', in the order of the outline.
        Return the lower end."""
        order = {row.node: i for i, row in enumerate(outline(self.network)) if not row.wire}
        key = {id(self.nodes[name]): (place, 0.0) for name, place in order.items()}
        for wire, item in self.wires:
            # A link is ordered by its later node, and several between two nodes as in the file.
            key[id(item)] = (max(order[end] for end in wire.ends), len(key))
        columns: dict[int, list[_Item]] = defaultdict(list)
        for item in [*self.nodes.values(), *(item for _, item in self.wires)]:
            columns[item.column].append(item)
        for items in columns.values():
            items.sort(key=lambda item: key[id(item)])
            _settle(items, [0.0] * len(items))
        numbers = sorted(columns)
        for _ in range(12):
            for column in [*numbers, *reversed(numbers)]:
                items = columns[column]
                means = [
                    sum(near.axis for near in item.near) / len(item.near)
                    if item.near
                    else item.axis
                    for item in items
                ]
                _settle(items, means)
        every = [item for items in columns.values() for item in items]
        top = min(item.axis - _up(item) for item in every) - _PAD
        for item in every:
            item.axis -= top
        return max(item.axis + _down(item) for item in every)

    def _wire(self, drawing: Drawing, wire: Wire, item: _Item) -> None:
        a, b = sorted((self.nodes[end] for end in wire.ends), key=lambda node: node.column)
        left, right = self.lefts[item.column], self.rights[item.column]
        x_a = self._middle(a.column) + a.width / 2
        x_b = self._middle(b.column) - b.width / 2
        in_a, in_b = self.rights[a.column], self.lefts[b.column]
        y = item.axis
        path = (
            f"M{x_a:.1f},{a.axis:.1f}H{in_a:.1f}{_curve(in_a, a.axis, left, y)}"
            f"H{right:.1f}{_curve(right, y, in_b, b.axis)}H{x_b:.1f}"
        )
        tips = [(x_a, a.axis, "left"), (x_b, b.axis, "right")]
        if not wire.back:
            tips = [tips[self.nodes[wire.there.to] is b]]
        drawing.strokes.append(Stroke(path, tips=tuple(tips)))
        self._put_label(drawing, item)

    def _put_label(self, drawing: Drawing, item: _Item) -> None:
        left, right = self.lefts[item.column], self.rights[item.column]
        drawing.put(item.above, left, item.axis - item.above.height)
        drawing.put(item.below, right - item.below.width, item.axis + 3)

    def _low_wire(self, drawing: Drawing, wire: Wire, item: _Item) -> None:
        """Draw a link between nodes that are no neighbours, below all the others."""
        a, b = (self.nodes[end] for end in wire.ends)
        # A link within a layer ends beside its begin, as the lower node covers it.
        is_within = a.column == b.column
        x_a, x_b = self._middle(a.column) - 5 * is_within, self._middle(b.column) + 5 * is_within
        y_a, y_b = (node.axis + node.above.height / 2 for node in (a, b))
        y, corner = item.axis, min(max(item.above.width, 20), 40)
        ends = [x_a, x_b]
        if is_within:
            ends = [x_a, self.lefts[item.column] + corner, x_b]
        path = f"M{x_a:.1f},{y_a:.1f}V{y:.1f}" + "".join(f"H{x:.1f}" for x in ends[1:])
        path += f"V{y_b:.1f}"
        tips = [(x_b, y_b, "up")] + ([(x_a, y_a, "up")] if wire.back else [])
        drawing.strokes.append(Stroke(path, tips=tuple(tips)))
        self._put_label(drawing, item)

    def _flow(self, drawing: Drawing, sent: Sent) -> None:
        """Draw flows as an arrow below the network, from the column of the sender to that of the
        receiver, with their words above it."""
        middles = [
            sum(self._middle(self.nodes[key].column) for key in keys) / len(keys)
            for keys in (sent.begins, sent.ends)
        ]
        left = min(middles)
        words = _lines(sent.text, self.width - 2 * _PAD)
        left = max(min(left, self.width - _PAD - words.width), _PAD)
        drawing.put(words, left, drawing.height)
        y = drawing.height + 6
        direction = "right" if middles[1] >= middles[0] else "left"
        drawing.strokes.append(
            Stroke(
                f"M{middles[0]:.1f},{y:.1f}H{middles[1]:.1f}",
                theme.CURVES[0].light,
                tips=((middles[1], y, direction),),
            )
        )
        drawing.height = y + _GAP


def _curve(x: float, y: float, to_x: float, to_y: float) -> str:
    """Write a curve that begins and ends level."""
    middle = (x + to_x) / 2
    return f"C{middle:.1f},{y:.1f} {middle:.1f},{to_y:.1f} {to_x:.1f},{to_y:.1f}"


def _node_item(column: int, text: str) -> _Item:
    return _Item(column, _node(text, _NODE_FOLD), Drawing())


def _up(item: _Item) -> float:
    is_node = item.column % 2 == 0
    return item.above.height / 2 if is_node else item.above.height


def _down(item: _Item) -> float:
    is_node = item.column % 2 == 0
    return item.above.height / 2 if is_node else item.below.height + 3


def _settle(items: Sequence[_Item], wanted: Sequence[float]) -> None:
    """Place the items of a column in their order, without overlap, as near to the wanted places as
    the sum of squares has it."""
    shifts, shift = [], 0.0
    for i, item in enumerate(items):
        shift += _down(items[i - 1]) + _GAP + _up(item) if i else 0.0
        shifts.append(shift)
    # Neighbours whose wanted order is wrong are moved as one, at their mean.
    blocks: list[list[float]] = []
    for want, shift in zip(wanted, shifts, strict=True):
        blocks.append([want - shift, 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            mean, count = blocks.pop()
            before, others = blocks[-1]
            blocks[-1] = [(before * others + mean * count) / (others + count), others + count]
    places = [mean for mean, count in blocks for _ in range(int(count))]
    for item, place, shift in zip(items, places, shifts, strict=True):
        item.axis = place + shift


# Of an outline: the step to the right of a branch, and of its line.
_STEP, _LANE = 22, 14
# The most that a queue or a stage is wide there.
_BOX = 320


def _outline(network: Network, width: float) -> Drawing:
    """Draw node below node. A lane leads from each node down to those behind it."""
    drawing = Drawing(width, float(_PAD))
    # The place at which the lane of each depth begins: below its latest node.
    lanes: dict[int, float] = {}
    for row in outline(network):
        left = _PAD + _STEP * row.depth
        lane = left + _LANE
        if row.wire is None:
            node = _node(network.nodes[row.node].text, width - left - _PAD)
            if row.depth in lanes:
                path = f"M{lane},{lanes[row.depth]:.1f}V{drawing.height:.1f}"
                drawing.strokes.append(Stroke(path))
            drawing.put(node, left, drawing.height)
            lanes[row.depth] = drawing.height
            drawing.height += 4
            continue
        if row.is_branch:
            y = drawing.height + 8
            begin = lanes[row.depth - 1]
            from_ = lane - _STEP
            path = f"M{from_},{begin:.1f}V{y - 6:.1f}Q{from_},{y} {from_ + 6},{y}H{lane - 6}"
            drawing.strokes.append(Stroke(f"{path}Q{lane},{y} {lane},{y + 6}"))
            lanes[row.depth] = y + 6
            drawing.height = y
        marks = ACROSS if row.to else DOWN
        room = width - lane - 12 - _PAD
        if row.to:
            y = drawing.height + 10
            path = (
                f"M{lane},{lanes[row.depth]:.1f}V{y - 6:.1f}Q{lane},{y} {lane + 6},{y}H{lane + 10}"
            )
            drawing.strokes.append(Stroke(path, tips=((lane + 12, y, "right"),)))
            drawing.put(
                _lines(f"to {network.nodes[row.to].text}", room - 6, colour=_SOFT),
                lane + 18,
                drawing.height,
            )
        parts = labels(row.wire, marks)
        # Where there is room, the way back is beside the way there.
        each = room / len(parts) - _GAP if width >= WIDE else room
        top = drawing.height + 2
        for i, part in enumerate(parts):
            label = _label(part, each, min(each, _BOX))
            is_beside = i > 0 and each < room
            x = lane + 12 + (each + _GAP) * is_beside
            drawing.put(label, x, top if is_beside else drawing.height + 2)
            drawing.height += 0 if is_beside else 4
    drawing.height += _GAP
    for sent in network.flows:
        drawing.put(_lines(sent.text, width - 2 * _PAD), _PAD, drawing.height)
        drawing.height += 5
    _key(drawing, network)
    drawing.width = width
    return drawing


def _key(drawing: Drawing, network: Network) -> None:
    if network.has_measured:
        drawing.height += 2
        drawing.line(_PAD, "Blue: queues that are measured", colour=MEASURED)


_FRAMES = {
    "node": (theme.GROUND.light, _INK, 1.4, 6),
    "queue": (theme.SHADE.light, theme.SOFT.light, 0.8, 2),
    "measured": (theme.SHADE.light, MEASURED, 1.8, 2),
}
_TIPS = {"right": (-8, -4, -8, 4), "left": (8, -4, 8, 4), "up": (-4, 8, 4, 8)}


def _elements(drawing: Drawing) -> Iterator[str]:
    for stroke in drawing.strokes:
        yield f'<path d="{stroke.path}" style="fill: none; stroke: {stroke.colour}"/>'
    for frame in drawing.frames:
        fill, edge, weight, corner = _FRAMES[frame.kind]
        yield (
            f'<rect x="{frame.x:.1f}" y="{frame.y:.1f}" rx="{corner}" '
            f'width="{frame.width:.1f}" height="{frame.height:.1f}" '
            f'style="fill: {fill}; stroke: {edge}; stroke-width: {weight}"/>'
        )
    for stroke in drawing.strokes:
        for x, y, direction in stroke.tips:
            a, b, c, d = _TIPS[direction]
            path = f"M{x:.1f},{y:.1f}l{a},{b}L{x + c:.1f},{y + d:.1f}Z"
            yield f'<path d="{path}" style="fill: {stroke.colour}"/>'
    for text in drawing.texts:
        bold = "; font-weight: 600" if text.is_strong else ""
        yield (
            f'<text x="{text.x:.1f}" y="{text.y:.1f}" style="fill: {text.colour}{bold}">'
            f"{escape(text.words)}</text>"
        )


def svg(drawing: Drawing, words: str, *, is_file: bool = False) -> str:
    """Write an <svg> element. In a page it follows the page's scheme and width; as a file it has
    its own ground and style."""
    width, height = round(drawing.width), round(drawing.height + _PAD)
    style = f"font: {_SIZE}px system-ui, sans-serif"
    head = f'viewBox="0 0 {width} {height}" role="img" aria-label="{escape(words)}"'
    body = "\n".join(_elements(drawing))
    if not is_file:
        return theme.follow(f'<svg {head} style="{style}">\n{body}\n</svg>')
    ground = (
        f"<style>{theme.style_by_scheme()}</style>"
        f'<rect width="{width}" height="{height}" style="fill: {theme.GROUND.light}"/>'
    )
    size = f'xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
    return f'<svg {size} {head} style="{style}">{ground}\n{body}\n</svg>\n'
