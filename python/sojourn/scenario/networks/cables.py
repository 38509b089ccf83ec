# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A cable: both directions of a link, declared once. The reader of a scenario lays it as two links,
NAME from the first node to the second, and 'NAME back'. Later steps know no cables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field
from pydantic_core import PydanticCustomError

from sojourn.core.errors import written
from sojourn.scenario.links import OF_ONE_QUEUE, Direction
from sojourn.scenario.parts import Model, Name, Path, refusal

# Keys of a cable alone.
_OWN = ("between", "back")
# Keys that the way back does not share.
_ONE_WAY = ("responder",)


class _Cabled(Model):
    """A name and both nodes."""

    name: Name = Field(description="of the link from the first node; 'NAME back' is the other's")
    between: tuple[Name, Name] = Field(description="nodes at the two ends")


class Cable(Direction, _Cabled):
    """Both directions of a link, declared once: links NAME and 'NAME back'."""

    back: Direction | None = Field(None, description="keys of the direction back that are unlike")


def lay_cables(data: Mapping[str, Any]) -> dict[str, Any]:
    """Replace the cables in the data of a scenario by links; raise an error with its place for a
    wrong one."""
    cables = data.get("cables")
    if not cables:
        return dict(data)
    if not isinstance(cables, list | tuple):
        raise _refusal(("cables",), "is not a list: write [[cables]]")
    if not isinstance(data.get("links", ()), list | tuple):
        raise _refusal(("links",), "is not a list: write [[links]]")
    links = [link for i, cable in enumerate(cables) for link in _links(i, _as_data(cable))]
    rest = {key: value for key, value in data.items() if key != "cables"}
    return {**rest, "links": [*data.get("links", ()), *links]}


def _as_data(cable: object) -> object:
    """Convert a cable that is a model to the data that TOML has; return data unchanged."""
    if isinstance(cable, BaseModel):
        return cable.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return cable


def _links(i: int, cable: object) -> list[dict[str, Any]]:
    if not isinstance(cable, dict):
        raise _refusal(("cables", i), f"{written(cable)} is not a table of keys and values")
    for key in ("name", "between"):
        if key not in cable:
            raise _refusal(("cables", i, key), "is missing")
    ends, back = cable["between"], cable.get("back", {})
    if not isinstance(ends, list | tuple) or len(ends) != 2:
        raise _refusal(("cables", i, "between"), 'name two nodes: ["a", "b"]')
    for key in ("from", "to"):
        if key in cable:
            raise _refusal(("cables", i, key), "a cable has 'between' in place of 'from' and 'to'")
    if not isinstance(back, dict):
        raise _refusal(("cables", i, "back"), f"{written(back)} is not a table of keys and values")
    for key in ("name", "from", "to", *_OWN):
        if key in back:
            raise _refusal(("cables", i, "back", key), "is given by the cable")
    keys = {key: value for key, value in cable.items() if key not in _OWN}
    shared = {key: value for key, value in keys.items() if key not in _ONE_WAY}
    # Stages in one direction do not go with the other's one queue.
    unlike = OF_ONE_QUEUE if "end" in back else ("end",) if {*OF_ONE_QUEUE} & back.keys() else ()
    shared = {key: value for key, value in shared.items() if key not in unlike}
    first, second = ends
    return [
        {**keys, "from": first, "to": second},
        {**shared, **back, "name": f"{cable['name']} back", "from": second, "to": first},
    ]


def _refusal(path: Path, reason: str) -> PydanticCustomError:
    return refusal(reason, problems=[(path, reason)])


def path_in_file(path: Path, data: Mapping[str, Any]) -> Path:
    """Find the place in the file for the path of a link: the link itself, or a direction of a
    cable."""
    links, cables = data.get("links", ()), data.get("cables", ())
    if path[:1] != ("links",) or len(path) < 2 or not isinstance(path[1], int):
        return path
    beyond = path[1] - len(links)
    if beyond < 0 or not cables:
        return path
    cable, rest = cables[beyond // 2], path[2:]
    if rest[:1] in (("from",), ("to",)):
        number = int((rest[0] == "to") != bool(beyond % 2))
        return ("cables", beyond // 2, "between", number)
    is_back = (
        beyond % 2 and isinstance(cable, dict) and rest[:1] and rest[0] in cable.get("back", {})
    )
    return ("cables", beyond // 2, *(("back",) if is_back else ()), *rest)
