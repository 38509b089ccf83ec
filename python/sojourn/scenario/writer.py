# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The data of a scenario as TOML."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sojourn.scenario.shorthand import SHORTHANDS


def dumps(data: Mapping[str, Any]) -> str:
    """Write the TOML of a scenario that was read or made."""
    import tomlkit

    document = tomlkit.document()
    for key, value in data.items():
        document[key] = _table(value) if key in ("record", *SHORTHANDS) else _tables(value)
    return tomlkit.dumps(document)


def _tables(value: Any) -> Any:
    """Write a list of tables as [[name]] blocks; small tables inside them stay on one line."""
    import tomlkit

    if isinstance(value, list | tuple) and value and isinstance(value[0], dict):
        blocks = tomlkit.aot()
        for entry in value:
            blocks.append(_table(entry))
        return blocks
    return _inline(value)


def _table(entry: dict[str, Any]) -> Any:
    import tomlkit

    table = tomlkit.table()
    for key, value in entry.items():
        many = key in _BLOCKS and bool(value)
        table[key] = _tables(value) if many else _inline(value)
    return table


# Lists of tables inside a table that are written as blocks.
_BLOCKS = ("windows", "flows", "senders", "receivers", "hops")


def _inline(value: Any) -> Any:
    import tomlkit

    if isinstance(value, dict):
        table = tomlkit.inline_table()
        for key, item in value.items():
            table[key] = _inline(item)
        return table
    if isinstance(value, list | tuple):
        if len(value) > _SHORT and all(type(item) in (int, str) for item in value):
            return _long(value)
        array = tomlkit.array()
        for item in value:
            array.append(_inline(item))
        return array
    return value


# Longer lists are written as text, by `_long`.
_SHORT = 100


def _long(value: Sequence[int | str]) -> Any:
    """Write a long list, such as a trace or a list of times with hundreds of thousands of entries.
    An array of tomlkit takes the square of their number in time. Its integer is written as the text
    that was read for it, which may be any text. JSON writes numbers and such texts as TOML does."""
    from tomlkit.items import Integer, Trivia

    return Integer(0, Trivia(), json.dumps(value, ensure_ascii=False))
