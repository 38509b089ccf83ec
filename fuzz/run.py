# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Fuzz the queue and every algorithm under address and undefined-behaviour sanitizers.

`python -m fuzz.run` makes half a million calls; `--deep` 10^8, and writes fuzz/digest.toml, which
is stale as soon as the core or the fuzzer changes (`--check` tells). The digest also has the sum of
the calls that earlier cores got, 10^9 by now. What crashes stays in build/fuzz and is run again by
`build/fuzz/queue FILE`.

A tenth of the deep run also traces comparisons, which finds inputs that meet them, and takes most
of the time; the rest starts from those inputs.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path

from sojourn.linux.uml.module import core_sources

from tests.models.digest import Digest, hash_of
from tests.models.library import CORE, ROOT, SOURCES

BUILD = ROOT / "build" / "fuzz"
DIGEST = Digest(ROOT / "fuzz" / "digest.toml", "python -m fuzz.run --deep")
CALLS = 500_000
CALLS_DEEP = 100_000_000
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-function")
SANITIZERS = ("-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all")
FLAGS = ("-std=gnu11", "-g", *WARNINGS, *SANITIZERS)
SEARCHING = ("-O1",)
QUICK = ("-O2", "-fno-sanitize-coverage=trace-cmp")
EARLIER = "calls of earlier cores"


def build(name: str = "queue", more: Sequence[str] = SEARCHING) -> Path:
    """The fuzzer."""
    (BUILD / "corpus").mkdir(parents=True, exist_ok=True)
    sources = [*SOURCES, ROOT / "fuzz" / "queue.c"]
    target = BUILD / name
    words = ["clang-16", *FLAGS, *more, f"-I{CORE}", f"-I{CORE / 'test'}", *map(str, sources)]
    subprocess.run([*words, "-o", target], check=True)
    return target


def run(fuzzer: Path, calls: int, seed: int) -> int:
    """Fuzz until so many calls are made; answers how many it were, or raises."""
    log = BUILD / "log"
    options = ["-max_len=16384", "-len_control=1", f"-seed={seed}", "-print_final_stats=0"]
    with log.open("w") as out:
        done = subprocess.run(
            [fuzzer, *options, f"-artifact_prefix={BUILD}/", BUILD / "corpus"],
            env=os.environ | {"FUZZ_CALLS": str(calls)},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    found = re.search(r"^calls (\d+)$", log.read_text(errors="replace"), re.MULTILINE)
    if done.returncode or not found:
        raise SystemExit(f"the fuzzer found something:\n{log.read_text(errors='replace')[-5000:]}")
    return int(found[1])


def covers() -> str:
    """Hash of what a result rests on."""
    tests = [CORE / "test" / name for name in ("host.h", "storm.h")]
    core = core_sources(CORE)
    return hash_of([*core, *tests, ROOT / "fuzz" / "queue.c", ROOT / "fuzz" / "run.py"])


def earlier_calls() -> int:
    """All that the digest has so far."""
    counts = tomllib.loads(DIGEST.file.read_text())["counts"] if DIGEST.file.exists() else {}
    return sum(counts.values())


def main() -> int:
    """Build, run, keep the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--deep", action="store_true", help="10^8 calls, and renew the digest")
    parser.add_argument("--check", action="store_true", help="only tell if the digest is fresh")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.check:
        fresh = DIGEST.fresh(covers())
        print("fresh" if fresh else f"stale: run `{DIGEST.made_by}`")
        return int(not fresh)
    began = time.monotonic()
    before = covers()
    searching = build()
    if options.deep:
        calls = run(searching, CALLS_DEEP // 10, options.seed)
        calls += run(build("queue-quick", QUICK), CALLS_DEEP - calls, options.seed + 1)
    else:
        calls = run(searching, CALLS, options.seed)
    seconds = time.monotonic() - began
    print(f"fuzz: {calls} calls of the queue in {seconds:.0f} s, nothing found")
    if options.deep:
        DIGEST.write(before, seconds, {"calls": calls, EARLIER: earlier_calls()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
