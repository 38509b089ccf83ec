# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The senders and hearers of probes, for the stand-alone qdisc of an algorithm that asks for them.

The module's own files of linux/qdisc, without the experimental protocol: its probes are echo
requests alone. In one file a function needs no declaration: each is put behind all that it calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from sojourn.linux.export import c
from sojourn.linux.uml.module import QDISC

_FILES = ["probe.h", "parents.h", "keep.c", "probe_wire.c", "probe6.c", "probe.c"]
_FILES += ["probe_send.c", "hear.c"]
# The template has its own rows, and one kernel.
_ELSEWHERE = ("sojourn.h", "compat.h")
# A file that says at its head what all of its parts do.
_HEADS = ("qdisc/probe.h", "qdisc/probe.c", "qdisc/probe_send.c", "qdisc/hear.c", "qdisc/keep.c")
# Of the experimental protocol, and of a queue with flows and lanes.
_ELSE = r"\b(?:PROBE_PROTOCOL|experimental|hear_experimental_end|place|inst|lane)\b"
_IF_NOT = re.compile(r"\bif \([^;{}]*?!= PROBE_PROTOCOL\)\n")
_IF = re.compile(r"\n[ \t]*if \((?:[^;{}]|\{\})*?\)\n[^;{}]*;(?:\n\s*else\b)?")
_OPERANDS = (
    r"\s+&&\s+\w+ != PROBE_PROTOCOL",
    r",\s*(?:const )?struct probe_place \*?place\b",
    r",\s*&?place\b",
    r",\s*slot->inst\b",
    r"\.(?:place|inst|lane) = [\w.>-]+,\s*",
    # The high half of a nonce is the experimental protocol's.
    r"\(u32\)(?=nonce\b|slot->nonce\b)",
)
_LINE = re.compile(r"^\t[^\n]*;[^\n]*\n", re.M)
_NONCE = re.compile(r"\bu64(?= \*?nonce\b| probe_enter\()")
_SEE = re.compile(r",? see [\w.]+\.[ch](?: and [\w.]+\.[ch])?")
_COMMENT = r"/\*(?:(?!\*/).)*\*/"


def sources(seen: set[Path]) -> list[c.Source]:
    """List the files behind all that they include, of which `seen` is there already."""
    seen |= {QDISC / name for name in _ELSEWHERE}
    found = [
        source for name in _FILES for source in c.with_included(QDISC / name, seen, _echoes_alone)
    ]
    return [replace(source, about=_about(source)) for source in c.in_one_file(found)]


def ordered(found: Iterable[c.Source]) -> list[c.Source]:
    """Put each piece behind those that it uses, and else leave the order as it is. A source may
    come in several parts; the first has the words at its head."""
    files = list(found)
    of = {name: piece for s in files for piece in s.pieces for name in piece.defines}
    home = {piece: source for source in files for piece in source.pieces}
    done: dict[c.Piece, None] = {}

    def put(piece: c.Piece) -> None:
        if piece in done:
            return
        for name in _calls(piece):
            if name in of and of[name] != piece:
                put(of[name])
        done[piece] = None

    for source in files:
        for piece in source.pieces:
            put(piece)
    parts: list[c.Source] = []
    said: set[str] = set()
    for piece in done:
        source = home[piece]
        about = "" if source.file in said else source.about
        said.add(source.file)
        parts.append(replace(source, about=about, pieces=(piece,)))
    return parts


def _calls(piece: c.Piece) -> list[str]:
    """List the names that must be known in front of it, as they come: no members."""
    code = re.sub(_COMMENT, " ", piece.text, flags=re.S)
    if re.match(r"\s*(?:struct|enum) \w+ \{", code):
        return re.findall(r"(?:\bstruct |\benum |\[)(\w+)", code)
    return re.findall(r"(?<![.\w>])[A-Za-z_]\w*", code)


def _echoes_alone(text: str) -> str:
    """Cut the statements, operands and members that one queue with echoes alone does without."""

    def cut(found: re.Match[str]) -> str:
        return "" if re.search(_ELSE, found[0]) else found[0]

    text = _IF.sub(cut, _IF_NOT.sub("", text))
    for operand in _OPERANDS:
        text = re.sub(operand, "", text)
    return _LINE.sub(cut, _NONCE.sub("u32", text))


def _about(source: c.Source) -> str:
    if source.file not in _HEADS:
        return ""
    text = _SEE.sub("", source.about)
    kept = [one for one in re.split(r"(?<=\.)\s+", text) if "xperimental" not in one]
    return " ".join(kept)
