# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A sweep to begin with: a scenario's bottleneck at other rates and round trips."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.core.errors import InputError
from sojourn.core.units import Duration, Rate
from sojourn.scenario import toml
from sojourn.scenario.reference import published
from sojourn.store.store import write_whole
from sojourn.sweeps.model import SweepTable
from sojourn.user_aqm.compiler import shown
from sojourn.user_aqm.library import absolute

if TYPE_CHECKING:
    from sojourn.scenario.networks.dumbbell import Dumbbell

# What people ask first of a kind of traffic.
_ASKED = {"bulk": "goodput_mbps", "web": "page_p95_s", "voip": "delay_p95_ms", "ping": "rtt_p95_ms"}
# Editors find it by the first line of a sweep.
SCHEMA = "sweep.schema.json"
_SAMPLE = (
    f"#:schema ./{SCHEMA}\n"
    + """\
# Every value of one axis with every value of the other, with each algorithm and seed.
scenario = {scenario}
aqms = ["fifo", "codel", "fq_codel"]
seeds = 3
metrics = [{metrics}]

[[axes]]
key = "dumbbell.rate"
values = [{rates}]

[[axes]]
key = "dumbbell.rtt"
values = [{rtts}]
"""
)


def write_sample(scenario: Path, file: Path | None) -> Path:
    """Write a sweep of a scenario that has a dumbbell, sweep.toml unless `file` is given, and the
    schema by which an editor checks it.

    InputError: there is such a file, or the bottleneck has no rate and round trip of its own.
    """
    out = absolute(file or "sweep.toml")
    if out.suffix != ".toml":
        raise InputError(f"{file}: a sweep is a TOML file: write FILE.toml")
    dumbbell = toml.load(scenario).dumbbell
    if dumbbell is None or dumbbell.rate is None or dumbbell.rtt is None:
        raise InputError(
            f"{scenario}: has no dumbbell with a rate and a round trip to vary; "
            "docs/guide/sweeps.md has axes of other networks"
        )
    if out.exists():
        raise InputError(
            f"{shown(out)}: there is such a file; nothing was written; give another name"
        )
    rate, rtt = dumbbell.rate, dumbbell.rtt
    text = _SAMPLE.format(
        scenario=json.dumps(os.path.relpath(absolute(scenario), out.parent)),
        metrics=_listed(_metrics(dumbbell)),
        rates=_listed(str(Rate(value)) for value in (rate // 5, rate, 2 * rate)),
        rtts=_listed(str(Duration(value)) for value in (rtt // 2, 2 * rtt)),
    )
    write_whole(out.with_name(SCHEMA), schema_text().encode())
    write_whole(out, text.encode())
    return out


def schema_text() -> str:
    """Make the schema of a sweep from its models."""
    schema = SweepTable.model_json_schema(by_alias=True)
    # A kind alone is allowed: `plan = "grid"` stands for `plan = { kind = "grid" }`.
    kinds = schema["$defs"]["PlanTable"]["properties"]["kind"]["enum"]
    plan = schema["properties"]["plan"]
    schema["properties"]["plan"] = {"anyOf": [{"enum": kinds}, plan]}
    return published(schema)


def _metrics(dumbbell: Dumbbell) -> Iterator[str]:
    yield from ("queue_delay_mean_ms", "utilisation_pct")
    for group in dumbbell.flows:
        if group.name and group.app.kind in _ASKED:
            yield f"{group.name}.{_ASKED[group.app.kind]}"


def _listed(texts: Iterable[str]) -> str:
    """Write texts as TOML has them between brackets; its strings are those of JSON."""
    return ", ".join(json.dumps(text, ensure_ascii=False) for text in texts)
