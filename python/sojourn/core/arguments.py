# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The arguments of the functions that `sojourn` offers. A wrong one is answered with a sentence
that names it; numbers of numpy's become Python's, and paths text where an algorithm may be one.
Errors name options of the command; here they get the names of arguments."""

from __future__ import annotations

import functools
import inspect
import json
import math
import operator
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, ValuesView
from pathlib import Path
from typing import Any, TypeVar

from sojourn.core.errors import InputError, SojournError, nearest, written
from sojourn.core.messages import printable

# Characters of a wrong value: a scenario fills a screen.
_LONGEST = 60
# Of Linux's file systems.
_NAME_BYTES = 255


Function = TypeVar("Function", bound=Callable[..., Any])


@functools.cache
def answering(public: Any) -> Any:
    """Have a function check its arguments; a class, whose methods do so, is as before."""
    return public if isinstance(public, type) else checked(public)


def checked(function: Function) -> Function:
    """Have a function answer an argument that is missing, that it has not, or that is of a wrong
    kind, with a sentence. Its errors name arguments in place of options."""
    signature = inspect.signature(function)
    known = signature.parameters
    own = function.__qualname__

    @functools.wraps(function)
    def call(*values: Any, **named: Any) -> Any:
        for name in named.keys() - known.keys():
            valid = [name for name in known if name not in _OWN]
            raise InputError(f"{own}: there is no argument '{name}'.{nearest(name, valid)}")
        try:
            bound = signature.bind(*values, **named)
        except TypeError as error:
            raise InputError(f"{own}: {error}") from None
        # Guests of the tests import `sojourn` without pydantic, which this module needs.
        from sojourn.core.units import UnitError

        for name, value in bound.arguments.items():
            kind = str(known[name].annotation).removesuffix(" | None")
            if kind in _READERS and value is not known[name].default:
                try:
                    bound.arguments[name] = _READERS[kind](value)
                except (_WrongError, UnitError) as error:
                    raise InputError(f"{own}: {name}: {error}") from None
                except (TypeError, ValueError, OverflowError, RecursionError) as error:
                    said = f"{_shown(value)} cannot be read: {error}"
                    raise InputError(f"{own}: {name}: {said}") from error
        try:
            return function(*bound.args, **bound.kwargs)
        except UnitError as error:
            raise InputError(f"{own}: {error}") from error
        except SojournError as error:
            lines = _in_python(str(error), own, known, bound.arguments).split("\n")
            error.args = ("\n".join(map(printable, lines)),)
            raise

    return call  # type: ignore[return-value]


_OWN = ("self", "cls")
# Arguments that have another name than their option.
_OTHERWISE = {
    "set": "changes",
    "map": "over",
    "simulate": "simulated_s",
    "duration": "simulated_s",
    "dask": "client",
    "ip": "is_ip",
}
# Options in a message, some with a value. A whole command of the shell and texts in quotes are
# kept, as is a text that the user gave: GIVEN.
_OPTION = r"""
    (?P<kept> (?!--[a-z-]+[ ]GIVEN) GIVEN(?!\w)
        | (?<!\w)(?P<quote>['"]).*?(?P=quote)(?!\w)
        | :\d+:[ ][^:\n]*(?=:)  # a key, behind the line of its file
        | \bsojourn[ ][a-z]+[ ](?:GIVEN|[^'`;,\n])*?(?=['`;,]|:[ ]|$) )
    | ^--(?P<first>[a-z][a-z-]*)(?=[.,:;]?(?:\s|$)):?
    | (?<![\w/.='"-])--(?:
        (?P<listed>aqm|host|figure)[ ](?P<words>WORD(?:[ ]--(?P=listed)[ ]WORD)*)(?=END)
        | (?P<valued>seeds(?=[ ]\d)|set(?=[ ][^\s=]+=)|(?<=:[ ]--)out)[ ]
            (?P<value>GIVEN\S*?|.+?)(?=[,:;][ ]|[ ](?:--|and[ ]|or[ ])|\.?$)
        | (?P<alone>[a-z][a-z-]*)(?=END) )
""".replace("WORD", r"(?:GIVEN\S*?|(?!--)\S+?)").replace("END", r"[.,:;)]?(?:\s|$)")


def _texts_in(values: Mapping[str, Any]) -> set[str]:
    """Collect the texts among arguments, also those inside lists and dicts."""
    texts: set[str] = set()
    seen: set[int] = set()
    left: list[Any] = [values]
    while left:
        value = left.pop()
        if isinstance(value, str | os.PathLike):
            text = os.fsdecode(value)
            # Messages have a path as pathlib writes it.
            texts |= {text.strip(), str(Path(text))}
        elif isinstance(value, Mapping | list | tuple) and id(value) not in seen:
            seen.add(id(value))
            left += [*value, *value.values()] if isinstance(value, Mapping) else value
    return texts


def _in_python(
    message: str, own: str, known: Mapping[str, inspect.Parameter], values: Mapping[str, Any]
) -> str:
    """Name arguments of a function in place of options in a message; a command of the shell keeps
    its options, and the user's own texts are kept."""

    def name(match: re.Match[str]) -> str:
        option = match["first"] or match["listed"] or match["valued"] or match["alone"] or ""
        word = option.replace("-", "_")
        names = (word, f"{word}s", _OTHERWISE.get(option))
        argument = next((name for name in names if name in known), None)
        if argument is None:
            return match[0]
        if match["first"]:
            return f"{own}: {argument}:"
        if match["alone"]:
            return f"'{argument}'"
        comma = "," if message.startswith(" --", match.end()) else ""
        if match["listed"]:
            words = [text.strip(" '") for text in match["words"].split(f" --{option} ")]
            return f"{argument}={words}{comma}"
        return f"{argument}={_literal(option, match['value'])}{comma}"

    # Another text is one word without an option.
    texts = {text for text in _texts_in(values) if re.search(" |--", text) and text in message}
    given = "|".join(map(re.escape, sorted(texts, key=len, reverse=True))) or "(?!)"
    pattern = _OPTION.replace("GIVEN", f"(?:{given})")
    return re.sub(pattern, name, message, flags=re.MULTILINE | re.VERBOSE)


def _literal(option: str, text: str) -> str:
    """Write the value of an option as Python has it."""
    if option == "out":
        return repr(text)
    if option == "set":
        key, _, text = text.partition("=")
        value = _value(text)
        shown = json.dumps(value) if isinstance(value, str) else repr(value)
        return f"{{{json.dumps(key)}: {shown}}}"
    return repr(_value(text))


def _value(text: str) -> Any:
    """Read a TOML value, or return the text itself."""
    from sojourn.core import toml  # slow to import

    try:
        return toml.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


class _WrongError(Exception):
    """The reason why a value is refused."""


def _shown(value: Any) -> str:
    try:
        text = written(value)
    except (RecursionError, ValueError):  # it holds itself, or has thousands of digits
        text = f"this {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _plainly(value: Any) -> Any:
    """Convert a number or an array of numpy's to Python's own."""
    return value.tolist() if hasattr(value, "tolist") else value


def _is_stream(value: Any) -> bool:
    """Tell whether it is bytes, a file or a dict, whose items are no list of anything."""
    return isinstance(value, bytes | bytearray | memoryview | Mapping) or hasattr(value, "read")


def _whole(value: Any) -> int:
    value = _plainly(value)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise _WrongError(f"{_shown(value)} is not a whole number, such as 2")
    return operator.index(value)


def _count(value: Any) -> int:
    number = _whole(value)
    if number < 1:
        raise _WrongError(f"{_shown(number)} is too small; allowed: 1 and more")
    return number


def _number(value: Any) -> float:
    value = _plainly(value)
    if isinstance(value, str | bool) or not hasattr(value, "__float__"):
        raise _WrongError(f"{_shown(value)} is not a number, such as 2.5")
    if not math.isfinite(value):
        raise _WrongError(f"{_shown(value)} is not a finite number")
    return float(value)


def _truth(value: Any) -> bool:
    value = _plainly(value)
    if not isinstance(value, bool):
        raise _WrongError(f"{_shown(value)} is neither True nor False")
    return value


def _seeds(value: Any) -> Any:
    from sojourn.core import seeds

    value = _plainly(value)
    if value is None:
        raise _WrongError("None is no number N, for seeds 1 to N, and no range or list")
    # A stream is refused as text that is no number.
    if not (isinstance(value, str | range) or _is_stream(value)):
        several = isinstance(value, Iterable)
        value = [_whole(seed) for seed in value] if several else _whole(value)
    try:
        return seeds.read(value)
    except InputError as error:
        raise _WrongError(str(error).removeprefix("seeds ")) from None


def _seeds_by_host(value: Any) -> dict[str, int]:
    if not isinstance(value, Mapping):
        raise _WrongError(f'{_shown(value)} is no dict, such as {{"sim": 10, "linux": 3}}')
    return {_text(host): _count(count) for host, count in value.items()}


def _experiment(value: Any) -> Any:
    if not isinstance(value, str | os.PathLike) and not hasattr(value, "cases_on"):
        raise _WrongError(f"{_shown(value)} is no name and no folder of an experiment")
    return os.fspath(_path(value)) if isinstance(value, os.PathLike) else value


def _scenario(value: Any) -> Any:
    """Leave to `load` what is no path: it knows a scenario."""
    return _path(value) if isinstance(value, str | os.PathLike) else value


def _results(value: Any) -> Any:
    """Leave to their reader what may be results: it knows them."""
    value = _plainly(value)
    if isinstance(value, str | os.PathLike):
        return _path(value)
    if value is None or isinstance(value, bytes | bool | int | float):
        raise _WrongError(f"{_shown(value)} is no result; give what sojourn.run returned")
    return list(value) if isinstance(value, Iterator | ValuesView) else value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _WrongError(f"{_shown(value)} is not text")
    return value


def _path(value: Any) -> Any:
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        hint = "; give the folder that it was saved in" if hasattr(value, "save") else ""
        raise _WrongError(f"{_shown(value)} is no path{hint}")
    text = os.fspath(value)
    if not text:
        raise _WrongError("'' names nothing; the folder itself is '.'")
    if "\0" in text:
        raise _WrongError(f"{_shown(text)}: a name of a file has no zero byte")
    if any(len(name) > _NAME_BYTES for name in os.fsencode(text).split(os.fsencode(os.sep))):
        raise _WrongError(f"{_shown(text)}: a name of a file has at most {_NAME_BYTES} bytes")
    return value


def _texts(value: Any) -> list[str]:
    value = _plainly(value)
    several = [value] if isinstance(value, str | os.PathLike) else value
    if not isinstance(several, Iterable) or _is_stream(several):
        raise _WrongError(f"{_shown(value)} is no list of texts")
    return [_text(os.fspath(item) if isinstance(item, os.PathLike) else item) for item in several]


def _changes(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _WrongError(f'{_shown(value)} is no dict, such as {{"dumbbell.rtt": "20 ms"}}')
    return {_text(key): _plain(part, key) for key, part in value.items()}


def _plain(value: Any, key: str) -> Any:
    """Convert a value to one that TOML has."""
    value = _plainly(value)
    if isinstance(value, Mapping):
        return {_text(name): _plain(part, f"{key}.{name}") for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part, key) for part in value]
    if isinstance(value, os.PathLike):
        return os.fspath(_path(value))
    if not isinstance(value, str | bool | int | float):
        shown = _shown(value) if value is not None else "None"
        raise _WrongError(f"{key} = {shown}: give text, a number, true, false, a list or a dict")
    return value


def _callable(value: Any) -> Any:
    if not callable(value):
        raise _WrongError(f"{_shown(value)} is no function")
    return value


def _client(value: Any) -> Any:
    if not hasattr(value, "submit"):
        raise _WrongError(
            f"{_shown(value)} has no submit, as an executor and a client of Dask have"
        )
    return value


def _quantity(kind: str) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        from sojourn.core import units

        return getattr(units, kind).from_value(_plainly(value))

    return read


# By the annotations of the functions.
_READERS: Mapping[str, Callable[[Any], Any]] = {
    "Any": _client,
    "Callable[[dict[str, Any]], None]": _callable,
    "Callable[[float], None]": _callable,
    "Callable[[str], None]": _callable,
    "Given": _results,
    "bool": _truth,
    "float": _number,
    "int": _count,
    "str": _text,
    "Collection[str]": _texts,
    "Sequence[str]": _texts,
    "str | Sequence[str]": _texts,
    "Path": _path,
    "str | Path": _path,
    "str | PathLike[str]": _path,
    "str | os.PathLike[str]": _path,
    "Mapping[str, int]": _seeds_by_host,
    "Mapping[str, object]": _changes,
    "Seeds": _seeds,
    "Duration | str": _quantity("Duration"),
    "Rate | str": _quantity("Rate"),
    "Size | str": _quantity("Size"),
    "Experiment | str": _experiment,
    "Scenario | str | os.PathLike[str]": _scenario,
}
