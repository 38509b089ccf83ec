# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The rows of a result's tables, from the reports of its runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sojourn.result import columns
from sojourn.result.steps import spell

if TYPE_CHECKING:
    from sojourn.result.result import Run


def _of_queue(run: Run, queue: str) -> dict[str, str | int]:
    tested = str(run.labels["aqm"])
    return {**run.labels, "aqm": run.aqm_of(queue), "tested": tested, "queue": queue}


def of_windows(runs: Iterable[Run]) -> Iterator[dict[str, Any]]:
    """Yield one row for each run, queue and window."""
    for run in runs:
        for queue in run.report["queues"]:
            for window in queue["windows"]:
                labels = {**_of_queue(run, queue["name"]), "window": window["name"]}
                yield labels | columns.values(columns.WINDOWS, window)


def of_flows(runs: Iterable[Run]) -> Iterator[dict[str, Any]]:
    """Yield one row for each run, flow and window.

    Goodput is of the window. All other counts are of the whole run, and their names say it.
    """
    for run in runs:
        windows = [window["name"] for window in run.report["transport"]]
        for flow in run.report["flows"]:
            whole = columns.values(columns.FLOWS, flow)
            goodputs = zip(windows, flow["goodput_mbps_of_windows"], strict=True)
            for window, goodput_mbps in goodputs:
                labels = {**run.labels, "flow": flow["name"], "index": flow["index"]}
                yield {**labels, "window": window, "goodput_mbps": goodput_mbps, **whole}


def of_groups(runs: Iterable[Run]) -> Iterator[dict[str, Any]]:
    """Yield one row for each run, window and name of flows."""
    for run in runs:
        for window in run.report["transport"]:
            for group in window["groups"]:
                labels = {**run.labels, "group": group["name"], "window": window["name"]}
                yield labels | columns.values(columns.GROUPS, group)


def of_steps(runs: Iterable[Run]) -> Iterator[dict[str, Any]]:
    """Yield one row for each run, queue and change of the scenario."""
    for run in runs:
        for queue in run.report["queues"]:
            for step in queue.get("steps", ()):
                labels = _of_queue(run, queue["name"])
                values = columns.values(columns.STEPS, step)
                at = {key: values.pop(key) for key in ("at_s", "to_s")}
                yield labels | at | {"change": spell(step["changes"])} | values
