# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The tables and keys of a SWEEP.toml."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, StrictFloat, StrictInt, StrictStr, Tag

from sojourn.core.seeds import MAX_SEEDS
from sojourn.scenario.parts import Model, Name

# All cells are listed, and each is checked, before the first run.
MAX_CELLS = 100_000
MAX_RUNS = 1_000_000

End = StrictInt | StrictFloat | StrictStr


def _form(value: object) -> str:
    if isinstance(value, list | tuple):
        return "<list>"
    return "<table>" if isinstance(value, dict | Model) else "<value>"


def _table_or_value(value: object) -> str:
    return "<table>" if _form(value) == "<table>" else "<value>"


def _list_or_value(value: object) -> str:
    return "<list>" if _form(value) == "<list>" else "<value>"


class AxisTable(Model):
    """One axis: a key or several that move together, and its values."""

    name: Name | None = Field(None, description="of the axis and its column")
    key: StrictStr | None = Field(None, description="what is varied, as --set has it")
    keys: tuple[StrictStr, ...] | None = Field(None, description="several that move together")
    values: tuple[Any, ...] | None = Field(
        None, description="each; with `keys` a list with one for each key, or one for all"
    )
    from_: End | None = Field(None, alias="from", description="the first of `steps` values")
    to: End | None = Field(None, description="the last of them")
    steps: Annotated[int, Field(strict=True, ge=2, le=MAX_CELLS)] | None = Field(
        None, description="how many, both ends included"
    )
    scale: Literal["even", "log"] = Field("even", description="how they lie between the ends")


class PlanTable(Model):
    """The kind of plan, and its cells."""

    kind: Literal["grid", "list", "latin_hypercube"] = Field("grid", description="which it is")
    cells: (
        Annotated[
            Annotated[StrictInt, Tag("<value>")]
            | Annotated[tuple[dict[str, Any], ...], Tag("<list>")],
            Discriminator(_list_or_value),
        ]
        | None
    ) = Field(None, description="of a list each cell, of a Latin hypercube their number")
    seed: int = Field(1, strict=True, ge=0, description="of a Latin hypercube")


class SeedsTable(Model):
    """Seeds are added until the interval of a metric is narrow enough."""

    until: StrictStr = Field(description="a metric")
    half_width: StrictInt | StrictFloat | StrictStr = Field(
        description="of its 95 % interval, at most: mean ± this"
    )
    at_least: int = Field(5, strict=True, ge=2, description="seeds before the first look")
    at_most: int = Field(strict=True, ge=2, le=MAX_SEEDS, description="seeds of a cell")


def _plan(value: object) -> object:
    return {"kind": value} if isinstance(value, str) else value


class SweepTable(Model):
    """The whole file."""

    format: StrictInt = Field(1, description="of the file")
    name: Name | None = Field(None, description="in tables; unless given, the scenario's")
    scenario: Annotated[
        Annotated[StrictStr, Tag("<value>")] | Annotated[dict[str, Any], Tag("<table>")],
        Discriminator(_table_or_value),
    ] = Field(description="a file beside this one, or a table")
    aqms: tuple[StrictStr, ...] = Field((), description="algorithms, as --aqm has them")
    hosts: tuple[StrictStr, ...] = Field(("sim",), description="sim, linux or both")
    set_: dict[str, Any] = Field(
        {}, alias="set", description="keys of the scenario in every cell, as --set has them"
    )
    axes: tuple[AxisTable, ...] = Field((), description="what is varied")
    plan: Annotated[PlanTable, BeforeValidator(_plan)] = Field(
        PlanTable(), description="which cells there are"
    )
    seeds: Annotated[
        Annotated[StrictInt | StrictStr, Tag("<value>")]
        | Annotated[SeedsTable, Tag("<table>")]
        | Annotated[tuple[dict[str, Any], ...], Tag("<list>")],
        Discriminator(_form),
    ] = Field(
        1,
        description="seeds 1 to N of each cell, or '11..20'; more until a metric is known; or what "
        "each sets",
    )
    metrics: tuple[StrictStr, ...] | None = Field(
        None, description="columns; docs/guide/results.md"
    )
    queue: Name | None = Field(None, description="the one that is looked at; unless given, all")
    window: Name | None = Field(None, description="the one that is looked at; unless given, all")
