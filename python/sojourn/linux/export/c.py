# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""C sources as pieces: read, chosen by what is used, renamed.

A piece is what stands between two blank lines at the outermost level: a function, a struct, some
macros, with the comment above. This is no parser of C; it knows the layout of our own files, which
clang-format keeps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sojourn.linux.uml.module import CORE

_INCLUDE = re.compile(r'^#include "([^"]+)"\n', re.M)
_SYSTEM = re.compile(r"^#include <([^>]+)>\n", re.M)
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")
_WORD = re.compile(r"/\*.*?\*/|(\.|->|\bstruct |)\b([A-Za-z_]\w*)\b", re.S)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_HEAD = re.compile(r"\A(?:(?:/\*|//) SPDX-[^\n]*\n)+(?:/\*\n(.*?)\*/\n|((?://[^\n]*\n)*))", re.S)
_PROTOTYPE = re.compile(r"((?:/\*(?:(?!\*/).)*\*/\n)?)^[\w *]+?\b(\w+)\([^;{}]*\);$", re.M | re.S)
_GLOBAL = re.compile(r"^(?!static )(?=\w[\w *]+\([^;]*?\)\n\{|const [\w *]+\[\w*\] = \{)", re.M)
_CONDITION = re.compile(r"^#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)$")
_NOINLINE = "__attribute__((__noinline__))"
# What a kernel's compiler says to the conditions of aqm/.
KERNEL = {
    "__KERNEL__": True,
    "defined(__KERNEL__)": True,
    "defined(__KERNEL__) && !defined(__LP64__)": False,
    "defined(__LP64__) && !defined(AQM_NARROW)": False,
    "defined(__SIZEOF_INT128__) && !defined(AQM_NARROW)": False,
}


@dataclass(frozen=True)
class Piece:
    """Some lines, and the names that they define."""

    text: str
    defines: frozenset[str]

    @property
    def uses(self) -> frozenset[str]:
        return frozenset(_NAME.findall(_COMMENT.sub(" ", self.text)))


@dataclass(frozen=True)
class Source:
    """One file: its first comment, and its pieces."""

    about: str
    pieces: tuple[Piece, ...]
    file: str = ""  # as law/duk.h
    system: tuple[str, ...] = ()  # headers of the system that it includes


def chosen(text: str, known: Mapping[str, bool]) -> str:
    """Keep the lines whose conditions hold. A name that is not known is not defined."""
    kept, open_ = [], [True]
    met: list[bool] = []
    for line in text.split("\n"):
        found = _CONDITION.match(line)
        if not found:
            if all(open_):
                kept.append(line)
            continue
        word, rest = found[1], found[2].strip()
        if word == "endif":
            open_.pop()
            met.pop()
        elif word in ("elif", "else"):
            open_[-1] = not met[-1] and (word == "else" or _holds(rest, known))
            met[-1] = met[-1] or open_[-1]
        else:
            open_.append(_holds(rest, known) != (word == "ifndef"))
            met.append(open_[-1])
    return "\n".join(kept)


def _holds(condition: str, known: Mapping[str, bool]) -> bool:
    single = re.fullmatch(r"defined\((\w+)\)", condition)
    return known.get(single[1] if single else condition, known.get(condition, False))


def with_included(
    file: Path, seen: set[Path] | None = None, cut: Callable[[str], str] = str
) -> Iterator[Source]:
    """Read a file and all that it includes of ours, each once, the included ones first. `cut`
    takes parts of their texts away."""
    seen = set() if seen is None else seen
    if file.resolve() in seen:
        return
    seen.add(file.resolve())
    text = file.read_text()
    for name in _INCLUDE.findall(text):
        found = [folder / name for folder in (file.parent, *file.parents, CORE)]
        yield from with_included(next(path for path in found if path.is_file()), seen, cut)
    system = tuple(_SYSTEM.findall(text))
    yield replace(source_of(cut(text)), system=system, file=f"{file.parent.name}/{file.name}")


def source_of(text: str) -> Source:
    """Take a file apart."""
    head = _HEAD.match(text)
    about, rest = "", text
    if head:
        about = head[1] or head[2] or ""
        about = re.sub(r"^(?: \*|//) ?", "", about, flags=re.M).strip()
        # The file's own name says nothing in another file.
        about = re.sub(r"\A[\w/]+\.[ch]: (\w)", lambda found: found[1].upper(), about)
        rest = text[head.end() :]
    rest = re.sub(r"^#ifndef (\w+)\n#define \1\n(.*)#endif\n?\Z", r"\2", rest.strip(), flags=re.S)
    rest = _INCLUDE.sub("", chosen(rest, KERNEL)).replace(_NOINLINE, "noinline")
    rest = re.sub(r"^#include <[^>]+>\n", "", rest, flags=re.M)
    rest = re.sub(r"^/\* clang-format o\w+ \*/\n", "", rest, flags=re.M)
    return Source(about, tuple(map(_piece, _split(rest))))


def _split(text: str) -> Iterator[str]:
    """Cut at blank lines outside of braces and comments."""
    lines: list[str] = []
    depth, comment = 0, False
    for line in [*text.split("\n"), ""]:
        if not line.strip() and not depth and not comment:
            if _COMMENT.sub("", "\n".join(lines)).strip():
                yield "\n".join(lines)
            lines = []
            continue
        lines.append(line)
        bare = re.sub(r"/\*.*?\*/", "", line)
        comment = "*/" not in bare if comment else "/*" in bare
        if not comment:
            depth += bare.count("{") - bare.count("}")
        # Macros that stand together are pieces of their own.
        if not depth and not comment and _is_macro(lines):
            yield "\n".join(lines)
            lines = []


def _is_macro(lines: list[str]) -> bool:
    code = _COMMENT.sub("", "\n".join(lines)).strip()
    return code.startswith("#define") and not code.endswith("\\")


def _piece(text: str) -> Piece:
    code = _COMMENT.sub(" ", text)
    names = set(re.findall(r"^\s*#define (\w+)", code, re.M))
    names |= set(re.findall(r"^(?:static )?(?:const )?(?:struct|union|enum) (\w+) \{", code, re.M))
    for body in re.findall(r"\benum(?: \w+)? \{(.*?)\}", code, re.S):
        names |= set(re.findall(r"(?:^|,)\s*([A-Z]\w*)", body))
    if function := re.match(r"\s*(?!#|struct \w+ \{|enum(?: \w+)? \{)[^\n(={]*?[\s*](\w+)\(", code):
        names.add(function[1])
    names |= set(
        re.findall(r"^(?:static|const) [\w *]*?\b(\w+)(?:\[[^\]]*\])*(?: __\w+)? = ", code, re.M)
    )
    names |= set(re.findall(r"^static [\w ]*?[ *](\w+);", code, re.M))
    return Piece(text.strip("\n"), frozenset(names - {"__attribute__"}))


def in_one_file(sources: Iterable[Source]) -> list[Source]:
    """Make what they define static. A declaration goes, and leaves its comment to the function."""
    found = list(sources)
    said = {
        name: comment
        for source in found
        for piece in source.pieces
        if _is_declaration(piece)
        for comment, name in _PROTOTYPE.findall(piece.text)
    }
    return [
        replace(s, pieces=tuple(_static(p, said) for p in s.pieces if not _is_declaration(p)))
        for s in found
    ]


def _is_declaration(piece: Piece) -> bool:
    code = _COMMENT.sub("", piece.text).strip()
    return code.endswith(";") and not re.search(r"[{=#]|^static ", code)


def _static(piece: Piece, said: Mapping[str, str]) -> Piece:
    text = _GLOBAL.sub("static ", piece.text, count=1)
    comment, code = re.match(r"((?:/\*.*?\*/\n)?)(.*)", text, re.S).groups()  # type: ignore[union-attr]
    found = re.match(r"static [^\n(={]*?(\w+)\(", code)
    declared = said.get(found[1], "") if found else ""
    if declared and comment:
        lines = [*_lines(declared), *_lines(comment)]
        comment, declared = "/*\n" + "".join(f" * {line}\n" for line in lines) + " */\n", ""
    return replace(piece, text=declared + comment + code)


def _lines(comment: str) -> list[str]:
    bare = re.sub(r"^(?:/\*| \*(?!/)) ?|\s*\*/$", "", comment.strip(), flags=re.M)
    return [line for line in bare.split("\n") if line]


def needed(sources: Iterable[Source], roots: Iterable[str]) -> list[Source]:
    """Drop the pieces that no kept piece uses; `roots` are the names that are used from outside."""
    sources = list(sources)
    of: dict[str, list[Piece]] = {}
    for piece in (piece for source in sources for piece in source.pieces):
        for name in piece.defines:
            of.setdefault(name, []).append(piece)
    kept: set[Piece] = set()
    open_ = [piece for name in roots for piece in of.get(name, [])]
    while open_:
        piece = open_.pop()
        if piece not in kept:
            kept.add(piece)
            open_ += [piece for name in piece.uses for piece in of.get(name, [])]
    left = (replace(s, pieces=tuple(p for p in s.pieces if p in kept)) for s in sources)
    return [source for source in left if source.pieces]


def without_unused(source: Source, text: str) -> Source:
    """Drop the members of its structs, and its reasons, that `text` never names."""
    named = set(_NAME.findall(_STRING.sub(" ", _COMMENT.sub(" ", text))))

    def cut(piece: Piece) -> Piece:
        if not re.match(r"(/\*.*?\*/\n)?(struct \w+|enum aqm_why) \{", piece.text, re.S):
            return piece
        lines = piece.text.split("\n")
        return Piece("\n".join(line for line in lines if _is_kept(line, named)), piece.defines)

    return replace(source, pieces=tuple(map(cut, source.pieces)))


def _is_kept(line: str, named: set[str]) -> bool:
    member = re.match(r"\t(?:(?:const )?(?:struct )?\w+ \*?)?(\w+(?:, \w+)*)(?:\[\w+\])?[;,]", line)
    return not member or any(name in named for name in member[1].split(", "))


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Give each name of the outermost level its new one. A member or a variable may be called as a
    function or a struct is; it keeps its name."""
    variables = set(re.findall(r"(?:\.|->|\b[us]\d+ \*?)(\w+)\b(?!\()", text))
    variables |= set(re.findall(r"\bstruct (\w+) \*?\1\b", text))

    def new(found: re.Match[str]) -> str:
        before, name, after = found[1], found[2], text[found.end() : found.end() + 1]
        if name not in names or before in (".", "->"):  # or a comment, which has no name
            return found[0]
        if name in variables and after != "(" and before != "struct ":
            return found[0]
        return before + names[name]

    return _WORD.sub(new, text)
