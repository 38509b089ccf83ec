# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Mutants of the queue's headers, by the tests in C and by the model of flow queueing.

For each mutant programs are compiled and run until one fails: first the quick tests in C without
sanitizers, then cases of the models, then all tests with sanitizers, as aqm/test/run.sh has them.
One that never ends is stopped, and counts as noticed.
"""

from __future__ import annotations

import math
import resource
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path

from models import flow_queue, queue
from tests.algorithms import ALGORITHMS
from tests.models import flows
from tests.models.closure import c_files, python_files
from tests.models.digest import hash_of
from tests.models.library import BUILD, CORE, HOST, LAWS, SOURCES
from tests.models.mutants_algorithms import Expected, expect_case, tells
from tests.models.mutate import Mutant, Subject, mutants

NO_LIMIT_S = 600
TESTS = CORE / "test"
# Data, interfaces and declarations, without a law: their limits and rows have tests of their own.
NO_LAWS = ("aqm.h", "cold.h", "deps.h", "field.h", "setup.h", "queue/types.h")
PLAIN = ("-O0",)
# Of a quick test the compiler takes most of the time, of a long one the run.
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
SANITIZED, SANITIZED_LONG = ("-O0", *SANITIZERS), ("-O1", *SANITIZERS)
SHARED = ("-O1", "-fPIC")
# The right answers are the core's own, with which the model agrees in every `make test`: a row
# more in both moves no answer of a case that does without it.
MODEL_OF_FLOWS = {Path(flow_queue.__file__), Path(queue.__file__), Path(flows.__file__)}
FIXED = "test_fixed"
# Without a queue and its algorithms.
ALONE = (FIXED, "test_sample")
LONG = ("test_forget", "test_storm")


def _of_the_queue() -> Iterator[str]:
    """The tests in C but those of one algorithm: first those without a queue, last the long."""
    own = {f"test_{kind}{name}" for name in ALGORITHMS for kind in ("", "aqm_")}
    every = {path.stem for path in TESTS.glob("test_*.c")} - own
    yield from ALONE
    yield from sorted(every - {*ALONE, *LONG})
    yield from LONG


PROGRAMS = tuple(_of_the_queue())


class DoesNotCompileError(Exception):
    """A mutant that does not compile."""


@dataclass(frozen=True)
class Program:
    """A test in C, built in one way."""

    name: str
    flags: tuple[str, ...]
    alone: bool = False  # it needs no algorithm


def quick(flags: tuple[str, ...]) -> Iterator[Program]:
    yield Program(FIXED, (*flags, "-DAQM_NARROW"), alone=True)
    for name in PROGRAMS:
        if name not in LONG:
            yield Program(name, flags, alone=name in ALONE)


def long() -> Iterator[Program]:
    return (Program(name, SANITIZED_LONG) for name in LONG)


class Workshop:
    """A copy of aqm/ in which one header changes, and what is built of it."""

    def __init__(self, where: Path, header: Path) -> None:
        self.where, self.core = where, where / "aqm"
        shutil.rmtree(where, ignore_errors=True)
        shutil.copytree(CORE, self.core)
        self.header = self.in_copy(header)
        self.ready: dict[tuple[Path, tuple[str, ...]], Path] = {}
        self.plain = self.concerned(quick(PLAIN))
        self.sanitized = self.concerned([*quick(SANITIZED), *long()])
        self.limit_s = {program: self.time(program) for program in (*self.plain, *self.sanitized)}

    def change(self, source: str) -> None:
        """Give the header this text; what includes it is to be compiled anew."""
        self.header.write_text(source)
        self.ready = {key: path for key, path in self.ready.items() if key[0] not in self.changing}

    def in_copy(self, path: Path) -> Path:
        return self.core / path.relative_to(CORE)

    def has_header(self, source: Path) -> bool:
        return self.header in c_files([source], [self.core])

    @cached_property
    def changing(self) -> set[Path]:
        """Sources that have to be compiled for each mutant."""
        every = [self.in_copy(source) for source in SOURCES]
        return {source for source in (*every, HOST, *LAWS) if self.has_header(source)}

    def concerned(self, every: Iterable[Program]) -> list[Program]:
        """Those that the header is part of, themselves or by an algorithm that they need."""
        return [
            p
            for p in every
            if self.has_header(self.core / "test" / f"{p.name}.c")
            or (not p.alone and self.changing - {HOST, *LAWS})
        ]

    def compile(self, words: Iterable[str | Path]) -> None:
        command = ["gcc", "-std=gnu11", "-w", f"-I{self.core}", f"-I{self.core / 'test'}", *words]
        if subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode:
            raise DoesNotCompileError

    def object_of(self, source: Path, flags: tuple[str, ...]) -> Path:
        """Compiled once for a mutant, and once for all if the header is no part of it."""
        compiled = self.ready.get((source, flags))
        if compiled is None:
            kind = "-".join(flag.strip("-=,") for flag in flags).replace(",", "-")
            compiled = self.where / f"{source.stem}{kind}.o"
            self.compile([*flags, "-c", source, "-o", compiled])
            self.ready[source, flags] = compiled
        return compiled

    def algorithms(self, flags: tuple[str, ...]) -> list[Path]:
        return [self.object_of(self.in_copy(source), flags) for source in SOURCES]

    def program(self, program: Program) -> Path:
        target = self.where / program.name
        objects = [] if program.alone else self.algorithms(program.flags)
        source = self.core / "test" / f"{program.name}.c"
        self.compile([*program.flags, source, *objects, "-lm", "-o", target])
        return target

    def library(self, name: str) -> Path:
        target = self.where / f"{name}.so"
        hosts = [self.object_of(source, SHARED) for source in (HOST, *LAWS)]
        self.compile(["-shared", *hosts, *self.algorithms(SHARED), "-o", target])
        return target

    def fails(self, program: Program, limit_s: int) -> bool:
        """Does this test fail, or take more of the processor?"""
        words = ["prlimit", f"--cpu={limit_s}", str(self.program(program))]
        return subprocess.run(words, capture_output=True, check=False).returncode != 0

    def time(self, program: Program) -> int:
        """Five times what the right one takes, and a second."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert not self.fails(program, NO_LIMIT_S), program
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return math.ceil(1 + 5 * (after.ru_utime - before.ru_utime))

    def is_noticed(self, cases: list[Expected], name: str) -> bool:
        """By any test, the quick ones first."""
        return (
            self.any_fails(self.plain)
            or bool(cases and tells(self.library(name), cases))
            or self.any_fails(self.sanitized)
        )

    def any_fails(self, programs: list[Program]) -> bool:
        """The one that fails goes to the front: it often notices the next mutant too."""
        for program in programs:
            if self.fails(program, self.limit_s[program]):
                programs.remove(program)
                programs.insert(0, program)
                return True
        return False


@cache
def in_flows() -> list[Expected]:
    return [expect_case(how, case) for how, case in flows.few_cases()]


def try_all(header: Path) -> tuple[Counter[str], list[Mutant]]:
    """All mutants of one header."""
    count: Counter[str] = Counter()
    unnoticed = []
    shop = Workshop(BUILD / "mutants" / header.stem, header)
    cases = in_flows()
    source = header.read_text()
    for number, mutant in enumerate(mutants(str(header.relative_to(CORE)), source)):
        shop.change(mutant.apply(source))
        try:
            if shop.is_noticed(cases, str(number)):
                count["noticed"] += 1
            else:
                unnoticed.append(mutant)
        except DoesNotCompileError:
            count["does not compile"] += 1
    shutil.rmtree(shop.where)
    return count, unnoticed


def covers(header: Path) -> str:
    """Hash of the header with what it includes, and of what replays and compares."""
    programs = python_files(Path(__file__)) - MODEL_OF_FLOWS
    return hash_of([*c_files([header], [CORE]), HOST, *programs])


@cache
def tests() -> list[str]:
    """Each test in C with a hash of it and of what is the tests' alone."""
    return [f"{name} {hash_of(_own_files(name))[:16]}" for name in PROGRAMS]


def _own_files(test: str) -> Iterator[Path]:
    found = c_files([TESTS / f"{test}.c"], [TESTS])
    return (path for path in found if path.parent == TESTS)


def header_subjects() -> Iterator[Subject]:
    """Each header of the core that decides anything."""
    for header in sorted([*CORE.glob("*.h"), *CORE.glob("queue/*.h")]):
        name = str(header.relative_to(CORE))
        if name not in NO_LAWS:
            yield Subject(name, partial(covers, header), partial(try_all, header), tests)
