# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The qdisc in a kernel in virtual time: each case boots a guest of its own."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from sojourn.linux.uml.boot import boot
from sojourn.linux.uml.build import Built

from tests.linux.guest import CASES, DEVICES, REAL_TIME

ROOT = Path(__file__).resolve().parents[2]
SPLIT = "segments_are_split_into_packets_of_the_wire"
WHOLE = "packets_are_the_same_without_offloads"
# The first case may have to build a kernel.
pytestmark = pytest.mark.timeout(1800)


def run(case: str, built: Built, module: Path, folder: Path) -> str:
    setting = f"PYTHONPATH={ROOT}:{ROOT / 'python'} TC_LIB_DIR={module.parent}"
    job = folder / "job"
    python = f"{setting} exec {sys.executable} -S -B -m tests.linux.guest"
    job.write_text(f"#!/bin/sh\n{python} {case} {module}\n")
    job.chmod(0o755)
    return boot(built, folder, limit_s=300, real_time=case in REAL_TIME).console


def test_a_transfer_with_offloads_is_as_one_without(
    kernel: Built, sojourn_ko: Path, tmp_path: Path
) -> None:
    """The same bytes in as many packets, give or take retransmissions and bare ACKs."""
    results = []
    for case in SPLIT, WHOLE:
        folder = tmp_path / case
        folder.mkdir()
        console = run(case, kernel, sojourn_ko, folder)
        [line] = re.findall(r"^RESULT (.*)$", console, re.M)
        results.append([float(word) for word in line.split()])
    for split, whole in zip(*results, strict=True):
        assert split == pytest.approx(whole, rel=0.01)


def marked(case: str) -> Any:
    """Some cases take half a minute each: trees of queues through a million packets, each command
    of the page in a guest of its own, a send that no queue holds, minutes of TCP."""
    long = ("trees_run_dry", "the_command_prints", "of_a_send_of_25000", "a_far_end", "a_router")
    is_long = case.startswith(long)
    return pytest.param(case, marks=pytest.mark.deep) if is_long else case


PLAIN = sorted(CASES.keys() - DEVICES - {SPLIT, WHOLE})


@pytest.mark.parametrize("case", [marked(case) for case in PLAIN])
def test_the_qdisc(case: str, kernel: Built, sojourn_ko: Path, tmp_path: Path) -> None:
    print(run(case, kernel, sojourn_ko, tmp_path))


@pytest.mark.parametrize("case", sorted(DEVICES))
def test_the_qdisc_among_devices(
    case: str, devices_kernel: Built, devices_ko: Path, tmp_path: Path
) -> None:
    run(case, devices_kernel, devices_ko, tmp_path)
