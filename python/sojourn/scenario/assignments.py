# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`key=value` of the command line: how it is read, and written as text that reads back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sojourn.core.errors import InputError


def read_assignment(text: str) -> tuple[str, object]:
    """Split 'key=value' of the command line; a value that is not TOML is text. Raise InputError if
    there is no key or no value."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise InputError(f"--set {text}: write it as key=value")
    return key.strip(), read_value(value.strip())


def read_assignments(texts: Iterable[str]) -> dict[str, object]:
    """Read several assignments; raise InputError for a key that is set twice."""
    changes: dict[str, object] = {}
    for text in texts:
        key, value = read_assignment(text)
        if key in changes:
            raise InputError(f"--set {text}: '{key}' is set twice")
        changes[key] = value
    return changes


def read_value(text: str) -> object:
    """Read a TOML value, or return the text itself."""
    import tomllib  # slow to import

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def write_value(value: object) -> str:
    """Write the text that `--set key=TEXT` reads as this value."""
    if isinstance(value, str) and read_value(value) == value:
        return value
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return _toml(value)


def _toml(value: object) -> str:
    import tomlkit

    if isinstance(value, Mapping | list | tuple):
        return write_value(value)
    return tomlkit.item(value).as_string()
