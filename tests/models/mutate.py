# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Mutants of a C file: each differs from it in one operator, constant or comparison, or in one
statement or condition (statements.py).

Works on tokens, so that names, comments, strings and includes stay as they are. Of a table of
rows only the default values are changed: attribute numbers and ranges are no part of the law.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.models.statements import TYPES, Change, Statements, Token

TOKEN = re.compile(
    r"""(?P<skip>/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'
             |^[ \t]*\#[ \t]*(?!define)[^\n]*)
      |(?P<word>[A-Za-z_]\w*)
      |(?P<number>0[xX][0-9a-fA-F]+|\d+)(?P<suffix>[uUlL]*)
      |(?P<operator><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%<>&|^!~?:=.,;(){}\[\]\#])
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)

SWAPS: dict[str, tuple[str, ...]] = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "&&": ("||",),
    "||": ("&&",),
    "<<": (">>",),
    ">>": ("<<",),
    "/": ("*",),
    "%": ("*",),
    "^": ("|",),
    "|": ("^",),
    "+=": ("-=",),
    "-=": ("+=",),
    "*=": ("/=",),
    "|=": ("^=",),
    "<<=": (">>=",),
    ">>=": ("<<=",),
    "++": ("--",),
    "--": ("++",),
}
BINARY = {"+": "-", "-": "+", "*": "+", "&": "|"}
UNARY_REMOVED = ("-", "!", "~")
WORDS = {"true": "false", "false": "true", "min64": "max64", "max64": "min64"}
MACRO = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
TABLE = re.compile(r"AQM_(?:ROW|STAT)\w*\s*\(")
DEFAULT_COLUMN = 5


@dataclass(frozen=True)
class Mutant:
    """One change: where it is, what it says instead, and a name that survives edits elsewhere."""

    file: str
    line: int
    text: str
    change: str
    nth: int  # of the same change on the same text
    start: int
    end: int
    by: str

    def apply(self, source: str) -> str:
        """The mutated file."""
        return source[: self.start] + self.by + source[self.end :]

    @property
    def key(self) -> tuple[str, str, str, int]:
        """How survivors are listed."""
        return self.file, self.text, self.change, self.nth


@dataclass(frozen=True)
class Subject:
    """A file to be mutated: a hash of what an outcome rests on, how all are tried, and tests by
    name and hash that may become more without a change of the outcome."""

    file: str
    covers: Callable[[], str]
    try_all: Callable[[], tuple[Counter[str], list[Mutant]]]
    tests: Callable[[], list[str]] = list


def _column(source: str, at: int) -> int | None:
    """Which argument of a table's row a place is in; None outside of tables."""
    begin = max((m.end() for m in TABLE.finditer(source, 0, at)), default=-1)
    if begin < 0 or re.search(r"\)\s*,", source[begin:at]):
        return None
    return source[begin:at].count(",")


def _numbers(value: int) -> list[int]:
    """Small ones by one, large ones by an eighth."""
    step = max(1, value // 8)
    return [value + step, value - step] if value else [1]


def _replacements(match: re.Match[str], before: str) -> list[str]:
    """What a token may be changed to; `before` is the token before it."""
    number, suffix = match["number"], match["suffix"]
    if number:
        return [f"{n}{suffix}" for n in _numbers(int(number, 0))]
    if match["word"]:
        return [WORDS[match["word"]]] if match["word"] in WORDS else []
    operator = match["operator"]
    if operator in SWAPS:
        return list(SWAPS[operator])
    is_operand = bool(re.fullmatch(r"\w+|[\])]", before)) and before not in TYPES | {"return"}
    if operator in BINARY and is_operand:
        return [BINARY[operator]]
    return [""] if operator in UNARY_REMOVED and not is_operand else []


def mutants(file: str, source: str) -> Iterator[Mutant]:
    """Every mutant of a file: those of single tokens in order, then those of statements."""
    seen: Counter[tuple[str, str]] = Counter()
    for start, end, by, change in (*of_tokens(source), *of_statements(source)):
        line = source.count("\n", 0, start) + 1
        text = source.splitlines()[line - 1].strip()
        seen[text, change] += 1
        yield Mutant(file, line, text, change, seen[text, change], start, end, by)


def of_tokens(source: str) -> Iterator[Change]:
    """Operators, constants and comparisons."""
    before = ""
    for match in TOKEN.finditer(source):
        if match["skip"]:
            continue
        token = match[0]
        column = _column(source, match.start())
        by = _replacements(match, before) if column in (None, DEFAULT_COLUMN) else []
        before = match["number"] or token
        if _is_pointer(source, match) or _is_bookkeeping(source, match):
            continue
        for replacement in by:
            change = f"{token} -> {replacement or 'nothing'}"
            yield Change(match.start(), match.end(), replacement, change)


def of_statements(source: str) -> list[Change]:
    """Of functions; macros stay."""
    macros = {at for match in MACRO.finditer(source) for at in range(*match.span())}
    tokens = [
        Token(match[0], *match.span())
        for match in TOKEN.finditer(source)
        if not match["skip"] and match.start() not in macros
    ]
    return Statements(source, tokens).changes


def _is_pointer(source: str, match: re.Match[str]) -> bool:
    """`struct x *p`: a star that declares."""
    return (
        match[0] in "*&"
        and bool(re.match(r"\w", source[match.end() :]))
        and (
            source[match.start() - 1] == " "
            and bool(
                re.search(r"\bstruct \w+ $|\b(?:void|char|u8|u32|u64) $", source[: match.start()])
            )
        )
    )


def _is_bookkeeping(source: str, match: re.Match[str]) -> bool:
    """Attribute numbers, ABI and padding."""
    start = source.rfind("\n", 0, match.start()) + 1
    return bool(re.match(r"\s*(?:\.abi|u16 pad|u8 pad)", source[start : match.start() + 1]))
