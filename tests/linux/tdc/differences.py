# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""differences.py: each option of the kernel's own kinds that ours refuses or reads otherwise.

Found by a run, and printed as the table of docs/evidence/parity.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.linux.tdc.rewrite import Rewritten
from tests.linux.tdc.run import Result
from tests.linux.tdc.upstream import Option, options

HEAD = "| kind | written | theirs | ours |\n|---|---|---|---|\n"


@dataclass(frozen=True, order=True)
class Line:
    """One of the table: what is typed (nothing: a default), and what each prints of it."""

    kind: str
    written: str
    theirs: str
    ours: str
    refused: bool

    def __str__(self) -> str:
        written = f"`{self.written}`" if self.written else "nothing"
        theirs = f"`{self.theirs}`" if self.theirs else "taken"
        ours = f"refused: {self.ours}" if self.refused else f"`{self.ours}`"
        return (
            f"| `{self.kind}` | {written} | {theirs} | {ours if self.ours else 'no such row'} |\n"
        )


def lines(cases: Sequence[Rewritten], results: Sequence[Result]) -> set[Line]:
    found: set[Line] = set()
    for case, result in zip(cases, results, strict=True):
        if result.status != "ok":
            found |= set(_refusal(case, result) or _prints(case, result))
    return found


def _refusal(case: Rewritten, result: Result) -> list[Line]:
    match = re.match(r"Command exited with \d+, expected 0\n(?:sojourn: |Error: )(.*)", result.why)
    if not match:
        return []
    sentence = match[1].split("; try")[0].removesuffix(".")
    about = case.alone.name if case.alone else ""
    theirs = next((str(option) for option in case.wanted if option.name == about), "")
    return [Line(case.kind, case.typed, theirs, sentence, refused=True)]


def _prints(case: Rewritten, result: Result) -> Iterator[Line]:
    """Each word of theirs that is not on our line."""
    match = re.search(r"^qdisc sojourn 1: root refcnt \d+ \w+ (.*)", result.why, re.M)
    if not match:
        raise AssertionError(f"this failure has no reason: {case} {result}")
    own = options(match[1].split())
    for option in case.wanted:
        if any(option.found_as(mine) for mine in own):
            continue
        default = case.alone is not None and case.alone.name != option.name
        written = "" if default else case.typed
        yield Line(case.kind, written, str(option), _ours(option, own), refused=False)


def _ours(option: Option, own: Iterable[Option]) -> str:
    same = {option.name, f"no{option.name}", option.name.removeprefix("no")}
    return next((str(mine) for mine in own if mine.name in same), "")


def differs(found: Iterable[Line], kind: str, option: Option) -> bool:
    """Is this, typed or printed, in a line?"""
    told = [line for line in found if line.kind == kind]
    return any(str(option) in (line.theirs, line.written if line.refused else "") for line in told)


def touched(case: Rewritten, found: Iterable[Line]) -> bool:
    """Does the case type or want anything that differs?"""
    return any(_touches(line, case) for line in found if line.kind == case.kind)


def _touches(line: Line, case: Rewritten) -> bool:
    if line.refused:
        return any(f" {line.written} " in f"{command} " for command in case.commands)
    return line.theirs in map(str, case.wanted)


def table(found: Iterable[Line]) -> str:
    return HEAD + "".join(map(str, sorted(found)))
