# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The form of a search.toml."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StrictInt, StrictStr

from sojourn.scenario.parts import Model

# More set-ups meet numbers by luck that none of them explains.
MAX_SETUPS = 64

Text = Annotated[StrictStr, Field(min_length=1, max_length=200)]
# By experiment, '1', or by one of its cells, '1: drop': keys of the scenario and their values.
Set = dict[str, dict[str, Any]]


class ValueTable(Model):
    """One value of an open point."""

    name: Text = Field(description="in tables")
    set: Set = Field(
        {}, description="what it sets, by experiment or cell; nothing: as scenario.toml leaves it"
    )


class PointTable(Model):
    """A setting that the paper leaves open."""

    name: Text = Field(description="in tables")
    silent: Text = Field(description="the section that should say it, and what it says")
    text: Text | None = Field(
        None, description="the value that the ledger had before a search replaced it"
    )
    only: tuple[Text, ...] = Field((), description="the algorithms that it is about; else all")
    values: tuple[ValueTable, ...] = Field(description="one is what scenario.toml has")


class OutsideTable(Model):
    """A set-up that the text excludes. It is tried under this label and never enters the ledger."""

    name: Text = Field(description="in tables")
    against: Text = Field(description="what the text says instead")
    only: tuple[Text, ...] = Field((), description="the algorithms that it is about; else all")
    set: Set = Field(description="what it sets, by experiment or cell")


class SearchTable(Model):
    """The whole file."""

    format: StrictInt = Field(1, description="of the file")
    searched: tuple[Text, ...] = Field(
        description="the experiments that the search may look at; it ends before the others run"
    )
    setups: Annotated[int, Field(strict=True, ge=1, le=MAX_SETUPS)] = Field(
        MAX_SETUPS, description="how many are tried at most"
    )
    seed: Annotated[int, Field(strict=True, ge=0)] = Field(1, description="of the draws")
    points: tuple[PointTable, ...] = Field(description="what is open")
    outside: tuple[OutsideTable, ...] = Field((), description="what the text excludes")
