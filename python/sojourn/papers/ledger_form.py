# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The form of a ledger.json on which its readers rely. A key that was added later has a default,
because older ledgers lack it. Keys that no reader knows are allowed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StrictBool, StrictInt, StrictStr, model_validator

from sojourn.core.hosts import HOSTS
from sojourn.papers.judged import VERDICTS

Count = Annotated[StrictInt, Field(ge=0)]
Verdict = Annotated[StrictStr, Field(pattern="^(" + "|".join(VERDICTS) + ")$")]


class _OfHosts(BaseModel):
    """Values of every host."""

    @model_validator(mode="before")
    @classmethod
    def _every(cls, value: object) -> object:
        for name in ("verdicts", "measured", "hosts"):
            of = value.get(name) if isinstance(value, dict) else None
            if isinstance(of, dict) and not of.keys() >= set(HOSTS):
                raise ValueError(f"{name} lacks a host")
        return value


class Claim(_OfHosts):
    """A claim's verdicts."""

    id: StrictStr
    text: StrictStr
    source: StrictStr
    verdicts: dict[str, Verdict]
    measured: dict[str, StrictStr]
    seeds: dict[str, Count] = {}


class OfHost(BaseModel):
    """An experiment on one host; `seeds` are the fewest and the most of its cells."""

    core: StrictStr | None
    cells: dict[str, Count]
    verdicts: dict[str, Count]
    why: StrictStr
    seeds: tuple[Count, Count] = (0, 0)


class Experiment(_OfHosts):
    """An experiment's part."""

    experiment: StrictStr
    title: StrictStr
    definition: StrictStr
    command: StrictStr
    seeds: Count
    hosts: dict[str, OfHost]
    claims: list[Claim]
    cells: list[dict[str, object]]
    figures: list[dict[str, object]]


class Row(BaseModel):
    """A set-up of a search, and the count of printed numbers that it meets in each half."""

    which: StrictStr
    label: StrictStr
    searched: Count
    other: Count


class Search(BaseModel):
    """The result of a search."""

    definition: StrictStr
    counts: StrictStr
    cells: dict[Literal["searched", "other"], Count]
    judged: list[Row]


class Paper(_OfHosts):
    """A paper's part."""

    paper: StrictStr
    title: StrictStr
    source: StrictStr
    page: StrictStr
    verdicts: dict[str, dict[str, Count]]
    claims: list[Claim]
    search: Search | None = None
    experiments: list[Experiment]


class Machine(BaseModel):
    """The machine that made it."""

    processor: StrictStr
    cores: Count
    system: StrictStr


class Ledger(BaseModel):
    """The whole file."""

    format: StrictInt
    quick: StrictBool
    machine: Machine
    papers: list[Paper]
