# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""follow.py: our model, changed where the kernel's dualpi2 is otherwise, does what that one did.

    python -m validation.dualpi2.follow [--renew]

replays recording.npz packet by packet and prints what it found, or renews that in
docs/reference/algorithms/dualpi2.md. Each thing that the kernel does otherwise is a method of
`KernelDualPi2`; with the RFC's in its place (`RFC_S`) the model does not follow.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from models.dualpi2 import DualPi2, Lane
from models.queue import Judge, Packet, Why
from tests.models.follow import CE, Found, table
from tests.models.witnessed import ARRIVED, ASKED, BEGAN, Recorded, Row
from validation.dualpi2.page import put
from validation.dualpi2.recording import load

MARKS = ("followed: made by `python -m validation.dualpi2.follow --renew`", "end of followed")
NS = 1e-9
MS = 1_000_000
MAX_PROB = 2**32 - 1


class Told(Judge):
    """Draws as was recorded: which packets of a request were lost, and whether the one that left
    was marked for p'. Nothing else is told."""

    def __init__(self) -> None:
        self.sent, self.offered, self.coupled = 0, 0, False
        self.draws: list[tuple[float, bool]] = []

    def below(self, what: str, value: float, bound: float) -> bool:
        if what != "signal":
            return value < bound
        hit = self.offered != self.sent or self.coupled
        self.draws.append((bound, hit))
        return hit


class KernelDualPi2(DualPi2):
    """With the defaults of sch_dualpi2.c. p' comes from outside; credits are in hundredths."""

    def __init__(self, told: Told) -> None:
        self.told = told
        super().__init__(
            judge=told, uniform=lambda: 0.0, ecn=True, mtu=1514, limit_pkts=10_000, start_s=1e9
        )
        self.coupled = self.steps = 0
        self.native = Lane()  # a count for one that marks along the ramp

    def set_base(self, prob: int) -> None:
        self.base = prob / 2**32
        self.p_cl, self.p_c = self.k * self.base, self.base**2

    # The credit's first value and its share; L4S goes first also at 0.

    def favour_l4s(self) -> None:
        self.credit = (10 - 90) * self.mtu

    def charge(self, lane: Lane, packet: Packet) -> None:
        other = self.cq if lane is self.lq else self.lq
        if other.packets:
            self.credit += (10 if lane is self.lq else -90) * packet.size

    def scheduler(self, now_s: float) -> Lane:
        if not self.lq.packets or not self.cq.packets:
            return self.lq if self.lq.packets else self.cq
        return self.lq if self.credit <= 0 else self.cq

    # Signals are drawn, and none is for p' below two full packets.

    def recur(self, lane: Lane, likelihood: float) -> bool:
        return not self.is_quiet() and self.chance(likelihood)

    def is_quiet(self) -> bool:
        return self.bytes < 2 * self.mtu

    # The step is apart from p': a packet may be marked for both.

    def laqm(self, delay_s: float) -> float:
        return float(delay_s > 0.001)

    def is_dropped(self, now_s: float, lane: Lane, packet: Packet) -> bool:
        self.told.offered = packet.number
        if lane is self.cq:
            dropped = super().is_dropped(now_s, lane, packet)
            self.coupled += packet.marked
            return dropped
        overload = self.p_cl > 1 and not self.is_quiet()
        self.told.coupled &= not overload
        hit = self.recur(lane, self.p_c if overload else self.p_cl)
        if overload and hit:
            return True
        step = self.laqm(now_s - packet.arrived_s) > 0
        self.coupled += overload or hit
        self.steps += step
        if overload or hit or step:
            self.signals_for = Why.DELAY if step else Why.EARLY
            self.mark(packet)
        return False


@dataclass
class Controller:
    """p' by the kernel's integers. Its timer's times are not recorded: each is worked out of p'
    before and after, and must be 16 ms behind the one before."""

    at_ns: int
    prob: int = 0
    before_ns: int = 0
    late_ns: list[int] = field(default_factory=list)

    TARGET_NS, TUPDATE_NS, ALPHA, BETA = 15 * MS, 16 * MS, 44, 879
    # Readings of the clock; and a change of p' is known to 64 of 923 parts of a nanosecond.
    SLACK_NS = 1_000

    def updates(self, prob: int, head_ns: int | None, until_ns: int) -> None:
        """Until the next event, before which p' is `prob`; the first packet came at `head_ns`."""
        while (due_ns := self.at_ns + self.TUPDATE_NS) <= until_ns:
            if due_ns + self.SLACK_NS > until_ns and prob == self.prob:
                return
            is_last = due_ns + self.TUPDATE_NS > until_ns
            if head_ns is not None and is_last and 0 < prob < MAX_PROB:
                self.at_ns = self.work_out(prob, head_ns, due_ns)
                self.prob, self.before_ns = prob, self.at_ns - head_ns
                continue
            self.at_ns = due_ns
            delay_ns = 0 if head_ns is None else due_ns - head_ns
            self.prob = self.moved(delay_ns)
            self.before_ns = delay_ns
        assert self.prob == prob, f"p' is {prob}, by the controller {self.prob}"

    def work_out(self, prob: int, head_ns: int, due_ns: int) -> int:
        """When p' must have been updated, to have become this."""
        change = 64 * (prob - self.prob) + self.TARGET_NS * self.ALPHA + self.before_ns * self.BETA
        at_ns = head_ns + round(change / (self.ALPHA + self.BETA))
        self.late_ns.append(at_ns - due_ns)
        assert abs(at_ns - due_ns) <= self.SLACK_NS, f"updated {at_ns - due_ns} ns late"
        return at_ns

    def moved(self, delay_ns: int) -> int:
        change = (delay_ns - self.TARGET_NS) * self.ALPHA
        change += (delay_ns - self.before_ns) * self.BETA
        size = abs(change) // 64
        return min(max(self.prob + (size if change > 0 else -size), 0), MAX_PROB)


def heads_ns(model: DualPi2) -> Iterator[int]:
    """When the first packet of each queue came."""
    for lane in (model.lq, model.cq):
        if lane.packets:
            yield round(lane.packets[0].arrived_s / NS)


def follow(recorded: Recorded, model: type[KernelDualPi2] = KernelDualPi2) -> Found:
    """Replay the recording; raise at the first difference."""
    rows = table(recorded)
    assert rows[0]["kind"] == BEGAN
    zero_ns = rows[0]["ns"]
    told = Told()
    queue = model(told)
    controller = Controller(0)
    found, before = Found(draws=told.draws), rows[0]
    came: dict[int, int] = {}
    for index, row in enumerate(rows[1:], 1):
        where = f"record {index} at {row['ns'] - zero_ns} ns"
        try:
            now_ns = row["ns"] - zero_ns
            controller.updates(row["prob"], min(heads_ns(queue), default=None), now_ns)
            queue.set_base(row["prob"])
            if row["kind"] == ARRIVED:
                came[row["packet"]] = row["ecn_before"]
                arrive(queue, row, now_ns)
            else:
                ask(queue, row, before, now_ns, came)
                assert queue.credit == row["credit"], f"credit {queue.credit}: {row['credit']}"
            assert (queue.coupled + queue.steps, queue.steps) == (
                row["ecn_mark"],
                row["step_marks"],
            )
            assert len(queue.waiting) == row["held"]
        except AssertionError as error:
            raise AssertionError(f"{where}: {error}") from None
        found.events += 1
        before = row
    found.drops, found.marks = before["drops"], before["ecn_mark"]
    late = controller.late_ns
    found.figures = f"{len(late)} updates of p' are {min(late)} to {max(late)} ns from their time"
    return found


def arrive(queue: KernelDualPi2, row: Row, now_ns: int) -> None:
    """It must be let in."""
    ecn = row["ecn_before"]
    packet = Packet(row["packet"], row["len"], ect=ecn > 0, ecn=ecn)
    assert row["let_in"] and not queue.arrive(now_ns * NS, packet).dropped


def ask(queue: KernelDualPi2, row: Row, before: Row, now_ns: int, came: dict[int, int]) -> None:
    """The packet that leaves, those that were lost for it, and its mark."""
    told = queue.told
    steps = row["step_marks"] - before["step_marks"]
    told.sent = row["packet"]
    told.coupled = row["ecn_mark"] - before["ecn_mark"] > steps
    have = queue.request(now_ns * NS)
    assert (have.sent or 0) == row["packet"], f"{have}, recorded: sent {row['packet']}"
    lost = row["drops"] - before["drops"]
    assert len(have.dropped) == lost, f"{have}, recorded: {lost} lost"
    if row["packet"]:
        marked = came[row["packet"]] == CE or row["packet"] in have.marked
        assert marked == (row["ecn_after"] == CE), f"{have}, recorded: {row['ecn_after']}"


def is_noisy(queue: KernelDualPi2) -> bool:
    """Signals of p' also for a short queue."""
    return False


def spaced(queue: KernelDualPi2, lane: Lane, likelihood: float) -> bool:
    """Figure 4's recurrence."""
    return not queue.is_quiet() and DualPi2.recur(queue, lane, likelihood)


def ramp(queue: KernelDualPi2, delay_s: float) -> float:
    """Marks along figure 5's ramp, by figure 4's recurrence."""
    return float(DualPi2.recur(queue, queue.native, DualPi2.laqm(queue, delay_s)))


def sixteenth(queue: KernelDualPi2, lane: Lane, packet: Packet) -> None:
    """A.2's share of the Classic queue."""
    other = queue.cq if lane is queue.lq else queue.lq
    if other.packets:
        queue.credit += (6.25 if lane is queue.lq else -93.75) * packet.size


def full_packet(queue: KernelDualPi2) -> None:
    """The credit that the Classic queue starts with in ours."""
    queue.credit = -90 * queue.mtu


# By what they are, what the RFC or ours has in place of the kernel's.
RFC_S: dict[str, dict[str, Any]] = {
    "the step at 1 ms": {"laqm": ramp},
    "the share of 10 %": {"charge": sixteenth},
    "drawing": {"recur": spaced},
    "silence of p' below two full packets": {"is_quiet": is_noisy},
    "the first credit of 0.8 full packets": {"favour_l4s": full_packet},
}


def without(name: str) -> type[KernelDualPi2]:
    """The model with the RFC's in one place."""
    return type("Without", (KernelDualPi2,), RFC_S[name])


def lines(recorded: Recorded) -> Iterator[str]:
    """What was found."""
    found = follow(recorded)
    expected, hits = (sum(column) for column in zip(*found.draws, strict=True))
    over = sum(row["kind"] == ASKED and 2 * row["prob"] > MAX_PROB for row in table(recorded))
    steps = recorded["step_marks"][-1]
    yield f"- Linux {recorded['release']}: {found.events} events, {over} of them in overload;"
    yield f"  {found.drops} drops, {found.marks} marks, {steps} of these for the step."
    yield f"  No difference. Drawn: {hits} signals, where {expected:.1f} were to be expected"
    yield f"  ({found.surprise():+.2f} standard deviations). {found.figures}."
    for name in RFC_S:
        try:
            follow(recorded, without(name))
        except AssertionError as error:
            yield f"- Without {name} it differs first at {str(error).split(' at ')[0]}."


def main() -> None:
    """Print what was followed, or renew it in the page."""
    parser = argparse.ArgumentParser(description="Our model beside the kernel's decisions.")
    parser.add_argument("--renew", action="store_true", help="write it into the page")
    options = parser.parse_args()
    found = list(lines(load()))
    if options.renew:
        put(*MARKS, found)
    print("\n".join(found))


if __name__ == "__main__":
    main()
