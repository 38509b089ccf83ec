# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Do the models notice when one operator, constant or comparison of the core is changed?

`python -m tests.models.mutants` compiles each mutant of the algorithm files and replays cases on
it; what must come out was worked out by the models, once. A mutant that nothing notices must be
listed, with the reason, in models/survivors.toml. The result goes to models/mutants.digest.toml,
which is stale as soon as anything it rests on changes (`--check` tells).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.models.algorithms import ALGORITHMS
from tests.models.beside import columns_of, compare
from tests.models.cases import ACCEPTED, REFUSED, fast_cases
from tests.models.digest import Digest, hash_of
from tests.models.library import BUILD, CORE, HOST, LAWS, ROOT, Case, Core, CoreError, core
from tests.models.mutate import Mutant, mutants
from tests.models.searches import WORLDS, Search, explore

SURVIVORS = ROOT / "models" / "survivors.toml"
DIGEST = Digest(ROOT / "models" / "mutants.digest.toml", "make mutants")
SECONDS_MAX = 20
FLAGS = ("-std=c11", "-fPIC", "-O1", "-w")


@dataclass(frozen=True)
class Expected:
    """What the model says of one case."""

    case: Case
    out: NDArray[np.void]
    state: NDArray[np.float64]
    tolerance: NDArray[np.float64]
    ties: frozenset[int]


def files() -> dict[str, list[str]]:
    """Each file to mutate, and the algorithms that it is part of."""
    found = {f"{name}.c": [name] for name in ALGORITHMS}
    for law in sorted((CORE / "law").glob("*.h")):
        users = [
            name for name in ALGORITHMS if f"law/{law.name}" in (CORE / f"{name}.c").read_text()
        ]
        found[f"law/{law.name}"] = users
    return found


@cache
def expect(algorithm: str) -> list[Expected]:
    """The models' answers."""
    found = []
    how = ALGORITHMS[algorithm]
    for case in fast_cases(algorithm):
        replay = core().replay(case)
        said = compare(how, case, replay)
        pairs = np.array(said.state, np.float64).reshape(len(case.events), -1, 2)
        ties = frozenset(said.tie_events)
        found.append(Expected(case, replay.out, pairs[:, :, 0], pairs[:, :, 1], ties))
    return found


def notices(mutant: Core, expected: Expected) -> bool:
    """Does the model tell this build from the right one?"""
    case = expected.case
    how = ALGORITHMS[case.algorithm]
    try:
        replay = mutant.replay(case)
    except CoreError:
        return True
    first = len(case.events)
    n = min(len(replay.out), len(expected.out))
    fields = ["event", "packet", "what"]
    differs = np.flatnonzero(replay.out[:n][fields] != expected.out[:n][fields])
    if len(differs):
        first = int(min(replay.out["event"][differs[0]], expected.out["event"][differs[0]]))
    elif len(replay.out) != len(expected.out):
        longer = replay.out if len(replay.out) > n else expected.out
        first = int(longer["event"][n])
    columns = columns_of(how, replay)
    off = np.abs(columns - expected.state) > expected.tolerance
    if off[: first + 1].any():
        return True
    if first == len(case.events):
        return False
    if first not in expected.ties:
        return True
    # After a tie the two may go different ways and both be right: ask the model again.
    try:
        compare(how, case, replay)
    except AssertionError:
        return True
    return False


def same_defaults(mutant: Core, algorithm: str) -> bool:
    """Rows that nobody sets."""
    defaults = ALGORITHMS[algorithm].defaults
    return all(mutant.default(algorithm, row) == value for row, value in defaults.items())


def refuses_the_same(mutant: Core, algorithm: str) -> bool:
    """Rows that may not be accepted together, and their neighbours that may."""
    for case in REFUSED.get(algorithm, ()):
        try:
            mutant.replay(case)
        except CoreError:
            continue
        return False
    try:
        for case in ACCEPTED.get(algorithm, ()):
            mutant.replay(case)
    except CoreError:
        return False
    return True


def searches(file: str) -> list[Search]:
    """The law that is also compared by itself."""
    return [explore(world) for world in WORLDS] if file == "law/duk_interval.h" else []


def searches_the_same(mutant: Core, expected: list[Search]) -> bool:
    """All answers of DUK's search."""
    return all((mutant.duk_search(e.intervals) == e.answers).all() for e in expected)


def try_out(
    path: Path,
    algorithms: list[str],
    expected: dict[str, list[Expected]],
    searched: list[Search],
) -> bool:
    """In a child, since a mutant may crash or never end: true if it is noticed."""
    child = os.fork()
    if not child:
        code = 1
        signal.alarm(SECONDS_MAX)
        try:
            mutant = Core(path)
            same = searches_the_same(mutant, searched) and all(
                same_defaults(mutant, name) and refuses_the_same(mutant, name)
                for name in algorithms
            )
            cases = [e for name in algorithms for e in expected[name]]
            code = int(not same or any(notices(mutant, e) for e in cases))
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] != 0


class Workshop:
    """Compiles mutants: a copy of aqm/, all other objects ready, one file built anew."""

    def __init__(self, where: Path) -> None:
        self.where = where
        shutil.rmtree(where, ignore_errors=True)
        shutil.copytree(CORE, where / "aqm")
        self.objects: dict[str, Path] = {}
        for source in [HOST, LAWS, *sorted((where / "aqm").glob("*.c"))]:
            self.objects[source.name] = self._compile(source)

    def _compile(self, source: Path) -> Path:
        target = self.where / f"{source.stem}.o"
        command = ["gcc", *FLAGS, f"-I{self.where / 'aqm'}", "-c", str(source), "-o", str(target)]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        return target

    def build(self, mutant: Mutant, users: list[str], number: int) -> Path | None:
        """A library with one change; None if it does not compile."""
        path = self.where / "aqm" / mutant.file
        source = path.read_text()
        path.write_text(mutant.apply(source))
        sources = [self.where / "aqm" / f"{name}.c" for name in users]
        sources += [LAWS] if f'"{mutant.file}"' in LAWS.read_text() else []
        target = self.where / f"mutant-{number}.so"
        try:
            for each in sources:
                self._compile(each)
            subprocess.run(
                ["gcc", "-shared", *map(str, self.objects.values()), "-o", target], check=True
            )
        except subprocess.CalledProcessError:
            return None
        finally:
            path.write_text(source)
        return target

    def mend(self, users: list[str]) -> None:
        """The objects of the right source again."""
        for name in users:
            self._compile(self.where / "aqm" / f"{name}.c")


def reasons() -> dict[tuple[str, str, str, int], dict[str, str]]:
    """Listed survivors."""
    listed = tomllib.loads(SURVIVORS.read_text()) if SURVIVORS.exists() else {}
    return {
        (s["file"], s["line"], s["change"], s.get("nth", 1)): s for s in listed.get("survivor", [])
    }


def key_of(file: str, users: list[str]) -> str:
    """What the outcome of a file's mutants depends on."""
    parts = [CORE / file, *(CORE / f"{name}.c" for name in users), *(CORE / "law").glob("*.h")]
    return hash_of([*parts, *shared()])


def tried(file: str, users: list[str]) -> tuple[Counter[str], list[Mutant], float]:
    """Outcomes of a file's mutants, and the time that they took; kept until something changes."""
    kept = BUILD / "mutants" / f"{re.sub(r'[^a-z0-9]', '-', file)}.json"
    key = key_of(file, users)
    if kept.exists():
        old = json.loads(kept.read_text())
        if old["key"] == key:
            return Counter(old["count"]), [Mutant(**m) for m in old["unnoticed"]], old["seconds"]
    began = time.monotonic()
    count, unnoticed = run_file(file, users, {name: expect(name) for name in users})
    seconds = time.monotonic() - began
    found = {"key": key, "count": count, "unnoticed": [asdict(m) for m in unnoticed]}
    kept.write_text(json.dumps(found | {"seconds": seconds}))
    return count, unnoticed, seconds


def run_file(
    file: str, users: list[str], expected: dict[str, list[Expected]]
) -> tuple[Counter[str], list[Mutant]]:
    """All mutants of one file."""
    count: Counter[str] = Counter()
    unnoticed = []
    searched = searches(file)
    shop = Workshop(BUILD / "mutants" / re.sub(r"\W", "-", file))
    source = (CORE / file).read_text()
    for number, mutant in enumerate(mutants(file, source)):
        built = shop.build(mutant, users, number)
        if built is None:
            count["does not compile"] += 1
            continue
        if try_out(built, users, expected, searched):
            count["killed"] += 1
        else:
            unnoticed.append(mutant)
        built.unlink()
    shutil.rmtree(shop.where)
    return count, unnoticed


def shared() -> list[Path]:
    """What every result rests on."""
    tests = Path(__file__).parent
    names = [
        "algorithms",
        "beside",
        "cases",
        "generator",
        "inputs",
        "library",
        "mutate",
        "record",
        "searches",
    ]
    headers = ("aqm.h", "fixed.h", "rng.h", "sample.h", "ring.h")
    own = [tests / f"{name}.py" for name in names]
    return [HOST, LAWS, *(CORE / name for name in headers), *own, *(ROOT / "models").glob("*.py")]


def covers() -> str:
    """Hash of all that the digest rests on."""
    listed = [SURVIVORS] if SURVIVORS.exists() else []
    return hash_of([*(CORE / name for name in files()), *shared(), *listed])


def print_entry(mutant: Mutant) -> None:
    """A survivor as it would be listed."""
    nth = f"nth = {mutant.nth}\n" if mutant.nth > 1 else ""
    line = mutant.text.replace("\\", "\\\\").replace('"', '\\"')
    print(f'[[survivor]] # {mutant.file}:{mutant.line}\nfile = "{mutant.file}"\nline = "{line}"')
    print(f'change = "{mutant.change}"\n{nth}reason = ""\n')


def listing(count: Counter[str]) -> str:
    """Numbers with their names."""
    return ", ".join(f"{n} {what}" for what, n in sorted(count.items()))


def main() -> int:
    """Run, report, compare with the list of survivors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="*", help="only these, e.g. codel.c law/pie.h")
    parser.add_argument("--check", action="store_true", help="only tell if the digest is fresh")
    options = parser.parse_args()
    if options.check:
        fresh = DIGEST.fresh(covers())
        print("fresh" if fresh else "stale: run `make mutants`")
        return int(not fresh)
    seconds = 0.0
    chosen = {f: users for f, users in files().items() if not options.files or f in options.files}
    listed = reasons()
    count: Counter[str] = Counter()
    unlisted = 0
    for file, users in chosen.items():
        found, unnoticed, took = tried(file, users)
        seconds += took
        for mutant in unnoticed:
            entry = listed.pop(mutant.key, None)
            found["unlisted" if entry is None else entry.get("kind", "survived")] += 1
            if entry is None:
                unlisted += 1
                print_entry(mutant)
        count += found
        print(f"# {file}: {listing(found)}", flush=True)
    total = sum(count.values())
    print(f"# {total} mutants in {seconds:.0f} s: {listing(count)}")
    gone = [key for key in listed if not options.files or key[0] in options.files]
    for key in gone:
        print(f"# listed, but killed or no longer there: {key}")
    if not unlisted and not gone and not options.files:
        DIGEST.write(covers(), seconds, count)
    return int(bool(unlisted or gone))


if __name__ == "__main__":
    sys.exit(main())
