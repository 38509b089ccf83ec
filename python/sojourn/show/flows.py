# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The chart of fairness: the shares of a group's flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sojourn.result.compare import Case
from sojourn.result.metrics import OF_GROUPS
from sojourn.show.chart import Chart, Curve, Panel
from sojourn.show.measured import MAX_PANELS, Absent, Measured, together
from sojourn.show.tables import mean


def fairness(measured: Measured, cases: Sequence[Case]) -> Chart:
    """Plot the share of a group's flows at or below each goodput, of the mean of the group."""
    panels: list[Panel] = []
    clauses = []
    for group in measured.groups():
        by_case = {case: _shares(measured, case, group) for case in cases}
        by_case = {case: shares for case, shares in by_case.items() if len(shares)}
        if not by_case or len(panels) == MAX_PANELS:
            continue
        title = f"flows '{group}', {measured.spans_of(by_case)}"
        axes = "goodput of a flow, of the group's mean", "share at or below"
        panels.append(_steps(title, axes, measured, cases, by_case))
        jain = (f"{measured.names[case]} {_jain(measured, case, group)}" for case in by_case)
        clauses.append(f"Jain's index of flows '{group}': {', '.join(jain)}")
    if not panels:
        raise Absent("fairness: no group has two flows that delivered anything in the window")
    caption = (
        f"Every flow of a group, {together(measured, cases)}. Where all flows get the same, the "
        f"step is upright at 1. {'; '.join(clauses)}."
    )
    return Chart.described("fairness", "Shares of flows", caption, panels, clauses)


def _jain(measured: Measured, case: Case, group: str) -> str:
    span = measured.span(case)
    window = span.name if span else ""
    jain = OF_GROUPS["jain"]
    return mean([jain.measure_run(run, group, window) for run in measured.by_case[case]])


def _shares(measured: Measured, case: Case, group: str) -> Any:
    """Read the goodput of each flow in the window over the group's mean, all seeds together."""
    span = measured.span(case)
    shares = []
    for run in measured.by_case[case] if span else ():
        names = [window["name"] for window in run.report["transport"]]
        index = names.index(span.name) if span else 0
        goodput = np.array(
            [
                flow["goodput_mbps_of_windows"][index]
                for flow in run.report["flows"]
                if flow["name"] == group
            ]
        )
        if len(goodput) > 1 and goodput.any():
            shares.append(goodput / goodput.mean())
    return np.concatenate(shares) if shares else np.empty(0)


def _steps(
    title: str,
    axes: tuple[str, str],
    measured: Measured,
    cases: Sequence[Case],
    by_case: Mapping[Case, Any],
) -> Panel:
    """Make a panel with the share of values at or below each."""
    curves = []
    for case, values in by_case.items():
        x = np.sort(values)
        shares = np.arange(1, len(x) + 1) / len(x)
        x, shares = np.concatenate((x[:1], x)), np.concatenate(([0.0], shares))
        curves.append(Curve(measured.names[case], x, shares, cases.index(case)))
    return Panel(title, *axes, curves, y_top=1.03, is_step=True)
