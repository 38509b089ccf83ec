# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Messages on stderr. Each goes through `tell`, which makes them safe for a terminal and short
enough to read, and which no closed or full stderr can make fail."""

from __future__ import annotations

import io
import os
import re
import sys
from contextlib import suppress

# A file's name has at most 255 bytes, and a path of several is still whole.
_WORD = 600
# A hundred names fit.
_LINE = 6_000
_STDERR = 2
_LONG_WORD = re.compile(rf"\S{{{_WORD + 1},}}")


def tell(sentence: str) -> None:
    """Print a sentence on stderr, if there is one. Lines that belong together are one sentence."""
    if sys.stderr is None:  # print() would take stdout in its place
        return
    with suppress(OSError):
        print("\n".join(map(_line, sentence.split("\n"))), file=sys.stderr, flush=True)


def _line(line: str) -> str:
    line = _LONG_WORD.sub(lambda match: _shortened(match[0], _WORD), line)
    return printable(_shortened(line, _LINE))


def _shortened(text: str, most: int) -> str:
    """Leave out the middle of a long text; a sentence's remedy is at its end."""
    if len(text) <= most:
        return text
    head, tail = text[: most // 6], text[-(most // 20) :]
    return f"{head}[... {len(text) - len(head) - len(tail)} more signs ...]{tail}"


def printable(text: str) -> str:
    r"""Escape what a terminal would obey, and bytes that are no text: \x1b, \u202e, \xff."""
    return text if text.isprintable() else "".join(map(_sign, text))


def _sign(sign: str) -> str:
    if sign.isprintable():
        return sign
    # Python gives bytes that are no UTF-8 these numbers.
    byte = ord(sign) - 0xDC00
    return f"\\x{byte:02x}" if 0x80 <= byte <= 0xFF else sign.encode("unicode_escape").decode()


class _Dropping(io.FileIO):
    """A file that takes what cannot be written, and drops it."""

    def write(self, content: object) -> int:
        try:
            return super().write(content) or 0  # type: ignore[arg-type]
        except OSError:
            return len(memoryview(content))  # type: ignore[arg-type]


def guard_streams() -> None:
    """Let nothing that is printed on stderr fail, by whatever library, and keep files from getting
    the number of a stream that is closed."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        os.set_inheritable(number, True)
    os.close(number)
    encoding = sys.stderr.encoding if sys.stderr else "utf-8"
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(_Dropping(_STDERR, "w", closefd=False)),
        encoding,
        "backslashreplace",
        line_buffering=True,
    )
