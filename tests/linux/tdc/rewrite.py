# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""rewrite.py: the kernel's own cases, rewritten for ours by rule.

`root codel` becomes `root sojourn codel`. What theirs prints, option by option, ours must print
too, wherever on its line. Behind an option that is refused nothing else is seen: so each is also
tried alone, and the cases once more without those that differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.linux.tdc.case import ADD, SHOW, Case
from tests.linux.tdc.upstream import (
    Entry,
    Option,
    entries,
    kinds,
    options,
    printed,
    switches,
    wanted,
)

# tdc.py gives up where a setup or teardown fails, as they do for what is refused.
ANY_STATUS = [0, 1, 2]


@dataclass(frozen=True)
class Rewritten:
    """A case of theirs for ours, or one option of it alone; what is to be seen on our line."""

    kind: str
    wanted: tuple[Option, ...]
    entry: Entry
    alone: Option | None = None

    @property
    def commands(self) -> list[str]:
        return [*(command for command, *_ in self.entry["setup"]), self.entry["cmdUnderTest"]]

    @property
    def typed(self) -> str:
        """The option, or all commands from their verb on, without their place."""
        if self.alone is not None:
            return str(self.alone)
        words = (re.sub(r".* qdisc (\w+) .* root", r"\1", command) for command in self.commands)
        return "; ".join(words)


def as_they_are(source: Path) -> list[Rewritten]:
    return _each(source, lambda kind, option: True)


def without(source: Path, leave_out: Callable[[str, Option], bool]) -> list[Rewritten]:
    """With no option, in a command or on a line, that is to be left out."""
    return _each(source, lambda kind, option: not leave_out(kind, option))


def _each(source: Path, keep: Callable[[str, Option], bool]) -> list[Rewritten]:
    found = []
    for kind in kinds(source):
        off = switches(entries(source, kind), kind)
        for entry in entries(source, kind):
            options_kept = [o for o in wanted(entry, kind, off) if keep(kind, o)]
            found.append(_rewritten(kind, entry, options_kept, keep))
    return found


def _rewritten(
    kind: str, entry: Entry, kept: list[Option], keep: Callable[[str, Option], bool]
) -> Rewritten:
    def mend(command: str) -> str:
        before, ours_there, tail = split(command, kind)
        if not ours_there:
            return command
        words = [str(option) for option in options(tail.split()) if keep(kind, option)]
        return " ".join([f"{before} sojourn {kind}", *words])

    if printed(entry, kind) is None:
        pattern = re.sub(rf"\b{kind}\b", "sojourn", entry["matchPattern"])
    else:
        pattern = _pattern(kind, kept)
    changed = {
        "cmdUnderTest": mend(entry["cmdUnderTest"]),
        "setup": [[mend(command), *ANY_STATUS] for command in entry["setup"]],
        "teardown": [[mend(command), *ANY_STATUS] for command in entry["teardown"]],
        "matchPattern": pattern,
    }
    return Rewritten(kind, tuple(kept), entry | changed)


def split(command: str, kind: str) -> tuple[str, bool, str]:
    """A command before the kind and behind it; whether it names the kind."""
    match = re.fullmatch(rf"(.* root) {kind}\b(.*)", command)
    return (match[1], True, match[2]) if match else (command, False, "")


def _pattern(kind: str, seen: Iterable[Option]) -> str:
    looks = "".join(option.pattern for option in seen)
    return rf"qdisc sojourn 1: root refcnt [0-9]+ {kind}{looks}"


def alone(source: Path) -> list[Rewritten]:
    """Each option of a command by itself, and none; what theirs prints is known with others."""
    found: dict[str, Rewritten] = {}
    for kind in kinds(source):
        off = switches(entries(source, kind), kind)
        for entry, given, before in _made(entries(source, kind), kind):
            for option in given or [Option("")]:
                others = {other.name for other in given + before} - {option.name}
                seen = [o for o in wanted(entry, kind, off) if o.name not in others]
                command = f"{ADD} {kind} {option}".strip()
                case = Case(
                    f"{kind}: {str(option) or 'nothing'}", command, SHOW, _pattern(kind, seen)
                )
                found.setdefault(case.name, Rewritten(kind, tuple(seen), case.entry(), option))
    return list(found.values())


def _made(found: Iterable[Entry], kind: str) -> Iterator[tuple[Entry, list[Option], list[Option]]]:
    """The cases that type options, these, and those that were typed before."""
    for entry in found:
        _, theirs, tail = split(entry["cmdUnderTest"], kind)
        if theirs and printed(entry, kind):
            tails = [split(command, kind)[2] for command in entry["setup"]]
            before = [option for words in tails for option in options(words.split())]
            yield entry, options(tail.split()), before
