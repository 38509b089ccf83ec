# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A run's queue as a data file of flent (flent.org, doc/data-format.rst, version 4). The test is
flent's own `qdisc-stats`, so its plots `delay` and `backlog` draw it."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.core.errors import InputError
from sojourn.result.result import Run
from sojourn.store.store import write_whole

SUFFIX = ".flent.gz"
_VERSION = 4
_TEST = "qdisc-stats"
# Columns of the series by flent's names for its test; the others keep their own.
_SERIES = {
    f"{_TEST}::delay": ("queue_delay_ms", "ms"),
    f"{_TEST}::backlog_pkts": ("queue_pkts", "packets"),
    "system delay": ("system_delay_ms", "ms"),
    "utilisation": ("utilisation_pct", "%"),
    "dropped share": ("drop_pct", "%"),
    "marked share": ("mark_pct", "%"),
}


def parts(run: Run) -> Sequence[str]:
    """List the run's recorded queues. InputError: there is none."""
    if not run.report["queues"]:
        raise InputError(
            "no queue was recorded: one is measured where its link has a rate or a trace"
        )
    return [str(queue["name"]) for queue in run.report["queues"]]


def write(
    path: Path,
    about: Mapping[str, str],
    run: Run,
    part: str,
    advance: Callable[[float], None],
) -> None:
    """Write the file of one queue."""
    text = json.dumps(data(path.name, about, run, part), indent=1, sort_keys=True)
    # The same bytes each time.
    write_whole(path, gzip.compress(text.encode(), mtime=0))


def data(name: str, about: Mapping[str, str], run: Run, queue: str) -> dict[str, Any]:
    """Return the data of the file."""
    table = run.series()
    rows = np.array(table["queue"].to_pylist()) == queue
    time_s = [float(t) for t in table["t_s"].to_numpy()[rows]]
    results = {
        series: [_measured(value) for value in table[column].to_numpy()[rows]]
        for series, (column, _) in _SERIES.items()
    }
    begin = _begin(about["made"])
    raw = [
        {
            "t": begin.timestamp() + t,
            **{key.partition("::")[2]: of[i] for key, of in results.items() if "::" in key},
        }
        for i, t in enumerate(time_s)
    ]
    return {
        "version": _VERSION,
        "x_values": time_s,
        "results": results,
        "raw_values": {_TEST: raw},
        "metadata": _metadata(name, about, run, queue, begin, results),
    }


def _metadata(
    name: str,
    about: Mapping[str, str],
    run: Run,
    queue: str,
    begin: datetime,
    results: Mapping[str, Sequence[float | None]],
) -> dict[str, Any]:
    scenario = run.entry.scenario()
    length_s = scenario["duration"] / 1e9
    stamp = begin.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {
        "NAME": _TEST,
        "TITLE": f"{about['scenario']}: {about['run']}, {queue}",
        "TIME": stamp,
        "T0": stamp,
        "LENGTH": length_s,
        "TOTAL_LENGTH": length_s,
        "STEP_SIZE": scenario["record"]["series"] / 1e9,
        "HOST": str(run.labels["host"]),
        "HOSTS": [str(run.labels["host"])],
        "LOCAL_HOST": "sojourn",
        "NOTE": about["command"],
        "DATA_FILENAME": name,
        "TEST_PARAMETERS": {"interface": queue},
        "SERIES_META": {
            series: {"UNITS": unit, "MEAN_VALUE": _mean(results[series])}
            for series, (_, unit) in _SERIES.items()
        },
        # Flent has no names for the aggregates; they are as in result.json.
        "SOJOURN": {"version": about["version"], "labels": dict(run.labels), **run.report},
    }


def _begin(made: str) -> datetime:
    """Read the time at which the result was made; a simulated run has no other date."""
    try:
        return datetime.fromisoformat(made).astimezone(UTC)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)


def _measured(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _mean(values: Sequence[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return sum(found) / len(found) if found else None
