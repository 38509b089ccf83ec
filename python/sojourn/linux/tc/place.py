# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Where a qdisc stands and what it is called, as tc writes it: `root`, `parent 1:10`, `10:`."""

from __future__ import annotations

import re

from sojourn.core.errors import InputError
from sojourn.linux.rtnetlink import ROOT

_CLASS = re.compile(r"([0-9a-fA-F]{1,4}):([0-9a-fA-F]{0,4})")
_HANDLE = re.compile(r"([0-9a-fA-F]{1,4}):?0?")


def read_parent(text: str) -> int:
    """The class below which it hangs; its numbers are hexadecimal."""
    match = _CLASS.fullmatch(text)
    if not match:
        raise InputError(f'parent: a class, as in 1:10, is wanted, not "{text}"')
    return int(match[1], 16) << 16 | int(match[2] or "0", 16)


def read_handle(text: str) -> int:
    """The name of the qdisc itself."""
    match = _HANDLE.fullmatch(text)
    if not match:
        raise InputError(f'handle: a number, as in 10:, is wanted, not "{text}"')
    return int(match[1], 16) << 16


def handle_text(handle: int) -> str:
    return f"{handle >> 16:x}:"


def place_text(parent: int) -> str:
    if parent == ROOT:
        return "root"
    major, minor = parent >> 16, parent & 0xFFFF
    # Of a number that is zero tc writes nothing.
    return f"parent {f'{major:x}' if major else ''}:{f'{minor:x}' if minor else ''}"
