# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A scenario on Linux gives the same result from any folder; one that cannot run there says so."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from sojourn.linux.uml.boot import BootError, boot
from sojourn.linux.uml.build import BuildError, Built, build, cache_root

from tests.linux.test_host import SCENARIO as TRAFFIC

# The first case may have to build a kernel.
pytestmark = pytest.mark.timeout(1800)

SCENARIO = TRAFFIC.replace("6 s", "2 s").replace('stop = "5 s"', "") + "[record]\nevents = true\n"


def run_elsewhere(folder: Path, home: str, out: str, umask: int, **more: str) -> Path:
    """The command in a folder of its own, with a home, a cache and scratch space of its own."""
    cache, scratch = folder / home / ".cache", folder / "scratch space"
    for made in (cache, scratch):
        made.mkdir(parents=True)
    (cache / "sojourn").symlink_to(cache_root())
    (folder / "scenario.toml").write_text(SCENARIO)
    words = ["run", "scenario.toml", "--host", "linux", "--aqm", "duk", "--aqm", "kernel:codel"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder / home), "TMPDIR": str(scratch)}
    if source := os.environ.get("SOJOURN_KERNEL_SOURCE"):
        environment["SOJOURN_KERNEL_SOURCE"] = source
    subprocess.run(
        [sys.executable, "-m", "sojourn", *words, "--out", out],
        cwd=folder,
        env=environment | more,
        umask=umask,
        check=True,
    )
    return folder / out


def without_times(result: Path) -> dict[str, bytes]:
    """Every file of a result, but for when it was made and what it took."""
    times = rb'"made": ".*?"|"cpu_s": [0-9.e-]+'
    # complete.json has the digest of run.json, .sojourn.json that of result.json, which hold
    # such times.
    digests = rb'"(run|result)\.json": "[0-9a-f]+"'
    return {
        str(path.relative_to(result)): re.sub(times + b"|" + digests, b"", path.read_bytes())
        for path in result.rglob("*")
        if path.is_file()
    }


@pytest.mark.usefixtures("kernel")
@pytest.mark.deep
def test_one_seed_gives_the_same_files_from_any_folder(tmp_path: Path) -> None:
    here, there = tmp_path / "a", tmp_path / "another" / "of_a_longer_name"
    for folder in (here, there):
        folder.mkdir(parents=True)
    near = without_times(run_elsewhere(here, "h", "out", 0o022))
    more = {"LANG": "de_DE.UTF-8", "TZ": "Asia/Tokyo", "PADDING": "x" * 3000}
    far = without_times(
        run_elsewhere(there, "home/of/somebody", "results of it/all", 0o077, **more)
    )
    assert sorted(near) == sorted(far)
    assert [name for name in near if near[name] != far[name]] == []
    assert {Path(name).name for name in near} >= {"events.parquet", "series.parquet", "run.json"}


def test_a_kernel_does_not_know_when_it_was_built(kernel: Built, tmp_path: Path) -> None:
    """Its name is mixed into the random pool, from which seeds and flows' hashes are drawn."""
    job = tmp_path / "job"
    job.write_text("#!/bin/sh\nexec uname --kernel-version\n")
    job.chmod(0o755)
    assert re.match(r"#1 (\w+ )*2026-01-01\n", boot(kernel, tmp_path).console)


def test_a_job_where_the_guest_cannot_see_it_is_refused(tmp_path: Path) -> None:
    built = Built(tmp_path, tmp_path, tmp_path, tmp_path, "6.12")
    with pytest.raises(BootError, match="set TMPDIR"):
        boot(built, Path("/dev/shm"))
    with pytest.raises(BootError, match="set XDG_CACHE_HOME"):
        boot(replace(built, programs=Path("/run/cache")), tmp_path)


def test_a_cache_that_make_cannot_work_in_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "my cache"))
    with pytest.raises(BuildError, match="space or colon; set XDG_CACHE_HOME"):
        build()
