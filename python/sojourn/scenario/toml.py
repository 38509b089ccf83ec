# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Scenarios from TOML, with errors that name file, line, key and value."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from sojourn.core import toml
from sojourn.core.errors import InputError, closest, nearest, written
from sojourn.core.messages import printable
from sojourn.core.units import DECIMAL_COMMA
from sojourn.scenario import known
from sojourn.scenario.checks import MOST_PROBLEMS
from sojourn.scenario.ends import tags
from sojourn.scenario.flows import KINDS
from sojourn.scenario.model import FORMAT, Scenario
from sojourn.scenario.networks import NETWORKS, OF_GRAPH, beside, cables
from sojourn.scenario.parts import TAGS, Model
from sojourn.user_aqm import library

Keys = tuple[str | int, ...]
M = TypeVar("M", bound=BaseModel)


def load(path: str | PathLike[str]) -> Scenario:
    """Load the scenario in a TOML file."""
    if not isinstance(path, str | PathLike):
        raise InputError(f"{path!r}: is no scenario; give its file, or what sojourn.load returned")
    if not Path(path).exists():
        raise InputError(f"{path}: there is no such file; {known.remedy(str(path))}")
    text = read_text(Path(path))
    data = placed(parse(text, str(path)), Path(path).parent)
    return validate(data, source=str(path), text=text)


def read_text(path: str | Path) -> str:
    """Read the text of a file; raise InputError with the reason if that fails."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except IsADirectoryError as error:
        inside = next(iter(sorted(Path(path).glob("*.toml"))), "")
        such = f", such as {inside}" if inside else ""
        raise InputError(f"{path}: is a folder; name a file in it{such}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: cannot be read: it is not text in UTF-8") from error


def loads(text: str) -> Scenario:
    """Load the scenario in TOML text."""
    return validate(parse(text, "<text>"), source="<text>", text=text)


# Behind the words that a sentence of Python's reader of TOML begins with.
_TOML_REMEDIES = {
    "Expected newline or end of document after a statement": (
        '; text and a value with a unit stand in quotes, as in "10 Mbit/s"'
    ),
    "Cannot overwrite a value": "; the key is there twice: leave one out",
    "Cannot declare": "; the table is there twice: join the two",
    "Invalid value": '; text stands in quotes, as in "codel"',
    r"Illegal character '\n'": "; a quotation mark is missing on this line",
    "Unterminated string": "; a quotation mark is missing",
    """Expected "'\"""": "; a quotation mark is missing",
}
_TWICE = ("Cannot overwrite a value", "Cannot declare")
_OPEN = ("Invalid value", "Unclosed", "Invalid initial character")


def parse(text: str, source: str, model: type[BaseModel] = Scenario) -> dict[str, Any]:
    """Parse TOML; raise InputError with the line of a mistake. The model says which of its tables
    are lists."""
    try:
        return toml.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        reason, _, place = str(error).partition(" (at ")
        found = re.findall(r"\d+", place)
        numbers = found or [str(len(text.splitlines()) or 1)]
        remedies = (said for words, said in _TOML_REMEDIES.items() if reason.startswith(words))
        remedy = next(remedies, "")
        line = text.split("\n")[int(numbers[0]) - 1]
        if reason.startswith(_OPEN) and (opened := _unclosed(text, int(found[0]) if found else 0)):
            remedy = opened
        if reason.startswith(_TWICE) and (header := _HEADER.match(line.lstrip())):
            as_list = _as_list(_words(header), model)
            remedy = f"; it {as_list}" if as_list else remedy
        if DECIMAL_COMMA.match(line.partition("=")[2]):
            remedy = "; a point stands before decimals, and nothing between thousands"
        raise InputError(f"{source}:{':'.join(numbers)}: not TOML: {reason}{remedy}") from error
    except RecursionError as error:
        raise InputError(
            f"{source}: keys or brackets are nested too deeply; allowed: {toml.DEEPEST} levels"
        ) from error


def validate(data: dict[str, Any], *, source: str, text: str = "") -> Scenario:
    """Make a scenario from data; raise InputError with each problem and its line in `text`."""
    if "scenario" in data and data.keys() & {"axes", "plan"}:
        raise InputError(f"{source}: is a sweep, not a scenario; sojourn sweep runs it")
    if "format" not in data:
        raise InputError(f"{source}: format is missing; write 'format = {FORMAT}'")
    if type(data["format"]) is not int or data["format"] != FORMAT:
        line = line_of(text, ("format",))
        place = f"{source}:{line}" if line else source
        reason = _OLD_FORMAT if data["format"] == 1 else f"is not known; write {FORMAT}"
        raise InputError(f"{place}: format = {written(data['format'])} {reason}")
    return modelled(data, Scenario, source, text)


def modelled(data: dict[str, Any], model: type[M], source: str, text: str) -> M:
    """Make a model of data; InputError has a line for each mistake, with its place in `text`."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise InputError(sentences(error, data, source, text, model)) from error


# In format 1 each opportunity of a trace was one packet's.
_OLD_FORMAT = (
    "is no longer read; write format = 2, sim = { ring = … } for ring, sim = { send_jitter = … } "
    'for send_jitter, and opportunity = "packet" beside each trace'
)


def sentences(
    error: ValidationError,
    data: dict[str, Any],
    source: str,
    text: str,
    model: type[BaseModel] = Scenario,
) -> str:
    """Write one line for each mistake, in the file's order."""
    places = _places(text)
    reasons: dict[Keys, str] = {}
    for path, reason in _mistakes(error, data, model, in_file=bool(text)):
        reasons.setdefault(path, reason)
    problems = sorted((_line_at(places, path) or 0, spell(path), reasons[path]) for path in reasons)
    lines = [f"{source}{f':{n}' if n else ''}: {key}: {reason}" for n, key, reason in problems]
    if len(lines) > MOST_PROBLEMS:
        lines[MOST_PROBLEMS:] = [f"{source}: and more; these come first"]
    return "\n".join(lines)


def _in_python(error: ValidationError, data: dict[str, Any], model: type[BaseModel]) -> str:
    return sentences(error, data, model.__name__, "", model)


Model.mistakes = _in_python


def _mistakes(
    error: ValidationError, data: dict[str, Any], model: type[BaseModel], *, in_file: bool
) -> Iterator[tuple[Keys, str]]:
    """Yield the place and the reason of each mistake. A mistyped key is also a missing one: in a
    table with an unknown key, missing keys are not reported, nor those that are in a table whose
    name is misspelt. What stands beside a shorthand has one reason."""
    entries = error.errors(include_url=False)
    mistyped = {entry["loc"][:-1] for entry in entries if entry["type"] == "extra_forbidden"}
    misspelt = _misspelt(entries, data, model)
    network = next((key for key in NETWORKS if model is Scenario and key in data), None)
    for entry in entries:
        *table, key = entry["loc"] or ("",)
        if entry["type"] == "missing" and (
            tuple(table) in mistyped or key in misspelt.get(tuple(table), ())
        ):
            continue
        part = str(next(iter(entry["loc"]), ""))
        if network and part in OF_GRAPH:
            yield (part,), beside(network, part)
            continue
        context = entry.get("ctx", {})
        if "problems" in context:
            for path, reason in context["problems"]:
                yield cables.path_in_file(path, data), reason
            continue
        path = _real_path(cables.path_in_file(entry["loc"], data), data)
        if context.get("key"):
            path = (*path, context["key"])
        yield path, _reason(dict(entry), path, data, model, in_file=in_file)


def _misspelt(
    entries: Sequence[Any], data: Mapping[str, Any], model: type[BaseModel]
) -> dict[Keys, Collection[str]]:
    """Find the tables whose name is misspelt: under the right name, the keys that are in them."""
    found: dict[Keys, Collection[str]] = {}
    for entry in entries:
        location, value = entry["loc"], entry.get("input")
        if entry["type"] == "extra_forbidden" and isinstance(value, dict):
            path = _real_path(cables.path_in_file(location, data), data)
            meant = closest(str(path[-1]), _keys_at(path, data, model))
            if meant:
                found[*location[:-1], meant] = value.keys()
    return found


def _reason(
    entry: dict[str, Any],
    path: Keys,
    data: Mapping[str, Any],
    model: type[BaseModel],
    *,
    in_file: bool,
) -> str:
    kind, value = entry["type"], entry.get("input")
    context = entry.get("ctx", {})
    if kind in ("unit", "refusal"):
        return str(context.get("reason", entry["msg"]))
    if kind == "times":
        return str(entry["msg"])
    if kind == "extra_forbidden":
        meant = nearest(str(path[-1]), _keys_at(path, data, model)) + _of_links(path)
        return f"unknown key (its value: {_shortened(value)}).{meant}"
    if kind == "missing":
        return "is missing"
    if kind in ("literal_error", "union_tag_invalid"):
        expected = str(context.get("expected") or context.get("expected_tags"))
        choices = re.findall(r"'([^']+)'", expected)
        choice = context.get("tag", value)
        meant = nearest(str(choice), choices)
        meant = meant if "Did you mean" in meant else ""  # the choices are named already
        return f"{written(choice)} is not a choice; allowed: {expected}.{meant}"
    if kind in ("tuple_type", "list_type") and isinstance(value, dict):
        words = [str(key) for key in path if not isinstance(key, int)]
        as_list = _as_list(words, model)
        if as_list and not in_file:
            return "is a list of tables, as in [{KEY = VALUE}]"
        return as_list or f"{_shortened(value)} {_SENTENCES[kind]}"
    if kind in _SENTENCES:
        return f"{_shortened(value)} {_SENTENCES[kind].format(**context)}"
    return f"{_shortened(value)}: {entry['msg']}"


def _of_links(path: Keys) -> str:
    """Say where a key of links is set that a shorthand does not have."""
    from sojourn.scenario.links import Link

    is_known = len(path) == 2 and path[0] in NETWORKS and path[1] in Link.model_fields
    if not is_known:
        return ""
    return " A link has it: `sojourn show --expand` writes the links out."


_TABLE = "is not a table of keys and values"
_WHOLE = "is not a whole number, such as 10"
# Sentences for errors that pydantic finds; {…} is from its own context.
_SENTENCES = {
    "model_type": _TABLE,
    "dict_type": _TABLE,
    "model_attributes_type": _TABLE,
    "tuple_type": "is not a list",
    "list_type": "is not a list",
    "string_type": "is not text",
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": "is not a number, such as 0.5",
    "finite_number": "is not a finite number",
    "bool_type": "is not true or false",
    "bool_parsing": "is not true or false",
    "greater_than_equal": "is too small; allowed: {ge} and more",
    "less_than_equal": "is too large; allowed: up to {le}",
    "string_too_long": "is too long; allowed: {max_length} characters",
    "string_pattern_mismatch": (
        "is no name; allowed: letters, digits, spaces and _ . / -, the first a letter or digit"
    ),
}


def _shortened(value: object, most: int = 60) -> str:
    text = written(value)
    return text if len(text) <= most else f"{text[:most]}..."


def _keys_at(path: Keys, data: Any, model: type[BaseModel]) -> list[str]:
    """List the valid keys of the table that holds the last element of `path`."""
    models = [model]
    for key in path[:-1]:
        data = data[key] if _holds(data, key) else None
        inner = [
            found
            for outer in models
            for name, field in outer.model_fields.items()
            if key == (field.alias or name)
            for found in _models_in(field.annotation)
        ]
        models = inner or models
        models = [inner for inner in models if _is_named(inner, data)] or models
    if len(models) == 1:
        return _keys_of(models[0])
    return sorted({key for inner in models for key in _keys_of(inner)})


def _as_list(words: Sequence[str], model: type[BaseModel]) -> str:
    """Say how a list of tables is written; empty where the key of this path is none."""
    head, *inner = words
    # A sweep may hold its scenario.
    models, path = ([Scenario], inner) if head == "scenario" else ([model], list(words))
    annotations: list[Any] = []
    for key in path:
        annotations = [
            field.annotation
            for outer in models
            for name, field in outer.model_fields.items()
            if key == (field.alias or name)
        ]
        models = [found for annotation in annotations for found in _models_in(annotation)]
    if not any(map(_is_of_tables, annotations)):
        return ""
    return f"is a list of tables: write [[{'.'.join(words)}]] above each"


def _is_of_tables(annotation: Any) -> bool:
    parts = getattr(annotation, "__args__", ())
    is_list = getattr(annotation, "__origin__", None) in (tuple, list)
    return (is_list and bool(_models_in(annotation))) or any(map(_is_of_tables, parts))


def _is_named(model: type[BaseModel], data: Any) -> bool:
    """Tell whether the table names this model by its kind or distribution."""
    return isinstance(data, dict) and any(
        key in data and key in model.model_fields and data[key] == model.model_fields[key].default
        for key in ("kind", "distribution")
    )


def _keys_of(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [m for arg in getattr(annotation, "__args__", ()) for m in _models_in(arg)]


def _real_path(location: Sequence[str | int], data: Any) -> Keys:
    """Remove from a location the tags that pydantic puts in for the members of a union."""
    path: list[str | int] = []
    for key in location:
        if _holds(data, key):
            data = data[key]
        elif key in _TAGS and key is not location[-1]:
            continue
        elif key in _TAGS:
            break
        elif isinstance(key, int) and isinstance(data, str | int):
            continue  # a value that stands for a list of one
        else:
            data = None
        path.append(key)
    return tuple(path)


def _holds(data: Any, key: str | int) -> bool:
    if isinstance(data, list):
        return isinstance(key, int)
    return isinstance(data, dict) and key in data


# "<…>": tags of a sweep's tables; no key has such a name.
_TAGS = ("tcp", "udp", *KINDS, "<table>", "<value>", "<list>", *TAGS, *tags())


def spell(path: Keys) -> str:
    """Write a path as text: ('links', 0, 'rate') -> 'links[0].rate'."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            text += f"{'.' if text else ''}{printable(key)}"
    return text or "scenario"


_HEADER = re.compile(r"(\[\[?)\s*([^\]]+?)\s*\]")
# Texts, comments, marks, and bare keys and values.
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|'
    r"[\[\]{},=\n]|[^\s\[\]{},=#\"']+",
    re.DOTALL,
)


def line_of(text: str, path: Keys) -> int | None:
    """Find the line of the key, or of the nearest enclosing table that has one."""
    return _line_at(_places(text), path)


def _line_at(places: Mapping[Keys, int], path: Keys) -> int | None:
    # A list of tables has the line of the first.
    for part in (path, (*path, 0), *(path[:length] for length in range(len(path), 0, -1))):
        if part in places:
            return places[part]
    return None


def _places(text: str) -> dict[Keys, int]:
    """Find the lines of the tables and keys of a TOML text, those inside brackets too."""
    places: dict[Keys, int] = {}
    # A table that has no header of its own has the line of the first table below it.
    implied: dict[Keys, int] = {}
    counts: dict[Keys, int] = {}
    table: Keys = ()
    # Open brackets: the path of each, and in a list the number of the current element.
    brackets: list[tuple[Keys, int | None]] = []
    words: Keys = ()
    line, is_value, is_header = 1, False, False
    for match in _TOKEN.finditer(text):
        token, number = match[0], line
        line += token.count("\n")
        if token == "\n":
            if not brackets:
                words, is_value, is_header = (), False, False
            continue
        if is_header or token[0] == "#":
            continue
        path, element = brackets[-1] if brackets else (table, None)
        if token in ("]", "}") and brackets:
            brackets.pop()
            is_value = True
        elif token == "," and brackets:
            if element is not None:
                brackets[-1] = path, element + 1
            words, is_value = (), False
        elif token == "[" and not brackets and not is_value:
            table = _header(text, match.start(), counts)
            places.setdefault(table, number)
            for length in range(1, len(table)):
                implied.setdefault(table[:length], number)
            is_header = True
        elif token in ("[", "{"):
            own = (*path, *words) if element is None else (*path, element)
            if token == "{":
                places.setdefault(own, number)
            brackets.append((own, 0 if token == "[" else None))
            words, is_value = (), False
        elif token == "=" and not is_value:
            places.setdefault((*path, *words), number)
            is_value = True
        elif element is None and not is_value:
            words += (token[1:-1],) if token[0] in "\"'" else tuple(filter(None, token.split(".")))
    return implied | places


# No line inside brackets begins so.
_NEXT = re.compile(r"""\s*(\[\[?[^\[\],]+\]|[\w."'-]+\s*=)""")


def _unclosed(text: str, line: int) -> str:
    """Name a bracket that is open where this line begins, if it looks like the next key or table.
    Line 0 is the end of the text. Empty: there is none."""
    if line and not _NEXT.match(text.split("\n")[line - 1]):
        return ""
    opened: list[tuple[str, int]] = []
    at = 1
    for match in _TOKEN.finditer(text):
        if at == line:
            break
        token = match[0]
        if token in ("[", "{"):
            opened.append((token, at))
        elif token in ("]", "}") and opened:
            opened.pop()
        at += token.count("\n")
    return f"; the '{opened[-1][0]}' of line {opened[-1][1]} is not closed" if opened else ""


def _header(text: str, start: int, counts: dict[Keys, int]) -> Keys:
    """Read the path of a table from its header; `counts` numbers those of a list."""
    header = _HEADER.match(text, start)
    table: Keys = ()
    if header is None:
        return table
    words = _words(header)
    for depth, word in enumerate(words, start=1):
        table = (*table, word)
        if depth == len(words) and header[1] == "[[":
            counts[table] = counts.get(table, -1) + 1
        if table in counts:
            table = (*table, counts[table])
    return table


def _words(header: re.Match[str]) -> list[str]:
    return [word.strip().strip('"') for word in header[2].split(".")]


# Files that a scenario, a sweep or a change names: traces, vectors and C files of algorithms.
# Keys whose value may be the path of a C file.
_ALGORITHMS = ("aqm", "queue", "algorithm")


def placed(value: Any, folder: Path, key: str = "") -> Any:
    """Make absolute the paths that the value of a key, or a table below it, gives from `folder`."""
    return with_files(value, lambda name: str(library.absolute(name, folder)), key)


def with_files(value: Any, named: Callable[[str], str], key: str = "") -> Any:
    """Replace the name of each file in the value of a key, or in a table below it, by what `named`
    returns for it."""
    if isinstance(value, Mapping):
        return {inner: with_files(part, named, inner) for inner, part in value.items()}
    if isinstance(value, list):
        return [
            with_files(part, named) if isinstance(part, Mapping | list) else part for part in value
        ]
    word = key.split(".")[-1]
    is_file = isinstance(value, str) and (
        word == "trace"
        # Vectors may also be lines in the scenario itself.
        or (word == "vectors" and "\n" not in value)
        or (word in _ALGORITHMS and library.is_file(value))
    )
    return named(value) if value and is_file else value


def placed_variant(text: str, folder: Path) -> str:
    """Do the same for an algorithm in the form of `--aqm`, with rows behind a colon."""
    name, colon, rows = text.partition(":")
    return f"{placed(name.strip(), folder, 'aqm')}{colon}{rows}"
