# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Charts of flows: the shares of a group's flows, and the round trips of pings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sojourn.result.compare import Case
from sojourn.result.metrics import OF_GROUPS
from sojourn.result.samples import SAMPLES
from sojourn.show.chart import Chart, Curve, Panel
from sojourn.show.measured import BINS, MAX_PANELS, Absent, Measured, averaged, seeds, together
from sojourn.show.page import number
from sojourn.show.tables import mean

_TRIP = "round trip (ms)"
_QUOTED = (0.5, 0.95)


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


def ping(measured: Measured, cases: Sequence[Case]) -> Chart:
    """Plot the round trips of each group of pings: over time, and their distribution."""
    panels: list[Panel] = []
    clauses = []
    for group in measured.groups():
        trips = {case: _trips(measured, case, group) for case in cases}
        trips = {case: found for case, found in trips.items() if len(found[0])}
        if not trips or len(panels) >= MAX_PANELS:
            continue
        end_s = max(measured.duration_s(case) for case in trips)
        curves = [
            Curve(
                measured.names[case],
                *averaged(*found, measured.duration_s(case) / BINS),
                cases.index(case),
            )
            for case, found in trips.items()
        ]
        panels.append(Panel(f"flows '{group}'", "time (s)", _TRIP, curves, x_right=end_s))
        in_window = {case: _trips_in_window(measured, case, group) for case in trips}
        in_window = {case: values for case, values in in_window.items() if len(values)}
        if in_window:
            title = f"flows '{group}', {measured.spans_of(in_window)}"
            axes = _TRIP, "share at or below"
            panels.append(_steps(title, axes, measured, cases, in_window))
        clauses.append(
            f"flows '{group}', median and 95th percentile: "
            + ", ".join(
                f"{measured.names[case]} " + " and ".join(map(number, np.quantile(trip, _QUOTED)))
                for case, trip in in_window.items()
            )
        )
    if not panels:
        raise Absent("ping: no echo came back; flows with app = 'ping' send them")
    step_s = max(measured.duration_s(case) for case in cases) / BINS
    caption = (
        f"{seeds(measured, cases)}, averaged over {step_s:g} s; the distribution is of every echo "
        f"of the window, {together(measured, cases)}."
    )
    return Chart.described("ping", "Round trips of pings", caption, panels, clauses)


def _trips(measured: Measured, case: Case, group: str) -> tuple[Any, Any]:
    """Read when each echo of all seeds was sent, and its round trip in ms; lost ones are left
    out."""
    pairs = [
        pair
        for run in measured.by_case[case]
        for entry in run.report.get("echoes") or ()
        if entry["name"] == group
        for pair in zip(entry["sent_s"], entry["rtt_ms"], strict=True)
        if pair[1] is not None
    ]
    sent_s, trip_ms = zip(*sorted(pairs), strict=True) if pairs else ((), ())
    return np.array(sent_s, float), np.array(trip_ms, float)


def _trips_in_window(measured: Measured, case: Case, group: str) -> Any:
    span = measured.span(case)
    if span is None:
        return np.empty(0)
    at = {"from_s": span.from_s, "to_s": span.to_s}
    every = [SAMPLES["rtt"].read(run, group, at) for run in measured.by_case[case]]
    return np.concatenate(every)
