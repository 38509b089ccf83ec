# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""messages.py: what no tc would send, and the kernel refuses.

What the kernel's own attribute parser refuses, and not ours, is in tests/linux/cases_bad.py.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator

from sojourn.algorithms import Row, algorithms

from tests.linux import rtnetlink as nl
from tests.linux import tables
from tests.linux.tdc.case import ADD, REFUSED, Case, Form, kernel_refuses, refuses, shows
from tests.linux.tdc.rows import number
from tests.linux.tdc.sentences import say

# Built into the module for this, whatever the library has.
SEVERAL = "twin"


def of_params(algorithm: str) -> Iterator[Case]:
    """Malformed rows of an algorithm's own."""
    rows = algorithms()[algorithm].params
    return _malformed(algorithm, algorithm, tables.PARAMS, rows) if rows else iter(())


def cases() -> Iterator[Case]:
    """Malformed rows of every queue; names; flows where they cannot be."""
    first = next(iter(algorithms()))
    for title, nest in ("host", tables.HOST), ("queue", tables.QUEUE):
        yield from _malformed(title, first, nest, tables.tables(first)[nest])
    for name, options in ("no options", "-"), ("options without an algorithm", _host_only()):
        yield _unnamed(name, options)
    for name in "nosuch", "":
        sentence = say("no algorithm is called", name)
        yield _sent(f'an algorithm "{name}"', _hex(name), errno.ENOENT, sentence)
    sentence = f"flows: {say('several queues')}"
    yield kernel_refuses("flows of an algorithm with several", f"{ADD} {SEVERAL} flows 4", sentence)


def _unnamed(name: str, options: str) -> Case:
    """A module that has a default makes it; one that has none refuses."""
    sentence = say("name an algorithm")
    if sentence:
        return _sent(name, options, errno.EINVAL, sentence)
    default = Form("codel", {"flows": tables.FQ_FLOWS})
    return shows(name, f"$RAW $DUMMY add {options}", default)


def _malformed(title: str, algorithm: str, nest: int, rows: tuple[Row, ...]) -> Iterator[Case]:
    row = rows[0]
    right = number(row, row.default)
    wide, width = nl.u64(row.attr, row.default), 8 if row.kind == "u64" else 4
    wrong = nl.u32(row.attr, 1) if width == 8 else wide
    unknown = max(other.attr for other in rows) + 1
    for what, inside, sentence in (
        ("a row of a wrong width", wrong, say("bytes given", row.name, 12 - width, width)),
        (
            "a row without bytes",
            nl.attribute(row.attr, b""),
            say("bytes given", row.name, 0, width),
        ),
        ("a row given twice", right + right, say("given twice", row.name)),
        ("a row that nobody knows", nl.u32(unknown, 1), say("has the number", unknown)),
        ("half a row behind the last", right + b"\3\0\0\0", say("left over")),
    ):
        options = _hex(algorithm, nl.nest(nest, inside))
        yield _sent(f"{title}: {what}", options, errno.EINVAL, sentence)


def _hex(name: str, *nests: bytes) -> str:
    return (nl.text(tables.ALGO, name) + b"".join(nests)).hex()


def _host_only() -> str:
    rows = (number(row, row.default) for row in tables.HOST_ROWS)
    return nl.nest(tables.HOST, *rows).hex()


def _sent(name: str, options: str, code: int, sentence: str) -> Case:
    command = f"$RAW $DUMMY add {options}"
    printed = f"{errno.errorcode[code]} {sentence}"
    return refuses(name, command, REFUSED, printed, sentence=sentence)
