# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""upstream.py: the kernel's own cases of its queues, and what they say that theirs prints."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from sojourn.algorithms import algorithms

FOLDER = Path("tools/testing/selftests/tc-testing")
QDISCS = "tc-tests/qdiscs"
# Theirs counts in bytes, and more than half of its words are not ours: they are only the control.
ALSO = ["red"]
Entry = dict[str, Any]


def kinds(source: Path) -> list[str]:
    """Kinds of theirs that we have too."""
    return [
        kind
        for kind in algorithms()
        if kind not in ALSO
        and path_of(source, kind).is_file()
        and _commands_of(entries(source, kind), kind)
    ]


def path_of(source: Path, kind: str) -> Path:
    return source / FOLDER / QDISCS / f"{kind}.json"


def entries(source: Path, kind: str) -> list[Entry]:
    found: list[Entry] = json.loads(path_of(source, kind).read_text())
    return found


def _commands_of(found: Iterable[Entry], kind: str) -> list[str]:
    commands = [entry["cmdUnderTest"] for entry in found]
    return [command for command in commands if f" root {kind}" in command]


# ---- what theirs prints ----


@dataclass(frozen=True)
class Option:
    """A word of a line, and its value; a pattern may leave the value open."""

    name: str
    value: str = ""
    open: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.value}".strip()

    def found_as(self, printed: Option) -> bool:
        return self.name == printed.name and (self.open or self.value == printed.value)

    @property
    def pattern(self) -> str:
        return rf"(?=[^\n]* {re.escape(str(self))} )"


def options(words: list[str]) -> list[Option]:
    """A number is the value of the word before it; .* stands for one, or for other words."""
    found: list[Option] = []
    for word, after in pairwise([*words, ""]):
        if word != ".*" and not word[0].isdigit():
            found.append(Option(word, after if after[:1].isdigit() else "", open=after == ".*"))
    return found


def printed(entry: Entry, kind: str) -> list[Option] | None:
    """What the pattern finds behind the queue's place; None where it is about something else."""
    match = re.fullmatch(rf"qdisc {kind} 1: root refcnt \S+ (.*)", entry["matchPattern"])
    return options(match[1].replace(".*", " .* ").split()) if match else None


def switches(found: Iterable[Entry], kind: str) -> set[str]:
    """Words that theirs prints where they are on, and leaves out where not."""
    told = [option for entry in found for option in printed(entry, kind) or []]
    return {o.name for o in told if not o.value and not o.open and not o.name.startswith("no")}


def wanted(entry: Entry, kind: str, off: Iterable[str]) -> list[Option]:
    """What must be on the line; nothing where there must be none."""
    told = printed(entry, kind)
    if told is None or entry["matchCount"] == "0":
        return []
    silent = [name for name in sorted(off) if Option(name) not in told]
    return [*told, *(Option(f"no{name}") for name in silent if Option(f"no{name}") not in told)]
