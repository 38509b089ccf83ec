# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The words behind `sojourn` in a command: [[fq] ALGORITHM [ROW VALUE | ROW | noROW] …]"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sojourn import algorithms
from sojourn.core.algorithm import Algorithm
from sojourn.core.errors import InputError, nearest
from sojourn.core.rows import Row
from sojourn.linux import rtnetlink as nl
from sojourn.linux.tc import tables, values


def write(algorithm: Algorithm, rows: Mapping[str, int]) -> list[str]:
    """The words that say all of these rows that are not as by default."""
    words = ["fq"] * (rows.get("flows", 0) > 1) + [algorithm.inside]
    for name, number in rows.items():
        row = algorithm.rows[name]
        if number == row.default:
            continue
        if row.kind == "bool":
            words.append(name if number else f"no{name}")
        else:
            words += [name, values.write(row, int(number))]
    return words


class HelpWanted(Exception):
    """The words ask what there is: of every queue ('') or of an algorithm."""

    def __init__(self, algorithm: str = "") -> None:
        super().__init__(algorithm)
        self.algorithm = algorithm


@dataclass
class Said:
    """What the words have said: values of rows by nest and row. Without an algorithm the module
    knows what is meant."""

    algorithm: str
    values: dict[tuple[int, Row], int] = field(default_factory=dict)
    responder6: bytes = b""  # not said, or an IPv6 address

    def say(self, nest: int, row: Row, value: int) -> None:
        if (nest, row) in self.values:
            raise InputError(f"{row.name}: given twice")
        self.values[nest, row] = value

    def find(self, name: str) -> tuple[int, Row] | None:
        for nest, rows in tables.tables(self.algorithm).items():
            for row in rows:
                if row.name == name:
                    return nest, row
        return None

    def options(self, *, anew: bool = False) -> bytes:
        """The attribute for the kernel; `anew`: rows that are not said get their defaults."""
        name = [nl.text(tables.ALGO, self.algorithm)] if self.algorithm else []
        nests = [nl.nest(nest, *self._rows(nest)) for nest in tables.tables(self.algorithm)]
        six = [nl.attribute(tables.RESPONDER6, self.responder6)] if self.responder6 else []
        return nl.nest(nl.OPTIONS, *name, *nests, *six, *[nl.flag(tables.ANEW)] * anew)

    def _rows(self, wanted: int) -> list[bytes]:
        return [
            (nl.u64 if row.kind == "u64" else nl.u32)(row.attr, value)
            for (nest, row), value in self.values.items()
            if nest == wanted
        ]


def read(words: Sequence[str]) -> Said:
    """All words of a command behind the qdisc's kind."""
    rest = list(words)
    if not rest:
        return Said("")
    flow_queued = rest[:1] == ["fq"]
    if flow_queued:
        del rest[0]
    if rest[:1] == ["help"]:
        raise HelpWanted
    known = algorithms.algorithms()
    if not rest:
        raise InputError("fq: an algorithm is wanted behind it")
    if rest[0] not in known:
        raise InputError(f'no algorithm is called "{rest[0]}".{nearest(rest[0], known)}')
    said = Said(rest.pop(0))
    while rest:
        if rest[0] == "help":
            raise HelpWanted(said.algorithm)
        _read_row(said, rest)
    _, flows = said.find("flows") or (0, None)
    if flow_queued and flows and (tables.QUEUE, flows) not in said.values:
        said.say(tables.QUEUE, flows, tables.FQ_FLOWS)
    return said


def _read_row(said: Said, rest: list[str]) -> None:
    """One row with what belongs to it is taken from the words."""
    word = rest.pop(0)
    if word == tables.RESPONDER and rest and ":" in rest[0]:
        _read_responder6(said, rest.pop(0))
        return
    found, off = said.find(word), said.find(word.removeprefix("no"))
    if found and found[1].kind == "bool":
        said.say(*found, 1)
    elif not found and off and off[1].kind == "bool":
        said.say(*off, 0)
    elif found:
        nest, row = found
        if not rest:
            raise InputError(f"{row.name}: a value is wanted")
        said.say(nest, row, _read_value(row, rest.pop(0)))
    else:
        name = said.algorithm
        raise InputError(f'{name} has no row "{word}"; try "sojourn {name} help"')


def _read_responder6(said: Said, text: str) -> None:
    if said.responder6:
        raise InputError("responder: given twice")
    try:
        said.responder6 = values.read_address6(text)
    except values.Wanted as wanted:
        raise InputError(f"responder: {wanted} is wanted, not {text}") from None


def _read_value(row: Row, text: str) -> int:
    try:
        value = values.read(row, text)
    except values.Wanted as wanted:
        raise InputError(f"{row.name}: {wanted} is wanted, not {text}") from None
    if not row.min <= value <= row.max:
        value_, min_, max_ = (values.write(row, number) for number in (value, row.min, row.max))
        raise InputError(f"{row.name}: {value_} is not in {min_} to {max_}")
    return value
