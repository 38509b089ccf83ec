# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A guest is the same at each start, from any folder; what cannot be so says it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sojourn.core.errors import RunError
from sojourn.linux.run import run
from sojourn.linux.uml.boot import EPOCH_S, boot
from sojourn.linux.uml.build import BuildError, Built, build, cache_root
from sojourn.scenario import loads

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
    words += ["--again"]  # a store in the cache would give back the first run
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
    # complete.json has digest and length of run.json, .sojourn.json those of result.json, which
    # hold such times.
    digests = rb'"(run|result)\.json": ("[0-9a-f]+"|[0-9]+)'
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


# All that a program can read of its kernel, its memory, its files and their host.
TELL_ALL = """#!/bin/sh
./reads_host || exit 1
pwd
echo new > new
ls -lai --full-time . /run/programs / /usr /etc
stat -f . /
cd /proc
cat meminfo slabinfo zoneinfo vmstat buddyinfo cpuinfo kallsyms interrupts stat mounts cmdline
cat self/maps self/environ self/stat sys/net/ipv4/tcp_mem sys/kernel/threads-max
sleep 2
cat meminfo slabinfo sys/kernel/random/uuid
exec date +%s.%N
"""


def told_by_guest(kernel: Built, folder: Path, seed: int = 1) -> str:
    """Console of a guest whose job lies in that folder."""
    folder.mkdir(parents=True)
    job = folder / "job"
    job.write_text(TELL_ALL)
    job.chmod(0o755)
    source = Path(__file__).parent / "reads_host.c"
    subprocess.run(["gcc", "-O2", "-o", folder / "reads_host", source], check=True)
    return boot(kernel, folder, seed).console


@contextlib.contextmanager
def load() -> Iterator[None]:
    """Keep two processes for each processor busy."""
    spin = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(spin) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def test_a_guest_cannot_tell_one_start_from_another(kernel: Built, tmp_path: Path) -> None:
    """Neither its memory, nor its addresses, clocks, random numbers, files or processor."""
    idle = told_by_guest(kernel, tmp_path / "a")
    with load():
        deep = told_by_guest(kernel, tmp_path.joinpath(*["a folder of a long name"] * 12))
    assert deep.splitlines() == idle.splitlines()


def test_another_seed_gives_a_guest_other_random_numbers_and_nothing_else(
    kernel: Built, tmp_path: Path
) -> None:
    one, other = (told_by_guest(kernel, tmp_path / str(n), seed=n).splitlines() for n in (1, 2))
    assert len(one) == len(other)
    assert 1 <= sum(a != b for a, b in zip(one, other, strict=True)) < 10


def test_a_job_may_lie_where_the_guest_has_its_own_files(kernel: Built) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        assert "\n/run/job\n" in told_by_guest(kernel, Path(folder) / "job here")


def digest(result: Path) -> str:
    """One hash of all files of a result, as `without_times` reads them."""
    total = hashlib.sha256()
    for name, content in sorted(without_times(result).items()):
        total.update(f"{name} {len(content)}\n".encode() + content)
    return total.hexdigest()[:16]


@pytest.mark.usefixtures("kernel")
@pytest.mark.deep
def test_ten_starts_give_one_digest(tmp_path: Path) -> None:
    """From folders of different depth, half of them under load."""
    found = []
    for start in range(10):
        folder = tmp_path.joinpath(str(start), *["of_a_longer_name"] * start)
        folder.mkdir(parents=True)
        with load() if start % 2 else contextlib.nullcontext():
            out = run_elsewhere(folder, "h" * (start + 1), "out", 0o022)
        found.append(digest(out))
        print(f"start {start}, {start} folders down: {found[-1]}")
    assert len({*found}) == 1


# Of linux/seccomp.h, linux/filter.h and linux/audit.h.
REFUSE_PERSONALITY = """
import ctypes, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, 135), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
program = b"".join(struct.pack("HBBI", *step) for step in steps)
kept = ctypes.create_string_buffer(program)
filter = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(kept))
assert not libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
assert not libc.prctl(22, 2, filter, 0, 0), ctypes.get_errno()  # PR_SET_SECCOMP
from sojourn.cli import main
sys.exit(main())
"""


@pytest.mark.usefixtures("kernel")
def test_a_container_that_refuses_fixed_addresses_is_named_and_the_run_goes_on(
    tmp_path: Path,
) -> None:
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    words = ["run", "scenario.toml", "--host", "linux", "--aqm", "codel", "--again", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", REFUSE_PERSONALITY, *words],
        cwd=tmp_path,
        env=os.environ | {"XDG_CACHE_HOME": str(cache_root().parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    [run] = json.loads(done.stdout)["runs"]
    assert run["refused_by_machine"] == ["fixed addresses"]
    assert "this machine refuses fixed addresses" in done.stderr


def test_a_cache_that_make_cannot_work_in_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "my cache"))
    with pytest.raises(BuildError, match="space or colon; set XDG_CACHE_HOME"):
        build()


@pytest.mark.usefixtures("kernel")
def test_a_network_that_is_not_ready_at_the_start_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sojourn.linux.plan.START_S", EPOCH_S)
    with pytest.raises(RunError, match="the network took longer than the time before the start"):
        run(json.dumps(loads(SCENARIO).to_engine()), 1, lambda share: True)
