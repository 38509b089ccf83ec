# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The traffic that flows send: a model for each kind, made from the engine's table of keys. Names,
units, ranges, defaults and sentences are in that table and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, create_model
from pydantic_core import PydanticCustomError

from sojourn import _native
from sojourn.core.units import Duration, Rate, Share, Size
from sojourn.scenario import trace
from sojourn.scenario.base import Kind

if TYPE_CHECKING:
    from sojourn._native import TrafficKey, TrafficKind


class Sent(Kind):
    """The traffic that a flow sends."""

    table: ClassVar[TrafficKind]


# Nobody could replay a larger file of connections here.
_MOST_BYTES = 1 << 28


def _read_vectors(value: object) -> object:
    """Return the vectors: the text itself, or that of the file which it names."""
    if not isinstance(value, str) or "\n" in value:
        return value
    try:
        if not value:
            raise ValueError("write the name of a file of vectors, or the vectors")
        return trace.text(Path(value), "file of vectors", _MOST_BYTES)
    except ValueError as error:
        raise PydanticCustomError("queue", "{reason}", {"reason": str(error)}) from error


Vectors = Annotated[str, BeforeValidator(_read_vectors)]
_QUANTITIES: Mapping[str, Any] = {"time": Duration, "rate": Rate, "size": Size, "share": Share}
# A range that reaches these is the unit's own; descriptions leave it out.
_WIDE = {"time": 86_400 * 10**9, "rate": 10**13, "size": 10**15}


def _field(key: TrafficKey) -> tuple[Any, Any]:
    """Make the type and the default of a field."""
    unit, default = key["unit"], key["default"]
    form: Any
    said: dict[str, Any] = {"description": _description(key)}
    if unit in _QUANTITIES:
        form = _QUANTITIES[unit]
        if default is not None:
            default = form(default if unit == "share" else int(default))
    elif unit == "count":
        form = int
        said |= {"strict": True, "ge": int(key["least"]), "le": int(key["most"])}
        default = None if default is None else int(default)
    elif unit == "number":
        form = float
        said |= {"strict": True, "allow_inf_nan": False, "ge": key["least"], "le": key["most"]}
    elif unit == "words":
        form = Literal[tuple(key["words"])]
    else:
        form = Vectors
    if key["needed"]:
        return form, Field(**said)
    return (form if default is not None else form | None), Field(default, **said)


def written(key: TrafficKey, number: float | str | None) -> str:
    """Write a number of the base unit as people do."""
    of = _QUANTITIES.get(key["unit"])
    if number is None or isinstance(number, str):
        return "" if number is None else number
    if of is None or key["unit"] == "share":
        return f"{number:g}"
    return str(of(int(number)))


def ends(key: TrafficKey) -> str:
    """Describe the range, or list the words that are allowed."""
    if key["unit"] == "text":
        return ""
    if key["words"]:
        return ", ".join(key["words"])
    return f"{written(key, key['least'])} to {written(key, key['most'])}"


def _description(key: TrafficKey) -> str:
    most = _WIDE.get(key["unit"])
    return key["help"] if most is None or key["most"] >= most else f"{key['help']} ({ends(key)})"


def _model(kind: TrafficKind) -> type[Sent]:
    fields: dict[str, Any] = {key["name"]: _field(key) for key in kind["keys"]}
    which: Any = (Literal[kind["name"]], Field(kind["name"], description="which it is"))
    # A distribution of times is called Poisson too.
    name = {"onoff": "OnOff", "poisson": "PoissonDatagrams"}.get(kind["name"])
    model = create_model(
        name or kind["name"].capitalize(),
        __base__=Sent,
        __module__=__name__,
        __doc__=kind["help"],
        kind=which,
        **fields,
    )
    model.table = kind
    return model


KINDS: Mapping[str, type[Sent]] = {kind["name"]: _model(kind) for kind in _native.traffic()}

Bulk: type[Any] = KINDS["bulk"]
Drawn: type[Any] = KINDS["drawn"]
Respawn: type[Any] = KINDS["respawn"]
Paced: type[Any] = KINDS["paced"]
Cbr: type[Any] = KINDS["cbr"]
Voip: type[Any] = KINDS["voip"]
OnOff: type[Any] = KINDS["onoff"]
PoissonDatagrams: type[Any] = KINDS["poisson"]
Files: type[Any] = KINDS["files"]
Web: type[Any] = KINDS["web"]
Tmix: type[Any] = KINDS["tmix"]
Ping: type[Any] = KINDS["ping"]

if TYPE_CHECKING:
    App = Sent
else:
    App = Annotated[reduce(or_, KINDS.values()), Field(discriminator="kind")]
