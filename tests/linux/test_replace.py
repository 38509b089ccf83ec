# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A queue that has replaced another is recorded as a queue of its own, and replayed as one."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from sojourn.linux.uml.boot import boot
from sojourn.linux.uml.build import Built
from sojourn.linux.uml.module import module

from tests.linux import parity
from tests.linux.cases import ALGORITHMS

# The first case may have to build a kernel.
pytestmark = pytest.mark.timeout(1800)


@pytest.mark.deep
def test_replaced_queues_are_replayed(kernel: Built, tmp_path: Path) -> None:
    traced, job = module(kernel, trace="events"), tmp_path / "job"
    setting = f"PYTHONPATH={parity.ROOT}:{parity.ROOT / 'python'}"
    words = f"-S -B -m tests.linux.replace_guest {traced}"
    job.write_text(f"#!/bin/sh\n{setting} exec {sys.executable} {words}\n")
    job.chmod(0o755)
    boot(kernel, tmp_path, limit_s=300)
    records = parity.read(tmp_path / "records")
    what = Counter(records["what"].tolist())
    assert what[parity.INIT] == len(set(records["queue"].tolist())) == 3 * len(ALGORITHMS) + 1
    assert what[parity.CHANGE] == 3 * len(ALGORITHMS)
    assert parity.seen(tmp_path / "records").drops["reset"] > 200
    for replayer in (parity.c_replayer(tmp_path), parity.rust_replayer()):
        assert not parity.differences(replayer, tmp_path / "records")
