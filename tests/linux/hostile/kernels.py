# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""kernels.py: the kernels that the storm is played in, and how much of it in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sojourn.linux.uml.build import Built, build, cache_root, digest, kept
from sojourn.linux.uml.module import module, qdisc_sources

from tests.linux.hostile import play, qemu
from tests.linux.hostile.play import USUAL, Manner, Played
from tests.linux.hostile.shrink import prefix, ranges, without_needless

# One guest may be tried for so long to make a failing list of steps shorter.
SHRINK_S = 120.0


@dataclass(frozen=True)
class Kernel:
    """One kind of guest, and of storm. `steps` is what a seed goes through; where several
    processes act at once it is rounds."""

    name: str
    seeds: range
    seeds_per_guest: int
    steps: str
    manner: Manner = USUAL
    debian: bool = False

    def guests(self) -> list[range]:
        each = self.seeds_per_guest
        return [self.seeds[at : at + each] for at in range(0, len(self.seeds), each)]


CHECKED = Manner(sanitizers=True)
# Storms of probes: one after the other in virtual time, and by several processes in real time.
PROBES = Manner(ends=True)
PROBES_CHECKED = Manner(sanitizers=True, ends=True)
PROBES_AT_ONCE = Manner(sanitizers=True, ends=True, round_ms=2500)

VIRTUAL = Kernel("virtual", range(1, 61), 30, "0-150")
SANITIZERS = Kernel("sanitizers", range(1, 31), 10, "0-150", CHECKED)
DEBIAN = Kernel("debian", range(1, 5), 4, "0-3", debian=True)
ENDS = Kernel("ends", range(1, 101), 34, "0-200", PROBES)
ENDS_SANITIZERS = Kernel("ends-sanitizers", range(1, 22), 7, "0-150", PROBES_CHECKED)
ENDS_AT_ONCE = Kernel("ends-at-once", range(1, 3), 2, "0-3", PROBES_AT_ONCE)
ENDS_DEBIAN = Kernel("ends-debian", range(1, 5), 4, "0-3", PROBES, debian=True)
USUAL_STORMS = (VIRTUAL, SANITIZERS, DEBIAN)
OF_PROBES = (ENDS, ENDS_SANITIZERS, ENDS_AT_ONCE, ENDS_DEBIAN)
KERNELS = {kernel.name: kernel for kernel in (*USUAL_STORMS, *OF_PROBES)}


class Player:
    """A kernel with our module in it."""

    def __init__(self, kernel: Kernel, *, plain: bool = False) -> None:
        self.kernel, self.plain = kernel, plain
        self.built: Built | None = None
        if kernel.debian:
            self.ours = debian_module()
            self.release = qemu.release()
            return
        self.built = build(devices=kernel.manner.ends, sanitizers=kernel.manner.sanitizers)
        self.ours = module(self.built)
        self.release = self.built.release

    def play(self, seeds: range, steps: str) -> Played:
        manner = self.kernel.manner
        if not self.built:
            return qemu.play(self.ours, seeds, steps, ends=manner.ends)
        return play.play(self.built, self.ours, seeds, steps, replace(manner, plain=self.plain))

    def fewest(self, seed: int, steps: str, played: Played) -> str:
        """The fewest steps of a seed that fail as these have; nothing: it does not fail alone."""
        assert played.fault
        like, last = played.fault.likeness, played.fault.step
        alone = range(seed, seed + 1)

        def fails(chosen: Sequence[int]) -> bool:
            fault = self.play(alone, ranges(chosen)).fault
            return bool(fault and fault.likeness == like)

        every = play.numbers(steps)
        known = [step for step in every if last < 0 or step <= last]
        if not fails(known):
            return ""
        if last < 0:
            known = prefix(known, fails)
        return ranges(without_needless(known, fails, SHRINK_S))


def debian_module() -> Path:
    """Ours for Debian's kernel, from the cache if it is there."""
    folder = cache_root() / f"debian-module-{digest(qdisc_sources(), [qemu.release()])}"
    return kept(folder, qemu.module) / "sch_sojourn.ko"
