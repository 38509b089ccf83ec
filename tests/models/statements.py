# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Changes of a C file's statements: one left out, two in a row the other way round, an `if` that is
always or never taken, an operand of && or || left out.

Reads as much of C as the core is written in. Declarations stay, since without one nothing compiles;
so do jumps, since an `if` that is never taken leaves out the jump behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

CLOSING = {"(": ")", "[": "]", "{": "}"}
ASSIGNMENTS = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
STEPS = ("++", "--")
JUMPS = ("return", "break", "continue", "goto")
LOOPS = ("for", "while", "switch")
TYPES = {"u8", "u16", "u32", "u64", "s32", "s64", "bool", "void", "char", "const", "struct", "int"}
DECLARING = TYPES | {"static", "enum", "union", "unsigned"}
POINTER = re.compile(r"(const )?\bstruct \w+ \*(\w+)")
# An operand of && or || ends at these, or at a bracket that it did not open.
ENDS = {";", ",", "?", ":", "return", "{", "}", *ASSIGNMENTS}


class Token(NamedTuple):
    """A word, number or operator, and where it stands."""

    text: str
    start: int
    end: int


class Change(NamedTuple):
    """What stands from `start` to `end` becomes `by`."""

    start: int
    end: int
    by: str
    name: str


@dataclass(frozen=True)
class Statement:
    """Tokens from `first` until before `past`."""

    first: int
    past: int
    kind: str

    @property
    def moves(self) -> bool:
        """May it change places?"""
        return self.kind in ("plain", "if", "loop", "block")


class Statements:
    """Of a file: all its changes are in `changes`."""

    def __init__(self, source: str, tokens: list[Token]) -> None:
        self.source = source
        self.tokens = tokens
        self.changes: list[Change] = []
        pointers = POINTER.findall(source)
        # No function writes through these.
        self.read_only = {of for const, of in pointers if const}
        self.read_only -= {of for const, of in pointers if not const}
        at = 0
        while at < len(tokens):
            # A function: whatever else stands in brackets at the outermost level is data.
            if self.text(at) == "{" and self.text(at - 1) == ")":
                at = self.block(at)
            else:
                at = self.behind(at)
        for at, token in enumerate(tokens):
            if token.text in ("&&", "||"):
                self.changes += self.without_operand(at)

    def text(self, at: int) -> str:
        """The token there; none behind the last one."""
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def behind(self, at: int) -> int:
        """Past this token, or past the bracket that closes it."""
        closing = CLOSING.get(self.text(at))
        at += 1
        while closing and self.text(at) != closing:
            at = self.behind(at)
        return at + bool(closing)

    def until(self, at: int, end: str) -> int:
        """Past the next one of these outside of brackets."""
        while self.text(at) != end:
            at = self.behind(at)
        return at + 1

    def change(self, first: int, past: int, by: str, name: str) -> Change:
        return Change(self.tokens[first].start, self.tokens[past - 1].end, by, name)

    def of(self, first: int, past: int) -> str:
        """Tokens as they stand in the source."""
        return self.source[self.tokens[first].start : self.tokens[past - 1].end]

    # Statements.

    def block(self, at: int) -> int:
        """All in a pair of braces; where it ends."""
        at += 1
        before = None
        while self.text(at) != "}":
            found = self.statement(at)
            if before and before.moves and found.moves and self.depend(before, found):
                between = self.source[
                    self.tokens[before.past - 1].end : self.tokens[found.first].start
                ]
                by = self.of(found.first, found.past) + between + self.of(before.first, before.past)
                self.changes.append(
                    self.change(before.first, found.past, by, "behind the next statement")
                )
            before, at = found, found.past
        return at + 1

    def statement(self, at: int) -> Statement:
        """The one that begins here."""
        text = self.text(at)
        if text == "{":
            return Statement(at, self.block(at), "block")
        if text == "if":
            return Statement(at, self.conditional(at), "if")
        if text == "do":
            return Statement(at, self.until(self.statement(at + 1).past, ";"), "loop")
        if text in LOOPS:
            body = self.behind(at + 1)
            if text == "while":
                self.changes.append(self.change(at + 1, body, "(0)", "while -> never"))
            return Statement(at, self.statement(body).past, "loop")
        if text in ("case", "default"):
            return Statement(at, self.until(at, ":"), "label")
        past = self.until(at, ";")
        if text in JUMPS:
            return Statement(at, past, "jump")
        if text in DECLARING or (text.isidentifier() and self.text(at + 1).isidentifier()):
            return Statement(at, past, "declaration")
        if text == "(" and self.text(at + 1) == "void":
            return Statement(at, past, "unused")
        if text != ";":
            self.changes.append(self.change(at, past, ";", "statement -> nothing"))
        return Statement(at, past, "plain")

    def conditional(self, at: int) -> int:
        """An `if` with its branches; where it ends."""
        body = self.behind(at + 1)
        for by, name in (("(1)", "always"), ("(0)", "never")):
            self.changes.append(self.change(at + 1, body, by, f"if -> {name}"))
        past = self.statement(body).past
        return self.statement(past + 1).past if self.text(past) == "else" else past

    def depend(self, one: Statement, other: Statement) -> bool:
        """Does one write what the other reads or writes, or leave?"""
        first, second = self.words(one), self.words(other)
        if (first | second) & {*JUMPS}:
            return True
        return bool(self.written(one) & second or self.written(other) & first)

    def words(self, of: Statement) -> set[str]:
        return {self.text(at) for at in range(of.first, of.past) if self.text(at).isidentifier()}

    def written(self, of: Statement) -> set[str]:
        """Names that are assigned to, the last of s->x[i].y, or that a function may write to."""
        found = set()
        for at in range(of.first, of.past):
            if self.text(at) in (*ASSIGNMENTS, *STEPS):
                before = at - 1
                while self.text(before) == "]":
                    before = self.opening(before) - 1
                found |= {self.text(before), *(self.text(at + 1),) * (self.text(at) in STEPS)}
            if self.text(at) == "(" and self.text(at - 1).isidentifier():
                called = range(at, self.behind(at))
                found |= {self.text(n) for n in called if self.is_pointer(n)}
        return {word for word in found if word.isidentifier()}

    def opening(self, at: int) -> int:
        """Where the bracket that closes here was opened."""
        depth = 1
        while depth:
            at -= 1
            depth += {"]": 1, "[": -1}.get(self.text(at), 0)
        return at

    def is_pointer(self, at: int) -> bool:
        """An argument by which a function may write: a name by itself, or the last of &s->x.y."""
        first = at
        while self.text(first - 1) in (".", "->"):
            first -= 2
        return (
            self.text(at).isidentifier()
            and self.text(at) not in self.read_only
            and self.text(at + 1) in (")", ",")
            and (self.text(first - 1) == "&" or first == at)
            and self.text(first - 1) in ("(", ",", "&")
        )

    # Operands.

    def without_operand(self, at: int) -> Iterator[Change]:
        """The one behind this operator left out; the one before it too, if it is the first."""
        operator = self.text(at)
        ends = ENDS | ({"||", "&&"} if operator == "&&" else {"||"})
        past = at + 1
        while self.text(past) not in ends and self.text(past) not in CLOSING.values():
            past = self.behind(past)
        first, depth = at, 0
        while depth or (self.text(first - 1) not in ends and self.text(first - 1) not in CLOSING):
            first -= 1
            depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(self.text(first), 0)
        if self.text(first - 1) != operator:
            yield self.named(first, at + 1)
        yield self.named(at, past)

    def named(self, first: int, past: int) -> Change:
        what = " ".join(self.of(first, past).split())
        return self.change(first, past, "", f"{what} -> nothing")
