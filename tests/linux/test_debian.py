# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The module as users build it, in each of Debian's kernels whose headers are here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.linux.debian import HEADERS, boot, own_guest
from tests.linux.uses import SCRIPT, fault

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.timeout(600)


@pytest.mark.parametrize("headers", HEADERS, ids=lambda path: path.parent.name)
def test_debians_kernel_loads_uses_and_removes_the_module(headers: Path, tmp_path: Path) -> None:
    for tool in ("qemu-system-x86_64", "busybox", "tc"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is missing: apt install qemu-system-x86 busybox-static iproute2")
    build = tmp_path / "build"
    make = ["make", "-s", f"BUILD={build}"]
    built = subprocess.run(
        [*make, "-C", ROOT / "linux/qdisc", f"KERNEL={headers}"], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    assert "warning:" not in built.stderr, built.stderr
    subprocess.run([*make, "-C", ROOT / "linux/tc"], check=True)
    files = {name: (build / name).read_bytes() for name in ("sch_sojourn.ko", "q_sojourn.so")}
    assert not fault(boot(own_guest(headers.parent.name), SCRIPT, files, tmp_path))


def test_there_are_headers_to_build_with() -> None:
    if not HEADERS:
        pytest.skip("no kernel headers: apt install linux-headers-cloud-amd64")
