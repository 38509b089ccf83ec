# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A model gets the inputs of another program's queue, and must make the same decisions.

Nothing of the C core takes part. The model follows random decisions; how often
that was to be expected is then compared with how often it happened.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, field
from importlib import import_module

from models.queue import Packet
from tests.algorithms import ALGORITHMS
from tests.models.beside import NS
from tests.models.witnessed import ARRIVED, ASKED, BEGAN, Child, Recorded, Row, Witnessed, load

CE = 3


@dataclass
class Found:
    """The result of a replay; a difference has raised already."""

    events: int = 0
    drops: int = 0
    marks: int = 0
    draws: list[tuple[float, bool]] = field(default_factory=list)
    figures: str = ""

    def surprise(self) -> float:
        """By how many standard deviations the draws came out otherwise than expected."""
        expected = sum(p for p, _ in self.draws)
        variance = sum(p * (1 - p) for p, _ in self.draws)
        return (sum(hit for _, hit in self.draws) - expected) / math.sqrt(variance)


# Of an algorithm, and with the suffix of one that has both of the queue that ns-2 has.
NS2_TOO = "-ns2"
KINDS: dict[str, Witnessed] = {
    f"{name}{suffix}": getattr(module, attribute)()
    for name in ALGORITHMS
    if (module := import_module(f"tests.algorithms.{name}"))
    for attribute, suffix in (("WITNESSED", ""), ("WITNESSED_NS2", NS2_TOO))
    if hasattr(module, attribute)
}
# By the names of recordings.
CHILDREN: dict[str, tuple[str, Child]] = {
    name: (kind, child) for kind, how in KINDS.items() for name, child in how.children.items()
}


def table(recorded: Recorded) -> list[Row]:
    """Row by row."""
    names = [name for name, column in recorded.items() if column.ndim]
    rows = zip(*(recorded[name].tolist() for name in names), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def follow(name: str, recorded: Recorded) -> Found:
    """Replay a recording in its model; raise at the first difference."""
    of, child = CHILDREN[name]
    kind = KINDS[of]
    rows = table(recorded)
    judge = kind.judge()
    model = kind.model(rows, child, judge)
    found = Found(draws=judge.draws)
    ecn: dict[int, int] = {}
    for index, row in enumerate(rows):
        if row["kind"] == BEGAN:
            continue
        now_s = kind.now_ns(row) * NS
        number, before = row["packet"], ecn.get(row["packet"], row["ecn_before"])
        # A mark on a packet that then found no room is of no consequence.
        taken = row["kind"] == ASKED or row["let_in"]
        marked = [number] if taken and row["ecn_after"] == CE != before else []
        where = f"{name}: record {index} at {row['ns']} ns"
        kind.begin(model, row)
        if row["kind"] == ARRIVED:
            judge.signalled = not row["let_in"] or bool(marked)
            have = model.arrive(now_s, Packet(number, row["len"], kind.flow(row), before != 0))
            assert (number not in have.dropped) == row["let_in"], f"{where}: {have}"
        else:
            have = model.request(now_s)
            assert (have.sent or 0) == number, f"{where}: {have}, recorded: sent {number}"
        # one that came with CE looks like one that was marked
        seen = [packet for packet in have.marked if ecn.get(packet, before) != CE]
        assert seen == marked, f"{where}: {have}, recorded: marked {marked}"
        ecn[number] = row["ecn_after"]
        found.events += 1
        found.drops += len(have.dropped)
        found.marks += len(marked)
        assert found.drops == row["drops"], f"{where}: {found}, recorded: {row['drops']} drops"
        held = len(model.all_waiting())
        assert held == row["held"], f"{where}: {held} wait, recorded {row['held']}"
        try:
            kind.check(model, row)
        except AssertionError as error:
            raise AssertionError(f"{where}: {error}") from None
    found.figures = kind.figures(model)
    return found


def main() -> None:
    """Print the figures of each replay."""
    parser = argparse.ArgumentParser(description="Replay what other queues were given.")
    parser.add_argument("names", nargs="*", choices=[*CHILDREN, []], help="some of them")
    for name in parser.parse_args().names or sorted(CHILDREN):
        found = follow(name, load(name))
        print(f"{name}: {found.events} events, {found.drops} drops, {found.marks} marks")
        if found.draws:
            expected, hits = (sum(column) for column in zip(*found.draws, strict=True))
            print(f"  drawn: {hits}, expected {expected:.1f} ({found.surprise():+.2f} sd)")
        if found.figures:
            print(f"  {found.figures}")


if __name__ == "__main__":
    main()
