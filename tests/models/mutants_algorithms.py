# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Mutants of the algorithms and their laws, beside the models and by their own tests in C.

Each mutant is compiled and replays cases; what must come out was worked out by the models, once.
A mutant that comes through is tried by the tests in C that include its file or name its algorithm.
"""

from __future__ import annotations

import inspect
import os
import re
import resource
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.algorithms import ALGORITHMS
from tests.models import flows
from tests.models.beside import Beside, columns_of, compare
from tests.models.cases import accepted, fast_cases, refused
from tests.models.closure import c_files, python_files
from tests.models.digest import hash_of
from tests.models.library import (
    BUILD,
    CORE,
    HOST,
    LAWS,
    SOURCES,
    Case,
    Core,
    CoreError,
    core,
    source_of,
)
from tests.models.mutate import Mutant, Subject, mutants
from tests.models.record import DATA

# Of the processor, so that a busy machine changes no outcome; the slowest mutant that ends takes 6.
SECONDS_MAX = 20
FLAGS = ("-std=c11", "-fPIC", "-O1", "-w")


@dataclass(frozen=True)
class Expected:
    """The model's answer for one case."""

    how: Beside
    case: Case
    out: NDArray[np.void]
    state: NDArray[np.float64]
    tolerance: NDArray[np.float64]
    ties: frozenset[int]


def users_of(law: Path) -> list[str]:
    """The algorithms that it is part of."""
    return [name for name in ALGORITHMS if law in c_files([source_of(name)], [CORE])]


@cache
def expect(algorithm: str) -> list[Expected]:
    """The model's answers, by itself and in flows."""
    cases = [(ALGORITHMS[algorithm], case) for case in fast_cases(algorithm)]
    in_flows = [(flows.BesideFlows(ALGORITHMS[algorithm]), case) for case in flows.cases(algorithm)]
    return [expect_case(how, case) for how, case in (*cases, *in_flows)]


def expect_case(how: Beside, case: Case) -> Expected:
    """The model's answer to one case."""
    replay = core().replay(case)
    said = compare(how, case, replay)
    pairs = np.array(said.state, np.float64).reshape(len(case.events), -1, 2)
    ties = frozenset(said.tie_events)
    return Expected(how, case, replay.out, pairs[:, :, 0], pairs[:, :, 1], ties)


def notices(mutant: Core, expected: Expected) -> bool:
    """Does the model tell this build from the right one?"""
    how, case = expected.how, expected.case
    try:
        replay = mutant.replay(case)
    except CoreError:
        return True
    first = len(case.events)
    n = min(len(replay.out), len(expected.out))
    fields = ["event", "packet", "what", "why"]
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
    if first not in expected.ties and how.resets_in_order:
        return True
    # After a tie, or a reset in any order, both ways may be right: ask the model again.
    try:
        compare(how, case, replay)
    except AssertionError:
        return True
    return False


def same_defaults(mutant: Core, algorithm: str) -> bool:
    """The default rows."""
    defaults = ALGORITHMS[algorithm].defaults
    return all(mutant.default(algorithm, row) == value for row, value in defaults.items())


def refuses_the_same(mutant: Core, algorithm: str) -> bool:
    """Rows that may not be accepted together, and their neighbours that may."""
    for case in refused(algorithm):
        try:
            mutant.replay(case)
        except CoreError:
            continue
        return False
    try:
        for case in accepted(algorithm):
            mutant.replay(case)
    except CoreError:
        return False
    return True


def laws_of(file: str, algorithms: list[str]) -> list[Callable[[Core], bool]]:
    """How a header is compared by itself too; what the models say is worked out here, once."""
    found = [
        law for name in algorithms for key, law in ALGORITHMS[name].laws.items() if key == file
    ]
    assert all(law(core()) for law in found)
    return found


def fails(check: Callable[[], bool]) -> bool:
    """Is it not so? In a child, since a mutant may crash or never end."""
    child = os.fork()
    if not child:
        code = 1
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_MAX, SECONDS_MAX))
        try:
            code = int(not check())
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] != 0


def tells(path: Path, cases: list[Expected]) -> bool:
    """Does any of these cases tell a build from the right one?"""

    def same() -> bool:
        mutant = Core(path)
        return not any(notices(mutant, case) for case in cases)

    return fails(same)


def is_right(
    path: Path,
    algorithms: list[str],
    expected: dict[str, list[Expected]],
    laws: list[Callable[[Core], bool]],
) -> bool:
    """Does a build do all as the models do?"""
    mutant = Core(path)
    return (
        all(law(mutant) for law in laws)
        and all(same_defaults(mutant, n) and refuses_the_same(mutant, n) for n in algorithms)
        and not any(notices(mutant, e) for name in algorithms for e in expected[name])
    )


class Workshop:
    """Compiles mutants: a copy of aqm/, all other objects ready, one file built anew."""

    def __init__(self, where: Path) -> None:
        self.where = where
        shutil.rmtree(where, ignore_errors=True)
        shutil.copytree(CORE, where / "aqm")
        self.objects: dict[str, Path] = {}
        for source in [HOST, *LAWS, *(self.copy_of(source) for source in SOURCES)]:
            self.objects[source.name] = self._compile(source)

    def copy_of(self, source: Path) -> Path:
        """A file of aqm/ here."""
        return self.where / "aqm" / source.relative_to(CORE)

    def _compile(self, source: Path) -> Path:
        target = self.where / f"{source.stem}.o"
        command = ["gcc", *FLAGS, f"-I{self.where / 'aqm'}", "-c", str(source), "-o", str(target)]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        return target

    @contextmanager
    def changed(self, of: Path, mutant: Mutant) -> Iterator[None]:
        """The copy of this file has the change meanwhile."""
        path = self.copy_of(of)
        source = path.read_text()
        path.write_text(mutant.apply(source))
        try:
            yield
        finally:
            path.write_text(source)

    def build(self, of: Path, users: list[str], number: int) -> Path | None:
        """A library of the file as it is now; None if it does not compile."""
        sources = [self.copy_of(source_of(name)) for name in users]
        sources += [law for law in LAWS if of in c_files([law], [CORE])]
        target = self.where / f"mutant-{number}.so"
        try:
            for each in sources:
                self._compile(each)
            subprocess.run(
                ["gcc", "-shared", *map(str, self.objects.values()), "-o", target], check=True
            )
        except subprocess.CalledProcessError:
            return None
        return target

    def passes(self, test: Path) -> bool:
        """Does a test in C pass, with the objects that were built last?"""
        core = self.where / "aqm"
        target = self.where / test.stem
        objects = [str(self.objects[source.name]) for source in SOURCES]
        command = ["gcc", "-std=gnu11", "-O1", "-w", f"-I{core}", f"-I{core / 'test'}"]
        command += [str(self.copy_of(test)), *objects, "-lm", "-o", str(target)]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        words = ["prlimit", f"--cpu={SECONDS_MAX}", str(target)]
        return subprocess.run(words, capture_output=True, check=False).returncode == 0


def tests_of(path: Path, users: list[str]) -> list[Path]:
    """The tests in C that include a law, or that name one of the algorithms."""
    return [
        test
        for test in sorted((CORE / "test").glob("test_*.c"))
        if path in c_files([test], [CORE])
        or any(re.search(rf"\baqm_{name}\b", test.read_text()) for name in users)
    ]


def run_file(file: str, path: Path, users: list[str]) -> tuple[Counter[str], list[Mutant]]:
    """All mutants of one file."""
    expected = {name: expect(name) for name in users}
    count: Counter[str] = Counter()
    unnoticed = []
    laws = laws_of(file, users)
    shop = Workshop(BUILD / "mutants" / re.sub(r"\W", "-", file))
    tests = tests_of(path, users)
    assert all(map(shop.passes, tests))
    for number, mutant in enumerate(mutants(file, path.read_text())):
        with shop.changed(path, mutant):
            built = shop.build(path, users, number)
            if built is None:
                count["does not compile"] += 1
                continue
            wrong = fails(partial(is_right, built, users, expected, laws))
            if wrong or not all(map(shop.passes, tests)):
                count["noticed"] += 1
            else:
                unnoticed.append(mutant)
            built.unlink()
    shutil.rmtree(shop.where)
    return count, unnoticed


def covers(path: Path, users: list[str]) -> str:
    """Hash of the file with what it includes, its users, their models and modules of tests, their
    tests in C, their recordings, and of what replays and compares."""
    folders = [CORE]
    laws = [law for law in LAWS if path in c_files([law], folders)]
    c = c_files([path, *map(source_of, users)], folders)
    tests = c_files(tests_of(path, users), [CORE / "test"])
    modules = [Path(inspect.getfile(type(ALGORITHMS[name]))) for name in users]
    recorded = (DATA / f"{name}.npz" for name in users)
    programs = python_files(Path(__file__), *modules)
    return hash_of(
        [*c, *tests, HOST, *laws, *programs, *(path for path in recorded if path.exists())]
    )


def subject(file: str, path: Path, users: list[str]) -> Subject:
    return Subject(file, partial(covers, path, users), partial(run_file, file, path, users))


def algorithm_subjects() -> Iterator[Subject]:
    """Each file, under a name without the folders above it."""
    for name in ALGORITHMS:
        yield subject(f"{name}.c", source_of(name), [name])
    for law in sorted(CORE.rglob("law/*.h")):
        yield subject(f"law/{law.name}", law, users_of(law))
