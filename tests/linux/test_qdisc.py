# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The qdisc in a kernel in virtual time: each case boots a guest of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from linux.uml.boot import boot
from linux.uml.build import Built
from tests.linux.cases import CASES

ROOT = Path(__file__).resolve().parents[2]
# The first case may have to build a kernel.
pytestmark = pytest.mark.timeout(1800)


def run(case: str, built: Built, module: Path, folder: Path) -> str:
    python = f"PYTHONPATH={ROOT} exec {sys.executable} -S -B -m tests.linux.cases"
    job = folder / "job"
    job.write_text(f"#!/bin/sh\n{python} {case} {module}\n")
    job.chmod(0o755)
    return boot(built, folder, limit_s=300).console


@pytest.mark.parametrize("case", CASES)
def test_the_qdisc(case: str, kernel: Built, sojourn_ko: Path, tmp_path: Path) -> None:
    run(case, kernel, sojourn_ko, tmp_path)
