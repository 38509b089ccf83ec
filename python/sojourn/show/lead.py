# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The first words of a page of results: what was run, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.core.units import Rate
from sojourn.result.compare import Case
from sojourn.scenario.ends import link_of, queue_rates
from sojourn.show.chart import and_last
from sojourn.show.measured import Measured
from sojourn.show.page import number

# A sentence with more cases is a table.
_MOST = 6


def lead(measured: Measured) -> str:
    """Write a sentence for each result, and one with the delay and the goodput of the cases."""
    first: dict[str, Case] = {}
    for case in measured.by_case:
        first.setdefault(case.result, case)
    return " ".join([*(_run(measured, case) for case in first.values()), _outcome(measured)])


def _run(measured: Measured, case: Case) -> str:
    scenario, runs = measured.scenario(case), measured.by_case[case]
    queue = measured.queues[0]
    flows = [
        f"{group['flows']} {group['name']}" for group in runs[0].report["transport"][0]["groups"]
    ]
    if len(flows) > _MOST:
        flows = [*flows[:_MOST], f"{len(flows) - _MOST} more groups of flows"]
    rates = ""
    if case in measured.having(queue):
        link = link_of(scenario["links"], queue)
        steps = queue_rates(link, queue, scenario.get("media", ()))
        found = [Rate(rate_bps) for _, rate_bps in steps if rate_bps]
        if found:
            least, most = min(found), max(found)
            rates = f" of {least}" if least == most else f" of {least} to {most}"
    seeds = f"{len(runs)} seed{'' if len(runs) == 1 else 's'}"
    head = f"{case.result}: " if case.result else ""
    return (
        f"{head}Flows: {and_last(flows)}; link '{queue}'{rates}; "
        f"{measured.duration_s(case):g} s, {seeds}."
    )


def _outcome(measured: Measured) -> str:
    """Name the mean queue delay and the goodput of each case; of many, of the least delay and of
    the most."""
    queue = measured.queues[0]
    found = {
        case: _means(measured, case, queue)
        for case in measured.shown(queue)
        if np.isfinite(_means(measured, case, queue)).all()
    }
    if not found:
        return ""
    cases: Sequence[Case] = list(found)
    if len(cases) > _MOST:
        cases = [pick(cases, key=lambda case: found[case][0]) for pick in (min, max)]
    words = (
        f"{measured.names[case]} {number(found[case][0])} ms at {number(found[case][1])} Mbit/s"
        for case in cases
    )
    which = "" if len(cases) == len(found) else f", the least and the most of {len(found)}"
    return f"Mean queue delay, and goodput of all flows{which}: {and_last(list(words))}."


def _means(measured: Measured, case: Case, queue: str) -> tuple[float, float]:
    delay, goodput = (
        measured.values(case, queue, metric) for metric in ("queue_delay_mean_ms", "goodput_mbps")
    )
    known = ~np.isnan(delay)
    return (float(delay[known].mean()), float(goodput.mean())) if known.any() else (np.nan, np.nan)
