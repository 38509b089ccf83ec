# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A short storm, the parts that need no guest, and what a long storm left behind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from sojourn.linux.uml.build import Built

from tests.linux.hostile.covers import DIGEST, covers
from tests.linux.hostile.kernels import ENDS, VIRTUAL, Player
from tests.linux.hostile.play import ASKED, count, fault_in, hangs, numbers
from tests.linux.hostile.shrink import prefix, ranges, without_needless


def test_a_list_of_steps_is_read_as_it_is_written() -> None:
    for steps in ([0], [0, 1, 2], [0, 7, 30, 31, 32], [5, 7]):
        assert numbers(ranges(steps)) == steps


def test_few_steps_are_left_of_many() -> None:
    def fails(steps: Sequence[int]) -> bool:
        return {3, 40, 41} <= set(steps)

    assert prefix(range(100), fails) == list(range(42))
    assert without_needless(range(42), fails, limit_s=60) == [3, 40, 41]


CONSOLE = "STEP 4 0 plant\nSTEP 4 1 send\n"
WRONG = "FAIL 4 1: fifo 1: below 2:1: 5 bytes are held, 6 by its own count\n"


@pytest.mark.parametrize(
    ("console", "trouble", "step", "likeness"),
    [
        (CONSOLE + WRONG, "the job failed", 1, "# bytes are held, # by its own count"),
        (CONSOLE, "hang", 1, "the guest hangs"),
        (CONSOLE + "Kernel panic - not syncing: fault at 0x48\n", "x", 1, "fault at #x#"),
        (CONSOLE + "AssertionError: a leak\n", "the job failed", -1, "a leak"),
        (CONSOLE + ASKED + "\nKernel panic - not syncing: no mm\n", "hang", 1, "the guest hangs"),
    ],
)
def test_a_console_tells_what_was_wrong(
    console: str, trouble: str, step: int, likeness: str
) -> None:
    fault = fault_in(console, trouble)
    assert fault
    assert (fault.step, fault.likeness) == (step, likeness)


def test_a_guest_that_ends_well_has_no_fault() -> None:
    assert fault_in(CONSOLE, "") is None


def test_what_a_storm_of_probes_did_is_counted() -> None:
    counts = count("ENDS unloads=1 no_vxlan=0 joined=5\nENDS unloads=2 no_vxlan=0 joined=7\n")
    assert counts == {"ends unloads": 3, "ends joined": 12}


def test_a_guest_that_hangs_tells_where() -> None:
    said = "HANGS 17 (ip) D in rtnl_lock\n[  1.0]  sojourn_probes_free+0x1/0x2 [sch_sojourn]\n"
    assert hangs(CONSOLE + said) == said.rstrip()
    assert not hangs(CONSOLE)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("storms", [20, pytest.param(200, marks=pytest.mark.deep)])
def test_probes_end_with_their_queues_and_nobody_speaks_for_ever(storms: int) -> None:
    played = Player(ENDS).play(range(1, storms + 1), "0-100")
    assert not played.fault, (played.fault, hangs(played.console), played.console[-4000:])
    assert played.counts["seeds"] == storms
    for what in ("joined", "answered", "unloads", "moves", "briefs", "made_tunnel", "made_vrf"):
        assert played.counts[f"ends {what}"], what


@pytest.mark.timeout(300)
@pytest.mark.parametrize("storms", [15, pytest.param(60, marks=pytest.mark.deep)])
def test_books_agree_and_trees_run_dry_in_short_storms(storms: int, kernel: Built) -> None:
    assert kernel
    played = Player(VIRTUAL).play(range(1, storms + 1), "0-60")
    assert not played.fault, (played.fault, played.console[-4000:])
    assert played.counts["seeds"] == storms
    assert played.counts["seen"] > storms * 150 and played.counts["dries"] > storms


# They need two idle processors for twenty minutes; `make test-deep` plays them.
@pytest.mark.deep
def test_this_module_has_been_through_the_long_storms() -> None:
    assert DIGEST.fresh(covers()), f"run `{DIGEST.made_by}`"


def test_every_file_of_the_storm_is_short() -> None:
    for path in Path(__file__).parent.iterdir():
        if path.suffix in (".c", ".h", ".py"):
            assert len(path.read_text().splitlines()) <= 500, path.name
