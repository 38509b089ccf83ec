# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The test of a user's file under sanitizers, in a process of its own. `aqm/check/check.c` calls
the file with hostile traffic. It names the properties that hold, and the event that breaks one.
The property `globals` is read from the compiled file."""

from __future__ import annotations

import functools
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sojourn.core.algorithm import Library
from sojourn.core.errors import RunError
from sojourn.store.store import write_errors
from sojourn.user_aqm import compiler
from sojourn.user_aqm.library import cache_folder, hash_of, new_folder, shown

_SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
_COUNTS = ("-fsanitize-coverage=trace-pc",)
# Each property takes up to two seconds of CPU; this is enough on a busy machine.
_LIMIT_S = 300
# Properties that are tested before a run: no crash, no endless loop, no broken rule.
_BEFORE_RUN = ("verdicts", "marks", "fuzz")
# Sanitizers name the place in the code; the program itself names the event.
_ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0:exitcode=1:color=never",
    "UBSAN_OPTIONS": "print_stacktrace=0:color=never",
}


@dataclass(frozen=True)
class Finding:
    """The result of the test of one property."""

    name: str
    what: str
    state: str  # ok, FAILED or skipped
    detail: str

    def __str__(self) -> str:
        return f"{self.state} {self.name}: {self.detail or self.what}"


def lines(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield a line for each property. Failures by a known fault in another call are only named, at
    the end."""
    named: dict[str, list[str]] = {}
    for finding in findings:
        fault, at, _ = finding.detail.partition(": in ")
        if finding.state == "FAILED" and at and fault in named:
            named[fault].append(finding.name)
            continue
        if finding.state == "FAILED" and at:
            named[fault] = []
        yield str(finding)
    for fault, names in named.items():
        if names:
            yield f"FAILED too, {fault}: {', '.join(names)}"


@functools.cache
def before_run(file: Library) -> None:
    """Raise RunError if the algorithm crashes, hangs or breaks a rule. A file that passes is not
    tested again."""
    passed = file.folder / "tried"
    # Without nm nobody has looked for globals; the next run that finds it will.
    tried = [_frame(file), *_BEFORE_RUN, *([_GLOBALS] if _nm() else [])]
    if passed.exists() and {*tried} <= {*passed.read_text().split()}:
        return
    program = build(file)
    findings = [_globals(file), *_all(file, program, _BEFORE_RUN)]
    bad = [finding for finding in findings if finding.state == "FAILED"]
    if bad:
        failures = "\n".join(f"  {finding.detail}" for finding in bad)
        raise RunError(
            f"{shown(file.file)} is not run; it was tried with random packets first:\n{failures}\n"
            f"All properties: sojourn check {shown(file.file)}"
        )
    with write_errors(passed):
        passed.write_text(" ".join(tried))


def check(file: Library) -> list[Finding]:
    """Test every property."""
    program = build(file)
    return [_globals(file), *_all(file, program, tuple(_properties(program)))]


_GLOBALS = "globals"
# As nm names what lies in .data, .bss and their kin. Constants are not there without -fPIC.
_WRITABLE = frozenset("bBdDCgGsS")
# A weak or a unique one has these letters wherever it lies; its section tells.
_ANYWHERE = frozenset("Vu")


def _nm() -> str | None:
    return shutil.which("nm") or shutil.which("llvm-nm")


def _globals(file: Library) -> Finding:
    """Look for variables that every queue of a host would share."""
    what = "it keeps nothing outside its state"
    nm = _nm()
    if nm is None:
        return Finding(
            _GLOBALS, what, "skipped", f"{what} (nm is not on PATH: apt install binutils)"
        )
    with write_errors(file.folder), tempfile.TemporaryDirectory(dir=file.folder) as scratch:
        words = [*compiler.FREESTANDING, "-fno-pic", *compiler.include_flags(file.file)]
        compiled = f"{scratch}/user.o"
        compiler.run([*words, "-c", shown(file.file), "-o", compiled], file.file)
        done = subprocess.run(
            [nm, "-f", "sysv", compiled], capture_output=True, text=True, check=True
        )
    rows = (line.split("|") for line in done.stdout.splitlines())
    symbols = (map(str.strip, (row[0], row[2], row[-1])) for row in rows if len(row) > 1)
    # A compiler adds to the name of a local variable its function, or a number.
    names = dict.fromkeys(
        re.sub(r"\.\d+$", "", name).rpartition(".")[2]
        for name, kind, section in symbols
        if kind in _WRITABLE or (kind in _ANYWHERE and not section.startswith(".rodata"))
    )
    if not names:
        return Finding(_GLOBALS, what, "ok", "")
    said = (
        f"{', '.join(names)}: outside the state, and all queues of a kernel would share it; keep "
        "it in the state, or make it const"
    )
    return Finding(_GLOBALS, what, "FAILED", said)


def _all(file: Library, program: Path, names: Sequence[str]) -> list[Finding]:
    known = _properties(program)
    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        return list(threads.map(lambda name: _try(file, program, name, known[name]), names))


@functools.cache
def _properties(program: Path) -> dict[str, str]:
    """List the names of properties, each with its sentence."""
    listed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return dict(line.split("\t") for line in listed.splitlines())


def _try(file: Library, program: Path, name: str, what: str) -> Finding:
    try:
        done = subprocess.run(
            [program, name],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LIMIT_S,
            env=os.environ | _ENVIRONMENT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Finding(name, what, "FAILED", f"not done after {_LIMIT_S} s: an endless loop?")
    last = done.stdout.strip().splitlines()[-1:] or [""]
    state, _, rest = last[0].partition(" ")
    if state in ("ok:", "skipped:"):
        return Finding(name, what, state[:-1], f"{what} ({rest})")
    if state == "ok" and done.returncode == 0:
        return Finding(name, what, "ok", "")
    where = _place(file, done.stderr)
    if state != "FAILED":
        number = -done.returncode
        known = number in {s.value for s in signal.Signals}
        rest = where or "ended without a word"
        rest += f", by {signal.Signals(number).name}" if known else ""
    rest = rest.replace("a sanitizer stopped it", where) if where else rest
    return Finding(name, what, "FAILED", rest)


def _place(file: Library, text: str) -> str:
    """Extract the fault and its line in the user's files from a sanitizer's report."""
    runtime = re.search(r"^(\S+?):(\d+):\d+: runtime error: (.*)$", text, re.M)
    if runtime:
        return f"{runtime[3]} ({Path(runtime[1]).name}:{runtime[2]})"
    report = re.search(
        r"ERROR: AddressSanitizer:? (.*?)(?: on (?:unknown )?address.*)?$", text, re.M
    )
    if not report:
        broken = re.search(r"^the queue broke a rule of its host: (.*)$", text, re.M)
        return f"not so: {broken[1]}" if broken else ""
    names = {part.name for part in file.parts}
    frames = re.findall(r"^ +#\d+ .* in \S+ (\S+?):(\d+)", text, re.M)
    at = next((f" ({Path(f).name}:{line})" for f, line in frames if Path(f).name in names), "")
    return f"{report[1].split(' (pc')[0]}{at}"


# ---- the program ----


@functools.cache
def _accepted(flags: tuple[str, ...], *more: str) -> tuple[str, ...]:
    """Return the flags if this compiler takes them, with some more, else none."""
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "empty.c"
        source.write_text("int main(void) { return 0; }\n")
        words = [compiler.path(), *flags, *more, str(source), "-o", f"{scratch}/empty"]
        return () if subprocess.run(words, capture_output=True, check=False).returncode else flags


def _flags() -> list[str]:
    return [*compiler.HOSTED, *_accepted(_SANITIZERS)]


def _driver_sources(file: Library) -> list[Path]:
    """List the sources around the algorithm, from the tree of the file if it has them, else
    ours."""
    folders = [Path(flag[2:]) for flag in compiler.include_flags(file.file)]
    root = next(folder for folder in folders if (folder / "check" / "check.c").is_file())
    return [root / "check" / "check.c", root / "field.c", root / "setup.c"]


def _frame(file: Library) -> str:
    """Hash all that a trial depends on, except the file itself."""
    root = _driver_sources(file)[1].parent
    parts = sorted(path for path in root.rglob("*.[ch]") if path.parent.name != "algorithms")
    return hash_of(parts, compiler.version(), *_flags())


def build(file: Library) -> Path:
    """Build the program that tests this file. All users' files share the objects of the driver."""
    program = file.folder / f"check-{_frame(file)}"
    if program.exists():
        return program
    driver = _driver(file)
    with write_errors(program), tempfile.TemporaryDirectory(dir=file.folder) as scratch:
        table = Path(scratch) / "table.c"
        table.write_text(
            '#include "aqm.h"\n'
            f"extern const struct aqm_algo aqm_{file.name};\n"
            f"const struct aqm_algo *const aqm_all[] = {{&aqm_{file.name}, NULL}};\n"
        )
        user, fresh = f"{scratch}/user.o", Path(scratch) / "check"
        include = compiler.include_flags(file.file)
        flags = [*_flags(), *include]
        compiler.run(
            [*flags, *_accepted(_COUNTS, "-c"), "-c", shown(file.file), "-o", user], file.file
        )
        objects = [str(path) for path in sorted(driver.glob("*.o"))]
        compiler.run([*flags, str(table), user, *objects, "-o", str(fresh)], file.file)
        fresh.rename(program)
    return program


def _driver(file: Library) -> Path:
    """Build the driver's objects, unless they exist, and return their folder."""
    folder = cache_folder(f"driver-{_frame(file)}")
    if folder.exists():
        return folder
    with new_folder(folder) as beside:
        include = compiler.include_flags(file.file)
        for source in _driver_sources(file):
            words = [*_flags(), *include, "-c", str(source)]
            compiler.run([*words, "-o", str(beside / f"{source.stem}.o")], source)
    return folder
