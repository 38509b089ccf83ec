# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The files of a paper's folder, read and checked; every mistake is named with its line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, RootModel, StrictFloat, StrictInt, StrictStr

from sojourn.core.errors import InputError, nearest
from sojourn.result.metrics import METRICS
from sojourn.scenario import toml
from sojourn.scenario.parts import Model
from sojourn.sweeps.model import AxisTable

Text = Annotated[StrictStr, Field(min_length=1)]
Count = Annotated[StrictInt, Field(ge=1, le=1_000_000)]
Rows = dict[str, Any]

# The keys that each experiment needs, in its own file or in its paper's.
REQUIRED = ("title", "source", "seeds", "quick_seeds", "queue", "window", "algorithms", "signals")


class AlgorithmTable(Model):
    """An algorithm under the name that the paper gives it."""

    name: Text
    algorithm: Text
    rows: Rows = Field({})
    about: str = ""


class SignalTable(Model):
    """A cell: the keys that it sets, its metrics in print, and others measured beside them."""

    name: Text
    table: Text
    set: Rows = Field({})
    metrics: tuple[Text, ...]
    beside: tuple[Text, ...] = ()
    only: tuple[Text, ...] = ()


class AblationTable(Model):
    """One thing changed in a cell, and why."""

    of: Text
    name: Text
    why: Text
    set: Rows = Field({})
    only: tuple[Text, ...] = ()
    host: str = ""
    algorithm: str = ""


class ExperimentTable(Model):
    """The keys of experiment.toml, each of which may stand in paper.toml for all experiments."""

    format: Literal[1] = 1
    title: Text | None = None
    source: Text | None = None
    seeds: Count | None = None
    quick_seeds: Count | None = None
    queue: Text | None = None
    window: Text | None = None
    peers: tuple[Text, ...] = ()
    algorithms: tuple[AlgorithmTable, ...] = ()
    also: tuple[AlgorithmTable, ...] = ()
    rows: dict[str, Rows] = Field({})
    signals: tuple[SignalTable, ...] = ()
    axes: tuple[AxisTable, ...] = ()
    ablations: tuple[AblationTable, ...] = ()
    figure: dict[str, Any] = Field({})


class PublishedTable(RootModel[dict[str, dict[str, dict[str, StrictInt | StrictFloat]]]]):
    """The numbers in print, by cell, algorithm and metric."""


def read(path: Path, model: type[BaseModel] = ExperimentTable) -> dict[str, Any]:
    """Read a file as data that the model allows; InputError with the line of each mistake."""
    text = toml.read_text(path)
    data = toml.parse(text, str(path))
    toml.modelled(data, model, str(path), text)
    return data


def read_experiment(folder: Path, shared: Mapping[str, Any]) -> dict[str, Any]:
    """Read experiment.toml over the keys that its paper shares. InputError for a key that neither
    has, and for a metric that does not exist."""
    path = folder / "experiment.toml"
    data = {**shared, **read(path)}
    for key in REQUIRED:
        if not data.get(key):
            raise InputError(f"{path}: {key} is missing; write it here or in ../paper.toml")
    signals = [signal["name"] for signal in data["signals"]]
    for i, signal in enumerate(data["signals"]):
        if signal["name"] in signals[:i]:
            raise InputError(f"{path}: signals[{i}].name: '{signal['name']}' is there twice")
        for metric in (*signal["metrics"], *signal.get("beside", ())):
            if metric not in METRICS:
                where = f"{path}: signals[{i}]"
                raise InputError(
                    f"{where}: there is no metric '{metric}'.{nearest(metric, METRICS)}"
                )
        signal.setdefault("set", {})
    for ablation in data.get("ablations", ()):
        ablation.setdefault("set", {})
    return data
