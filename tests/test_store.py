# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The store holds whole runs or none."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pyarrow as pa
import pytest
from sojourn import _native
from sojourn.core.errors import StoreError
from sojourn.store.arrow import parquet_bytes
from sojourn.store.store import Store, key_of

KEY = key_of('{"name": "x"}', 1, "0")
RUN = {"report": {"goodput_mbps": 1.0}}
FILES = {
    "run.json": json.dumps(RUN).encode(),
    "series.parquet": parquet_bytes(pa.table({"queue": ["q"], "t_s": [0.1]})),
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store")
    store.save(KEY, FILES)
    return store


def test_what_was_saved_is_there(store: Store) -> None:
    entry = store.load(KEY)
    assert entry and entry.report == RUN["report"]
    assert entry.series().to_pydict() == {"queue": ["q"], "t_s": [0.1]}
    assert entry.events() is None


def test_a_run_of_an_older_version_says_that_its_scenario_has_other_keys(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for key in ("duration_ns", "duration"):
        run = {**RUN, "scenario": {key: 10**9}}
        store.save(key, {**FILES, "run.json": json.dumps(run).encode()})
    old, new = store.load("duration_ns"), store.load("duration")
    assert old and new and new.scenario() == {"duration": 10**9}
    with pytest.raises(StoreError, match=r"run\.json: an older version made this run, .* again"):
        old.scenario()


def test_the_key_depends_on_scenario_seed_and_core() -> None:
    keys = {key_of(s, n, c) for s in ('{"a": 1}', '{"a": 2}') for n in (1, 2) for c in ("0", "1")}
    assert len(keys) == 8


@pytest.mark.parametrize("name", ["run.json", "series.parquet", "complete.json"])
@pytest.mark.parametrize("harm", ["cut", "empty", "gone", "changed"])
def test_a_damaged_entry_is_moved_aside(store: Store, name: str, harm: str) -> None:
    path = store.folder(KEY) / name
    content = path.read_bytes()
    if harm == "gone":
        path.unlink()
    else:
        path.write_bytes({"cut": content[:-3], "empty": b"", "changed": b"[]" + content}[harm])
    assert store.load(KEY) is None
    assert not store.folder(KEY).exists()
    assert len(list((store.root / "damaged").iterdir())) == 1
    store.save(KEY, FILES)
    assert store.load(KEY)


def test_a_killed_writer_leaves_nothing_that_looks_whole(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        store = Store(tmp_path)
        # killed in the middle of the first file
        Path.write_bytes = lambda *_: os._exit(9)  # type: ignore[method-assign]
        store.save(KEY, FILES)
        os._exit(0)
    assert os.waitpid(child, 0)[1] != 0
    assert list(tmp_path.glob(".partial-*"))
    store = Store(tmp_path)
    assert store.load(KEY) is None
    assert not list(tmp_path.glob(".partial-*"))
    store.save(KEY, FILES)
    assert store.load(KEY)


def test_a_full_disk_is_a_clear_message_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(StoreError, match=r"disk is full; .* kept.*--out"):
        store.save(KEY, FILES)
    assert not list(tmp_path.rglob("*"))


def test_the_second_writer_of_a_run_changes_nothing(store: Store) -> None:
    store.save(KEY, {**FILES, "run.json": b'{"report": {"goodput_mbps": 2.0}}'})
    entry = store.load(KEY)
    assert entry and entry.report == RUN["report"]


def test_what_names_the_engine_in_a_key_is_the_digest_of_these_sources() -> None:
    """Not of the checkout that filled the target folder first."""
    root = Path(__file__).parent.parent
    left_out = {"check", "test", "tests", "target", "examples", "benches"}
    files = [root / "Cargo.lock"]
    for folder in ("aqm", "traffic", "crates/core", "crates/sim"):
        found = [file for end in ("c", "h", "rs") for file in (root / folder).rglob(f"*.{end}")]
        files += [f for f in found if left_out.isdisjoint(f.relative_to(root).parts[:-1])]
    digest = 0xCBF2_9CE4_8422_2325  # FNV-1a, as in crates/py/build.rs
    for byte in b"".join(file.read_bytes() + b"\0" for file in sorted(files)):
        digest = (digest ^ byte) * 0x100_0000_01B3 & 0xFFFF_FFFF_FFFF_FFFF
    assert _native.core_version().split("+")[1] == f"{digest:016x}"
