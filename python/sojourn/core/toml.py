# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""TOML as users write it, within limits: neither the digits of a number nor the depth of a key may
break what reads the data afterwards."""

from __future__ import annotations

import re
import tomllib
from typing import Any

# No key of a scenario has ten parts, and what walks through data calls itself at each.
DEEPEST = 100
# Python makes no int of more digits.
_TOO_LONG = re.compile(r"[0-9_]{4301,}")


def loads(text: str) -> dict[str, Any]:
    """Parse TOML. Raise TOMLDecodeError where it is none or a number is too long, RecursionError
    where keys or brackets are nested deeper than DEEPEST."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:
        number = _TOO_LONG.search(text)
        if not number:
            raise
        before = text[: number.start()]
        line, column = before.count("\n") + 1, number.start() - before.rfind("\n")
        raise tomllib.TOMLDecodeError(
            f"A number has too many digits (at line {line}, column {column})"
        ) from error
    if _is_deep(data):
        raise RecursionError
    return data


def _is_deep(data: object) -> bool:
    """Tell whether the data is deeper than DEEPEST, without a call for each level."""
    level: list[Any] = [data]
    for _ in range(DEEPEST + 1):
        level = [
            part
            for whole in level
            for part in (whole.values() if isinstance(whole, dict) else whole)
            if isinstance(part, dict | list)
        ]
        if not level:
            return False
    return True
