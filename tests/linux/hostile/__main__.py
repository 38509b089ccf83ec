# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Attacks on the qdisc: random netlink, traffic and trees.

`python -m tests.linux.hostile` spoils the module on purpose, which the storm must notice, then
plays many seeds in the kernel with sanitizers, and rounds of several processes at once in Debian's
own on four processors. The result goes to tests/linux/hostile/digest.toml, which is stale as soon
as anything it rests on changes (`--check` tells).

`python -m tests.linux.hostile --kernel sanitizers --seeds 7 --steps 0-40` plays a part again.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from sojourn.linux.uml.build import BuildError, build

from tests.linux.hostile import qemu
from tests.linux.hostile.covers import COMMAND, DIGEST, covers
from tests.linux.hostile.kernels import (
    DEBIAN,
    ENDS,
    ENDS_AT_ONCE,
    ENDS_DEBIAN,
    ENDS_SANITIZERS,
    KERNELS,
    SANITIZERS,
    Player,
)
from tests.linux.hostile.play import Played, hangs, numbers
from tests.linux.hostile.spoils import SPOILS, Spoil, found


@dataclass(frozen=True)
class Outcome:
    """A line to print, what to count, and why it failed."""

    line: str
    counts: Counter[str]
    trouble: str = ""


def again(player: Player, seeds: range, steps: str) -> str:
    words = f"{seeds.start}" if len(seeds) == 1 else f"{seeds.start}-{seeds.stop - 1}"
    plain = " --plain" * player.plain
    return f"{COMMAND} --kernel {player.kernel.name} --seeds {words} --steps {steps}{plain}"


def explain(player: Player, seeds: range, steps: str, played: Played) -> str:
    """What was wrong, and the shortest way to see it again."""
    assert played.fault
    fault = played.fault
    tree = [line for line in played.console.splitlines() if line.startswith(("TREE", "FRAME"))]
    tree += hangs(played.console).splitlines()
    seed = fault.seed if fault.seed in seeds else seeds.start
    by_steps = len(numbers(steps)) > 1 and not player.kernel.manner.round_ms
    fewest = player.fewest(seed, steps, played) if by_steps else ""
    shortest = (range(seed, seed + 1), fewest) if fewest else (seeds, steps)
    where = f"seed {fault.seed}, step {fault.step}: {fault.sentence}"
    return "\n".join([where, *tree, f"again: {again(player, *shortest)}"])


def storm(player: Player, seeds: range, steps: str, *, shrink: bool = True) -> Outcome:
    """Play seeds in one guest."""
    began = time.monotonic()
    played = player.play(seeds, steps)
    word, trouble = "ok", ""
    if played.fault:
        word = "FAILS"
        trouble = explain(player, seeds, steps, played) if shrink else str(played.fault)
        trouble += "" if shrink else "\n" + hangs(played.console)
    seconds = time.monotonic() - began
    name = f"{player.kernel.name} {player.release}: seeds {seeds.start} to {seeds.stop - 1}"
    return Outcome(f"{word:5} {seconds:4.0f} s  {name}", played.counts, trouble)


def spoil(spoil: Spoil) -> Outcome:
    """The storm must find a mistake."""
    began = time.monotonic()
    try:
        sanitizers = spoil.kernel == "sanitizers"
        fault = found(spoil, build(devices=spoil.ends, sanitizers=sanitizers))
        word, trouble = "ok", ""
        how = f"seed {fault.seed}, step {fault.step}: {fault.sentence}"
    except BuildError as error:
        word, trouble, how = "FAILS", str(error), "not found"
    line = f"{word:5} {time.monotonic() - began:4.0f} s  spoils: {spoil.name}: {how}"
    return Outcome(line, Counter({"spoils": 1}), trouble)


def tasks() -> Iterator[tuple[str, Callable[[], Outcome]]]:
    """What runs side by side."""
    for one in SPOILS:
        if one.kernel != "debian":
            yield "spoils", partial(spoil, one)
    for kernel in (SANITIZERS, ENDS, ENDS_SANITIZERS):
        player = Player(kernel)
        for seeds in kernel.guests():
            yield what(player), partial(storm, player, seeds, kernel.steps)


def what(player: Player) -> str:
    """The title of a storm's counts."""
    kernel = player.kernel
    kind = "probes, " if kernel.manner.ends else ""
    if kernel.debian:
        return f"{kind}{player.release} on {qemu.PROCESSORS} processors"
    checked = " with sanitizers" if kernel.manner.sanitizers else ""
    at_once = " in real time" if kernel.manner.round_ms else ""
    return f"{kind}{player.release}{checked}{at_once}"


def alone() -> Iterator[tuple[str, Callable[[], Outcome]]]:
    """What has all processors for itself."""
    for one in SPOILS:
        if one.kernel == "debian":
            yield "spoils", partial(spoil, one)
    for kernel in (ENDS_AT_ONCE, DEBIAN, ENDS_DEBIAN):
        player = Player(kernel)
        for seeds in kernel.guests():
            yield what(player), partial(storm, player, seeds, kernel.steps, shrink=False)


class Record:
    """What has come of the tasks so far."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.failures = 0

    def take(self, title: str, outcome: Outcome) -> None:
        print(outcome.line, flush=True)
        for name, n in outcome.counts.items():
            self.counts[name if title == "spoils" else f"{title}: {name}"] += n
        if outcome.trouble:
            print(outcome.trouble, file=sys.stderr, flush=True)
            self.failures += 1


def everything(jobs: int) -> int:
    if why := qemu.missing():
        print(why, file=sys.stderr)
        return 1
    began, before, record = time.monotonic(), covers(), Record()
    with ThreadPoolExecutor(jobs) as pool:
        waiting = [(title, pool.submit(work)) for title, work in tasks()]
        for title, outcome in waiting:
            record.take(title, outcome.result())
    for title, work in alone():
        record.take(title, work())
    seconds = time.monotonic() - began
    for name, n in sorted(record.counts.items()):
        print(f"{name}: {n}")
    print(f"hostile: {seconds:.0f} s, {record.failures} failed")
    if not record.failures:
        DIGEST.write(before, seconds, record.counts)
    return int(record.failures > 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kernel", choices=sorted(KERNELS), default="virtual")
    parser.add_argument("--seeds", help="only these, as in 7 or 1-20; all in one guest")
    parser.add_argument("--steps", help="only these of each, as in 0-40 or 0,7,30-35")
    plain = "the kernel's own queues stand where ours would: what fails then is not ours"
    parser.add_argument("--plain", action="store_true", help=plain)
    parser.add_argument("--check", action="store_true", help="only tell if the digest is fresh")
    parser.add_argument("--jobs", type=int, default=2, help="guests side by side (default 2)")
    options = parser.parse_args()
    if options.check:
        fresh = DIGEST.fresh(covers())
        print("fresh" if fresh else f"stale: run `{DIGEST.made_by}`")
        return int(not fresh)
    if not options.seeds:
        return everything(options.jobs)
    kernel = KERNELS[options.kernel]
    seeds = numbers(options.seeds)
    outcome = storm(
        Player(kernel, plain=options.plain),
        range(seeds[0], seeds[-1] + 1),
        options.steps or kernel.steps,
    )
    print(outcome.line)
    for name, n in sorted(outcome.counts.items()):
        print(f"{name}: {n}")
    print(outcome.trouble)
    return int(bool(outcome.trouble))


if __name__ == "__main__":
    sys.exit(main())
