# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""case.py: one case as tdc.py reads it, and a queue as one types it and as tc shows it."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address

from sojourn import _native
from sojourn.algorithms import Row, algorithms
from sojourn.linux.qdiscs import value_text

from tests.linux import tables

DEVICE = "$IP link add dev $DUMMY up type dummy"
NO_DEVICE = "$IP link del dev $DUMMY"
SHOW = "$TC qdisc show dev $DUMMY"
ADD = "$TC qdisc add dev $DUMMY root handle 1: sojourn"
CHANGE = "$TC qdisc change dev $DUMMY root handle 1: sojourn"
NO_QUEUE = "qdisc noqueue 0: root refcnt 2 \n"
ROOT = "qdisc sojourn 1: root refcnt 2"
# tc's status when its plugin cannot read the words, and when the kernel refuses them.
UNREADABLE, REFUSED = 1, 2
RATE_BYTES_S = 1_250_000


@dataclass(frozen=True)
class Case:
    """A command, its status, and a pattern that is found `count` times in what `verify` prints."""

    name: str
    command: str
    verify: str
    pattern: str
    code: int = 0
    count: int = 1
    setup: tuple[str, ...] = ()
    # What refuses the command, where something does.
    sentence: str = ""

    def entry(self) -> dict[str, object]:
        """For tdc's JSON. Setup and teardown are of a device of the case's own."""
        return {
            "id": hashlib.sha256(self.name.encode()).hexdigest()[:6],
            "name": self.name,
            "category": ["qdisc", "sojourn"],
            "setup": [DEVICE, *self.setup],
            "cmdUnderTest": self.command,
            "expExitCode": str(self.code),
            "verifyCmd": self.verify,
            "matchPattern": self.pattern,
            "matchCount": str(self.count),
            "teardown": [NO_DEVICE],
        }


@dataclass(frozen=True)
class Form:
    """An algorithm, and the rows that are not at their default; the rate of the link is one
    where the algorithm must know it."""

    algorithm: str
    rows: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = algorithms().get(self.algorithm)
        if known and known.needs_rate:
            object.__setattr__(self, "rows", {"bandwidth": RATE_BYTES_S, **self.rows})

    def all_rows(self) -> list[tuple[Row, int]]:
        found = (row for rows in tables.tables(self.algorithm).values() for row in rows)
        return [(row, self.rows.get(row.name, row.default)) for row in found]

    def typed(self) -> str:
        """The words of a command."""
        named = [typed(row, value) for row, value in self.all_rows() if row.name in self.rows]
        return " ".join([self.algorithm, *named])

    def shown(self) -> str:
        """The words of tc behind the queue's place, with its last space."""
        return " ".join(
            [self.algorithm, *(typed(row, value) for row, value in self.all_rows()), ""]
        )

    def refusal(self) -> str:
        """What the core says to these rows together, in the kernel's words; nothing: they go."""
        address = IPv4Address(self.rows.get("responder", 0))
        if address.is_multicast or address.is_loopback or address == IPv4Address(2**32 - 1):
            return "responder: not the address of one other host"
        of_kernel = {row.name for row in tables.HOST_ROWS}
        rows = {name: value for name, value in self.rows.items() if name not in of_kernel}
        refused = _native.check(self.algorithm, rows)
        if not refused:
            return ""
        row, sentence, _, _ = refused
        return f"{row}: {sentence}" if row else sentence


def typed(row: Row, value: int) -> str:
    if row.kind == "bool":
        return row.name if value else f"no{row.name}"
    return f"{row.name} {text_of(row, value)}"


def text_of(row: Row, value: int) -> str:
    """A value as tc prints it. Beyond 32 bits an address is a number, for a refusal."""
    if row.unit == "ipv4" and value < 2**32:
        return str(IPv4Address(value))
    return value_text(row, value)


def as_json(row: Row, value: int) -> bool | float | str:
    """A value as `tc -j` prints it: in the row's unit, but six digits of a probability."""
    if row.kind == "bool":
        return bool(value)
    if row.kind == "choice":
        return row.choices[value]
    if row.unit == "q32":
        share = float(f"{1 if value == 2**32 - 1 else value / 2**32:g}")
        return int(share) if share.is_integer() else share
    return value


def exactly(text: str) -> str:
    """A pattern that finds this text as the whole output."""
    return rf"\A{literally(text)}\Z"


def literally(text: str) -> str:
    return re.escape(text).replace(r"\ ", " ")


def together(*commands: str) -> str:
    """One command that does all and prints all, refusals too."""
    return f"sh -c {shlex.quote('; '.join(commands))} 2>&1"


def shows(name: str, command: str, form: Form, setup: Iterable[str] = ()) -> Case:
    """Afterwards the device has this queue and nothing else."""
    return Case(name, command, SHOW, exactly(f"{ROOT} {form.shown()}\n"), setup=tuple(setup))


def refuses(
    name: str,
    command: str,
    code: int,
    printed: str,
    *,
    sentence: str,
    setup: Iterable[str] = (),
    left: str = NO_QUEUE,
) -> Case:
    """The command prints `printed` and nothing else, and leaves the device as it was."""
    pattern = exactly(f"{printed}\n{left}")
    both = together(command, SHOW)
    return Case(name, command, both, pattern, code, setup=tuple(setup), sentence=sentence)


def kernel_refuses(
    name: str, command: str, sentence: str, setup: Iterable[str] = (), left: str = NO_QUEUE
) -> Case:
    """tc understands the words, the kernel refuses what they say."""
    printed = f"Error: {sentence}."
    return refuses(name, command, REFUSED, printed, sentence=sentence, setup=setup, left=left)
