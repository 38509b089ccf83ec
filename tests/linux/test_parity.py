# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The C library and the Rust host repeat what the module did in a running kernel; a second run
of the kernel repeats it too."""

from __future__ import annotations

import compileall
import math
import os
import shutil
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sojourn.algorithms import algorithms
from sojourn.linux.uml.build import Built, cache_root
from sojourn.linux.uml.module import module

from models.queue import Judge
from tests.algorithms import ALGORITHMS
from tests.linux import parity
from tests.models.cases import cases

# The first case may have to build a kernel.
pytestmark = pytest.mark.timeout(1800)

RECORD_HERE = """
from pathlib import Path
from sojourn.linux.uml.module import module
from tests.algorithms import ALGORITHMS
from tests.linux import parity
built = parity.kernel()
parity.record(built, module(built, trace="events"), "codel", 0, Path.cwd())
"""


@pytest.fixture(scope="session")
def traced(kernel: Built) -> Path:
    return module(kernel, trace="events")


@pytest.fixture(scope="session")
def replayers(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return [parity.c_replayer(tmp_path_factory.mktemp("replay")), parity.rust_replayer()]


@pytest.mark.parametrize(("name", "flows"), parity.FORMS)
def test_a_replay_gives_the_kernels_verdicts_and_state(
    name: str, flows: int, kernel: Built, traced: Path, replayers: list[Path], tmp_path: Path
) -> None:
    records = parity.record(kernel, traced, name, flows, tmp_path)
    found = parity.seen(records)
    c, rust = (parity.differences(replayer, records) for replayer in replayers)
    line = parity.line(name, flows, found, c, rust)
    print(line)
    assert not c
    assert not rust
    # Parity of what did not happen would be worth little.
    assert found.verdicts > 10_000
    assert found.changes > 20
    assert found.resets > 2
    for why in ("fat" if flows else "limit", "lowered", "reset"):
        assert found.drops[why] > 5, found.drops
    # As the model says, which is written from the source and not from our C.
    how, case = ALGORITHMS[name], next(cases(name))
    models = [
        how.model(replace(case, rows={**case.rows, **rows}), Judge()) for rows in how.signalling
    ]
    within = [flow.queue for model in models for flow in getattr(model, "flows", ())]
    ticks = any(model.wake_at() < math.inf for model in (*models, *within))
    assert (found.ticks > 500) == ticks, found.ticks
    known = algorithms()[name]
    assert (found.probes > 1000) == (found.answers > 1000) == known.probes, found
    assert (found.marks > 0) == known.ecn, found.marks
    # Victims that only make room need no sample.
    assert (found.drops["match"] > 100) == known.samples, found
    assert len(found.mtus) > 2, found.mtus
    assert len(found.flows) > 3 or not flows, found.flows
    # Of another kernel, or of another compiler's, these are not the counts.
    if parity.origin(kernel) in (documented := parity.documented()):
        assert line in documented, parity.RENEW
    records.unlink()


def test_the_documented_table_has_a_line_for_each_form() -> None:
    *table, origin = parity.documented()
    assert table[:2] == parity.HEAD
    forms = [tuple(line.split(" | ", 2)[:2]) for line in table[2:]]
    assert forms == [(f"| `{name}`", str(flows or "one queue")) for name, flows in parity.FORMS]
    assert origin.startswith("Linux ")


@pytest.fixture(scope="session")
def codel(kernel: Built, traced: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return parity.record(kernel, traced, "codel", 0, tmp_path_factory.mktemp("codel"))


def record_elsewhere(checkout: Path, home: Path, **more: str) -> bytes:
    """As `codel`, from a copy of what is here, by a user with a home of his own."""
    for made in (home / "scratch space", home / ".cache"):
        made.mkdir(parents=True)
    (home / ".cache/sojourn").symlink_to(cache_root())
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{checkout}:{parity.ROOT / 'python'}",
        "HOME": str(home),
        "TMPDIR": str(home / "scratch space"),
    }
    if source := os.environ.get("SOJOURN_KERNEL_SOURCE"):
        environment["SOJOURN_KERNEL_SOURCE"] = source
    words = [sys.executable, "-c", RECORD_HERE]
    subprocess.run(words, cwd=home, env=environment | more, check=True, umask=0o077)
    return (home / "records").read_bytes()


@pytest.mark.parametrize("compiled", [False, True])
def test_the_same_bytes_are_recorded_from_anywhere(
    compiled: bool, codel: Path, tmp_path: Path
) -> None:
    checkout = tmp_path / "a_checkout" / ("of_a_long_name" * 5)
    left_out = shutil.ignore_patterns("__pycache__")
    for folder in ("aqm", "linux", "models", "tests/algorithms", "tests/linux", "tests/models"):
        shutil.copytree(parity.ROOT / folder, checkout / folder, ignore=left_out)
    if compiled:
        assert compileall.compile_dir(checkout, quiet=1)
    more = {"PYTHONDONTWRITEBYTECODE": "" if compiled else "1", "PADDING": "x" * 3000}
    found = record_elsewhere(checkout, tmp_path / "home", TZ="Asia/Tokyo", **more)
    assert bool(list(checkout.rglob("__pycache__"))) == compiled
    assert found == codel.read_bytes()


def changed(records: Path, what: int, field: str, folder: Path) -> tuple[int, Path]:
    """A copy in which one field of the last record but a few of this kind is one more."""
    all_records = parity.read(records).copy()
    index = int(np.flatnonzero(all_records["what"] == what)[-5])
    all_records[index][field] += 1
    path = folder / f"{what}-{field}"
    path.write_bytes(records.read_bytes()[: parity.HEAD_BYTES] + all_records.tobytes())
    return index, path


@pytest.mark.parametrize(
    ("what", "field"),
    [(parity.FREED, "why"), (parity.FREED, "packet"), (parity.NUMBER, "value")],
)
def test_both_replays_find_a_record_that_was_changed(
    what: int, field: str, codel: Path, replayers: list[Path], tmp_path: Path
) -> None:
    index, path = changed(codel, what, field, tmp_path)
    for replayer in replayers:
        [sentence] = parity.differences(replayer, path)
        assert sentence.startswith("queue ")
        assert "in the kernel" in sentence
    [sentence] = parity.differences(replayers[0], path)
    assert f" record {index} " in sentence


@pytest.mark.parametrize(
    ("what", "field"), [(parity.EVENT, "act"), (parity.EVENT, "why"), (parity.STATE, "value")]
)
def test_the_replay_in_c_sees_each_verdict_and_all_state(
    what: int, field: str, codel: Path, replayers: list[Path], tmp_path: Path
) -> None:
    index, path = changed(codel, what, field, tmp_path)
    [sentence] = parity.differences(replayers[0], path)
    assert f" record {index} " in sentence


def test_lost_records_prove_nothing(codel: Path, replayers: list[Path], tmp_path: Path) -> None:
    whole = codel.read_bytes()
    for number, (head, rest) in enumerate(
        [(struct.pack("=QQ", len(parity.read(codel)), 1), 32), (whole[16:32], 33)]
    ):
        path = tmp_path / str(number)
        path.write_bytes(whole[:16] + head + whole[rest:])
        for replayer in replayers:
            with pytest.raises(RuntimeError, match=r"lost records|no whole file"):
                parity.differences(replayer, path)


def test_a_kernel_without_room_says_that_records_were_lost(
    kernel: Built,
    traced: Path,
    replayers: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parity, "ROOM", 1000)
    records = parity.record(kernel, traced, "fifo", 0, tmp_path)
    assert len(parity.read(records)) == 1000
    for replayer in replayers:
        with pytest.raises(RuntimeError, match="lost records"):
            parity.differences(replayer, records)


def test_a_normal_module_records_nothing(sojourn_ko: Path, traced: Path) -> None:
    for word in (b"debugfs", b"store_record"):
        assert word in traced.read_bytes()
        assert word not in sojourn_ko.read_bytes()
