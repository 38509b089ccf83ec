# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""plugin.py: tc's plugin without tc, through plugin.c: reads and prints options and statistics."""

from __future__ import annotations

import ctypes
import json
import shlex
import struct
import subprocess
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from sojourn.linux.uml.module import CORE, QDISC, TC, core_sources

from tests.linux.rtnetlink import NESTED, OPTIONS, attribute

HERE = Path(__file__).resolve().parent
_ROOM_BYTES = 1 << 16


class RefusedError(Exception):
    """The plugin's sentences, or its help."""


@cache
def _library() -> ctypes.CDLL:
    with tempfile.TemporaryDirectory(prefix="sojourn-") as folder:
        made = Path(folder) / "plugin.so"
        sources = [path for path in core_sources(CORE) if path.suffix == ".c"]
        sources += [HERE / "plugin.c", TC / "value.c", QDISC / "rows.c"]
        flags = ["-std=gnu11", "-O0", "-fPIC", "-shared", "-fvisibility=hidden"]
        flags += [f"-I{path}" for path in (CORE, QDISC, TC)]
        subprocess.run(["gcc", *flags, "-o", made, *sources, "-lm"], check=True)
        library = ctypes.CDLL(str(made))
    library.plugin_show.restype = library.plugin_value.restype = ctypes.c_char_p
    library.plugin_value.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64)
    return library


def read(words: str | Iterable[str], *, replace: bool = False) -> bytes:
    """Return the attributes inside the options that tc would send; RefusedError otherwise."""
    typed = [word.encode() for word in (shlex.split(words) if isinstance(words, str) else words)]
    room, refusal = ctypes.create_string_buffer(_ROOM_BYTES), ctypes.c_char_p()
    argv = (ctypes.c_char_p * (len(typed) + 1))(*typed)
    length = _library().plugin_read(len(typed), argv, replace, room, ctypes.byref(refusal))
    if not length:
        raise RefusedError((refusal.value or b"").decode())
    kind, data = struct.unpack_from("=HH", room)[1], room.raw[4:length]
    assert kind == OPTIONS | NESTED
    return data


def _show(options: bytes, stats: bytes | None, *, as_json: bool) -> str:
    inside = attribute(OPTIONS | NESTED, options)
    own = None if stats is None else attribute(OPTIONS | NESTED, stats)
    shown: bytes = _library().plugin_show(inside, own, as_json)
    return shown.decode()


def text(options: bytes, stats: bytes | None = None) -> str:
    """Return what tc prints of these attributes."""
    return _show(options, stats, as_json=False)


def data(options: bytes, stats: bytes | None = None) -> dict[str, Any]:
    """Return the same as `tc -j` has it."""
    found: dict[str, Any] = json.loads(f"{{{_show(options, stats, as_json=True)}}}")
    return found


def value(algorithm: str, row: str, number: int) -> str:
    """Return a row's number as the plugin writes it."""
    written: bytes = _library().plugin_value(algorithm.encode(), row.encode(), number)
    return written.decode()
