# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The arguments of the functions that `sojourn` offers. A wrong one is answered with a sentence
that names it; numbers of numpy's become Python's, and paths text where an algorithm may be one."""

from __future__ import annotations

import functools
import inspect
import operator
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sojourn.core.errors import InputError, nearest, written


@functools.cache
def answering(public: Any) -> Any:
    """Have a function answer an argument that it has not, or that is of a wrong kind, with a
    sentence; a class is as before."""
    if isinstance(public, type):
        return public
    function: Callable[..., Any] = public
    signature = inspect.signature(function)
    known = signature.parameters

    @functools.wraps(function)
    def call(*values: Any, **named: Any) -> Any:
        for name in named.keys() - known.keys():
            raise InputError(
                f"{function.__name__}: there is no argument '{name}'.{nearest(name, known)}"
            )
        bound = signature.bind(*values, **named)
        for name, value in bound.arguments.items():
            if name in _READERS and value is not known[name].default:
                try:
                    bound.arguments[name] = _READERS[name](value)
                except _WrongError as error:
                    raise InputError(f"{function.__name__}: {name}: {error}") from None
        # Guests of the tests import `sojourn` without pydantic, which this module needs.
        from sojourn.core.units import UnitError

        try:
            return function(*bound.args, **bound.kwargs)
        except UnitError as error:
            raise InputError(f"{function.__name__}: {error}") from error

    return call


class _WrongError(Exception):
    """The reason why a value is refused."""


def _count(value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise _WrongError(f"{written(value)} is not a whole number, such as 2")
    return operator.index(value)


def _seeds(value: Any) -> Any:
    if isinstance(value, str | range | Mapping):
        return value
    return [_count(seed) for seed in value] if isinstance(value, Iterable) else _count(value)


def _experiment(value: Any) -> Any:
    if not isinstance(value, str | os.PathLike) and not hasattr(value, "cases"):
        raise _WrongError(f"{written(value)} is no name and no folder of an experiment")
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _WrongError(f"{written(value)} is not text")
    return value


def _path(value: Any) -> Any:
    if not isinstance(value, str | os.PathLike):
        raise _WrongError(f"{written(value)} is no path")
    if not os.fspath(value):
        raise _WrongError("'' names nothing; the folder itself is '.'")
    return value


def _texts(value: Any) -> list[str]:
    several = [value] if isinstance(value, str | os.PathLike) else value
    if not isinstance(several, Iterable):
        raise _WrongError(f"{written(value)} is no list of texts")
    return [_text(os.fspath(item) if isinstance(item, os.PathLike) else item) for item in several]


def _changes(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _WrongError(f'{written(value)} is no dict, such as {{"dumbbell.rtt": "20 ms"}}')
    return {_text(key): _plain(part, key) for key, part in value.items()}


def _plain(value: Any, key: str) -> Any:
    """Convert a value to one that TOML has."""
    if isinstance(value, Mapping):
        return {_text(name): _plain(part, f"{key}.{name}") for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part, key) for part in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "item"):  # a number of numpy's
        value = value.item()
    if not isinstance(value, str | bool | int | float):
        raise _WrongError(f"{key} = {value!r}: give text, a number, true, false, a list or a dict")
    return value


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "workers": _count,
    "seeds": _seeds,
    "changes": _changes,
    "experiment": _experiment,
    "path": _path,
    "out": _path,
    "result": _path,
    "text": _text,
    "width": _text,
    "font": _text,
    "aqms": _texts,
    "hosts": _texts,
    "figures": _texts,
}
