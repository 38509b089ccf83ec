# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Queues, spans of time and packets that are recorded."""

from __future__ import annotations

from pydantic import Field, StrictBool

from sojourn.core.units import Duration
from sojourn.scenario.base import Model, Name

# The window of the whole run, unless others are given.
WHOLE = "whole run"


class Window(Model):
    """A window of time, over which metrics are computed."""

    name: Name = Field(description="in tables and files")
    from_: Duration = Field(alias="from", description="its begin, and what happens just then")
    to: Duration = Field(description="its end, without what happens just then")


class Record(Model):
    """The queues, windows and packets that are measured."""

    queues: tuple[Name, ...] = Field(
        (), description="links whose queues are measured; unless given, all with a rate or a trace"
    )
    windows: tuple[Window, ...] = Field(
        (), description="spans of time of the metrics; unless given, the whole run"
    )
    series: Duration = Field(Duration("100 ms"), description="grid of the time series")
    events: StrictBool = Field(False, description="keep every packet's passage through the queues")
    transfers: StrictBool = Field(False, description="keep every transfer")
