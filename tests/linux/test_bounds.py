# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The measurement of work under the root lock: that it works, not its results."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from sojourn.linux.uml.boot import BootError
from sojourn.linux.uml.build import BuildError, Built, run

from bench.bounds.measure import Attempt, Module, Result, least, measure, module_of
from bench.bounds.plan import PARTS, QUICK, Row
from bench.bounds.tables import table

ROOT = Path(__file__).resolve().parents[2]
# The first test may have to build a kernel.
pytestmark = pytest.mark.timeout(1800)
HZ = 1_000_000_000


@pytest.fixture
def ours(sojourn_ko: Path) -> Module:
    return Module("", sojourn_ko)


@pytest.mark.deep
@pytest.mark.parametrize("part", PARTS)
def test_every_row_is_measured_and_stands_in_the_table(
    part: str, kernel: Built, ours: Module
) -> None:
    """The guest compares the books after each try, and runs each queue dry at the end."""
    results = measure(kernel, [ours], part, QUICK)
    assert [result.row for result in results] == list(PARTS[part](QUICK))
    assert all(attempt.cycles > 0 for result in results for attempt in result.attempts)
    text = table(results, HZ)
    for result in results:
        assert result.row.queue in text
        assert result.row.state in text


@pytest.mark.deep
def test_a_large_packet_is_held_up_to_the_limit_and_the_rest_is_dropped(
    kernel: Built, ours: Module
) -> None:
    results = [r for r in measure(kernel, [ours], "send", QUICK) if r.row.queue == "fifo"]
    assert len(results) == 2 * len(QUICK.limits)
    for result, limit in zip(results, (n for n in QUICK.limits for _ in range(2)), strict=True):
        before = int(result.row.command.split()[2])
        for attempt in result.attempts:
            assert attempt.held == min(before + QUICK.segments, limit)
            assert attempt.lost == before + QUICK.segments - attempt.held


@pytest.mark.deep
def test_a_queue_that_miscounts_what_it_holds_is_not_measured(
    kernel: Built, ours: Module, tmp_path: Path
) -> None:
    for folder in ("aqm", "linux/qdisc"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    source = tmp_path / "linux/qdisc/sch_sojourn.c"
    wrong, changes = re.subn(r"\bsch->q\.qlen--;", "", source.read_text())
    assert changes == 1
    source.write_text(wrong)
    build = tmp_path / "build"
    kernel_words = ["ARCH=um", f"KERNEL={kernel.objects}", f"BUILD={build}"]
    run(["make", "-C", source.parent, *kernel_words], tmp_path / "build.log")
    shutil.copy(ours.path.parent / "q_sojourn.so", build)
    with pytest.raises(BootError, match=r"sojourn: \d+ in, \d+ out, \d+ dropped, but \d+ held"):
        measure(kernel, [Module("", build / "sch_sojourn.ko")], "dequeue", QUICK)


@pytest.mark.deep
def test_another_revision_is_measured_beside_this_one(kernel: Built, ours: Module) -> None:
    if subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True).returncode:
        pytest.skip("this is no git checkout")
    text = table(measure(kernel, [ours, module_of("HEAD", kernel)], "packet", QUICK), HZ)
    assert "fq codel (HEAD)" in text
    assert re.search(r"1\.05 (met|missed)", text)


def test_a_revision_that_is_none_is_refused(kernel: Built) -> None:
    with pytest.raises(BuildError, match="nowhere is no revision"):
        module_of("nowhere", kernel)


def result(queue: str, cycles: Sequence[int], *, lost: int = 0, part: str = "send") -> Result:
    tc = "pfifo" if queue == "theirs" else "sojourn fifo"
    row = Row(part, "full", queue, (tc,), "0 10 0", "theirs")
    return Result(row, Module("", Path()), 10, tuple(Attempt(c, lost, 0) for c in cycles))


def test_each_try_is_the_least_of_all_boots() -> None:
    boots = [result("ours", cycles) for cycles in ([5, 9, 7], [6, 2, 8], [4, 3, 9])]
    assert [attempt.cycles for attempt in least(boots).attempts] == [4, 2, 7]


def test_boots_that_do_not_do_the_same_are_refused() -> None:
    with pytest.raises(BootError, match="send, ours, full: two boots differ"):
        least([result("ours", [1, 1]), result("ours", [1, 1], lost=1)])


@pytest.mark.parametrize(("worst", "said"), [(3_000_000, "met"), (3_100_000, "missed")])
def test_the_worst_of_all_tries_is_judged(worst: int, said: str) -> None:
    """A large packet may take 1.5 times what splitting it takes."""
    theirs = result("theirs", [1_000_000, 2_000_000])
    text = table([result("ours", [1_000_000, worst]), theirs], HZ)
    assert f"| ours | {worst / 1e6:.2f}, {worst / 2e6:.2f} | 1." in text
    assert f"| 1.50 {said} |" in text


@pytest.mark.parametrize(("lost", "said"), [(1000, "1.00 met"), (998, "0.999 missed")])
def test_a_change_may_take_a_microsecond_for_each_packet_that_it_frees(
    lost: int, said: str
) -> None:
    """And a tenth of one for each of the ten flows."""
    text = table([result("ours", [500_000, 1_000_000], lost=lost, part="change")], HZ)
    assert f"| full | ours | 2 | 1.00 | 0.750 |  |  | {said} |" in text
