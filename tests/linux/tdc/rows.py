# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""rows.py: cases of each row: default, bounds, one beyond each, a change under way."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from sojourn import algorithms
from sojourn.algorithms import Row

from tests.linux import plugin, tables
from tests.linux import rtnetlink as nl
from tests.linux.tdc.case import (
    ADD,
    CHANGE,
    REFUSED,
    ROOT,
    UNREADABLE,
    Case,
    Form,
    kernel_refuses,
    refuses,
    shows,
    text_of,
    typed,
)
from tests.linux.tdc.memory import Memory
from tests.linux.tdc.sentences import say


def cases(algorithm: str, memory: Memory) -> Iterator[Case]:
    """Of its own rows; those of every queue are tried with one algorithm of each kind."""
    yield shows(
        f"{algorithm}: all rows at their default",
        f"{ADD} {Form(algorithm).typed()}",
        Form(algorithm),
    )
    for nest, rows in tables.tables(algorithm).items():
        for row in rows:
            if nest == tables.PARAMS or algorithm in one_of_each_kind():
                yield from _of_row(algorithm, nest, row, memory)
            elif memory.refusal(Form(algorithm, {row.name: row.max})):
                yield _at_bound(f"{algorithm}: too large", algorithm, row, row.max, memory)


@cache
def one_of_each_kind() -> frozenset[str]:
    """Kinds by what the queue's rows depend on."""
    return frozenset({_kind(name): name for name in algorithms.algorithms()}.values())


def _kind(name: str) -> tuple[object, ...]:
    """Why it may have no flows, if it may not; a rate that it needs; a ring; defaults."""
    algorithm = algorithms.find(name)
    flows = Form(name, {"flows": 2}).refusal()
    defaults = [row.default for row in tables.tables(name)[tables.QUEUE]]
    return (flows, algorithm.needs_rate, algorithm.samples, *defaults)


def _of_row(algorithm: str, nest: int, row: Row, memory: Memory) -> Iterator[Case]:
    at_default = Form(algorithm, {row.name: row.default})
    name, command = f"{algorithm}: {row.name} said at its default", f"{ADD} {at_default.typed()}"
    if refused := at_default.refusal():
        yield kernel_refuses(name, command, refused)
    else:
        yield shows(name, command, at_default)
    # A boolean's bounds are its two ways.
    for where, value in ("lower", row.min), ("upper", row.max):
        yield _at_bound(
            f"{algorithm}: {row.name} at its {where} bound", algorithm, row, value, memory
        )
    yield from _beyond(algorithm, nest, row)
    yield from _changed(algorithm, row)


# ---- at a bound ----


def _at_bound(name: str, algorithm: str, row: Row, value: int, memory: Memory) -> Case:
    """The value, with another row moved where the default of that one forbids it."""
    form = _settled(algorithm, row, value)
    refused = form.refusal() or memory.refusal(form)
    command = f"{ADD} {form.typed()}"
    return kernel_refuses(name, command, refused) if refused else shows(name, command, form)


def _settled(algorithm: str, row: Row, value: int) -> Form:
    alone = Form(algorithm, {row.name: value})
    if row in tables.HOST_ROWS or not alone.refusal():
        return alone
    for other in _neighbours(algorithm, row):
        for moved in other.min, other.max:
            form = Form(algorithm, {row.name: value, other.name: moved})
            if not form.refusal():
                return form
    return alone


def _neighbours(algorithm: str, row: Row) -> list[Row]:
    """The other rows of its table."""
    for rows in tables.tables(algorithm).values():
        if row in rows:
            return [other for other in rows if other != row]
    return []


# ---- beyond it ----


def _beyond(algorithm: str, nest: int, row: Row) -> Iterator[Case]:
    """The plugin refuses what is typed; what is sent without it the kernel refuses."""
    for where, value in ("lower", row.min - 1), ("upper", row.max + 1):
        name = f"{algorithm}: {row.name} beyond its {where} bound"
        if row.kind != "bool":
            yield _typed_beyond(name, algorithm, row, value)
        if 0 <= value < 1 << (64 if row.kind == "u64" else 32):
            yield _sent_beyond(f"{name}, sent without tc", algorithm, nest, row, value)


def _typed_beyond(name: str, algorithm: str, row: Row, value: int) -> Case:
    said = f"{algorithm} {row.name} {_text(row, value)}"
    try:
        plugin.read(said)
    except plugin.RefusedError as refused:
        return refuses(name, f"{ADD} {said}", UNREADABLE, str(refused).rstrip("\n"), sentence="")
    raise AssertionError(f"accepted: {said}")


def _text(row: Row, value: int) -> str:
    if row.kind == "choice":
        return "nosuch"
    if value < 0:
        return str(value)
    if row.unit == "q32" and value > row.max:
        # Its largest number stands for one.
        return "1.01"
    return text_of(row, value)


def _sent_beyond(name: str, algorithm: str, nest: int, row: Row, value: int) -> Case:
    options = nl.text(tables.ALGO, algorithm) + nl.nest(nest, number(row, value))
    sentence = say("is not in", row.name, value, row.min, row.max)
    command = f"$RAW $DUMMY add {options.hex()}"
    return refuses(name, command, REFUSED, f"ERANGE {sentence}", sentence=sentence)


def number(row: Row, value: int) -> bytes:
    return (nl.u64 if row.kind == "u64" else nl.u32)(row.attr, value)


# ---- a change under way ----


def _changed(algorithm: str, row: Row) -> Iterator[Case]:
    """Away from the default and to it."""
    before, after = Form(algorithm), Form(algorithm, {row.name: _another(algorithm, row)})
    command = f"{CHANGE} {after.typed()}"
    setup = [f"{ADD} {before.typed()}"]
    name = f"{algorithm}: {row.name} changed under way"
    if not row.fixed:
        yield shows(name, command, after, setup)
        yield _changed_back(algorithm, row, after)
        return
    sentence = after.refusal() or f"{row.name}: {say('cannot be changed')}"
    yield kernel_refuses(name, command, sentence, setup, left=f"{ROOT} {before.shown()}\n")
    yield shows(
        f"{algorithm}: {row.name} said as it is, in a change",
        f"{CHANGE} {algorithm} {typed(row, row.default)}",
        before,
        setup,
    )


def _another(algorithm: str, row: Row) -> int:
    """A value that the other rows allow. The smallest first: a ring cannot grow."""
    near = (row.min, row.max, row.default + 1, row.default - 1)
    inside = [value for value in near if row.min <= value <= row.max and value != row.default]
    allowed = (value for value in inside if not Form(algorithm, {row.name: value}).refusal())
    return next(allowed, inside[0])


def _changed_back(algorithm: str, row: Row, after: Form) -> Case:
    """To the default; but a ring has room for the limit that it was made with."""
    name = f"{algorithm}: {row.name} changed to its default under way"
    command = f"{CHANGE} {algorithm} {typed(row, row.default)}"
    setup = [f"{ADD} {after.typed()}"]
    if row.name == "limit" and algorithms.find(algorithm).samples:
        left = f"{ROOT} {after.shown()}\n"
        return kernel_refuses(name, command, f"limit: {say('was made for')}", setup, left)
    if refused := Form(algorithm, {row.name: row.default}).refusal():
        return kernel_refuses(name, command, refused, setup, f"{ROOT} {after.shown()}\n")
    return shows(name, command, Form(algorithm), setup)
