# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""sentences.py: every sentence by which the kernel's side refuses, as its sources have them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from sojourn.linux.uml.module import core_sources

ROOT = Path(__file__).resolve().parents[3]
# Functions of the core that judge rows together.
_JUDGES = re.compile(
    r"^(?:static const char \*check|struct aqm_refusal aqm_setup_check)\(.*?^}", re.M | re.S
)
_LITERAL = r'"((?:[^"\\]|\\.)*)"'
_SAYS = re.compile(rf"(?:SAY|NL_SET_ERR_MSG)\(extack,((?:\s*{_LITERAL})+)")
# Of a kernel that no case runs in; test_no_ipv6.py looks for it.
NO_IPV6 = "responder: this kernel has no IPv6"
_DIRECTIVE = re.compile(r"%(?:ll|z)?([sdu])")


def formats() -> list[str]:
    """What is handed to printf; a sentence is one that has a space."""
    return sorted({text for text in _literals() if " " in _DIRECTIVE.sub("", text)})


def _literals() -> Iterator[str]:
    for path in core_sources(ROOT / "aqm"):
        for judge in _JUDGES.finditer(path.read_text()):
            yield from re.findall(_LITERAL, judge[0])
    for path in sorted((ROOT / "linux/qdisc").glob("*.[ch]")):
        for said in _SAYS.finditer(path.read_text()):
            yield "".join(re.findall(_LITERAL, said[1]))


def is_one_of(text: str, sentence: str) -> bool:
    """Could printf have made the sentence of this? The core's stand behind a row's name."""
    parts = [re.escape(part) for part in _DIRECTIVE.split(text)[::2]]
    kinds = [".*" if kind == "s" else r"\d+" for kind in _DIRECTIVE.findall(text)]
    pattern = "".join(part + kind for part, kind in zip(parts, [*kinds, ""], strict=True))
    return re.fullmatch(rf"(?:\w+: )?{pattern}", sentence) is not None


def say(fragment: str, *arguments: object) -> str:
    """The one sentence with this in it, filled in; nothing where no source has it."""
    found = [text for text in formats() if fragment in text]
    if not found:
        return ""
    [text] = found
    return _DIRECTIVE.sub("%s", text) % arguments
