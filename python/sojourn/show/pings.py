# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The chart of pings: the round trips of each group over time, and their distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sojourn.result.compare import Case
from sojourn.show.chart import Chart, Curve, Panel
from sojourn.show.measured import BINS, MAX_PANELS, Absent, Measured, averaged, seeds, together
from sojourn.show.page import number

_RTT = "round trip (ms)"
# The shares whose round trips are in the words.
_QUOTED = (50, 95, 99)


def ping(measured: Measured, cases: Sequence[Case]) -> Chart:
    """Plot the mean round trip of the pings of each group over time, and the share of pings that
    came back within each time."""
    by_case = {case: measured.pings(case) for case in cases}
    groups = list(dict.fromkeys(group for of in by_case.values() for group in of))
    shown = groups[: MAX_PANELS // 2]
    panels, clauses = [], []
    end_s = max(measured.duration_s(case) for case in cases)
    for group in shown:
        pings = {case: of[group] for case, of in by_case.items() if group in of}
        curves = [
            Curve(measured.names[case], *_over_time(*of, end_s / BINS), cases.index(case))
            for case, of in pings.items()
        ]
        title = f"flows '{group}'"
        panels.append(Panel(title, "time (s)", _RTT, curves, x_right=end_s))
        inside = {case: _in_window(measured, case, *of) for case, of in pings.items()}
        steps = [
            Curve(measured.names[case], *_shares(rtt_ms), cases.index(case))
            for case, rtt_ms in inside.items()
        ]
        where = f"{title}, {measured.spans_of(inside)}"
        panels.append(Panel(where, _RTT, "share at or below", steps, is_step=True, y_top=1.03))
        words = "; ".join(_words(measured.names[case], rtt_ms) for case, rtt_ms in inside.items())
        clauses.append(f"{where}, median, 95th and 99th percentile of the {_RTT}: {words}")
    if not panels:
        raise Absent("ping: no ping was sent; give the scenario a group whose app is 'ping'")
    caption = f"{seeds(measured, cases)}, averaged over {end_s / BINS:g} s. "
    caption += (
        f"Distributions are of {together(measured, cases)}; a ping that has not come back has "
    )
    caption += "no round trip, and the curve ends below 1."
    if len(groups) > len(shown):
        caption += f" The first {len(shown)} of {len(groups)} names of pings."
    return Chart.described("ping", "Round trips of pings", caption, panels, clauses)


def _over_time(sent_s: Any, rtt_ms: Any, step_s: float) -> tuple[Any, Any]:
    """Return times and means of the steps in which a ping was sent: a line with a gap at every
    other step looks dashed. A step whose pings were all lost stays a gap."""
    at_s, means = averaged(sent_s, rtt_ms, step_s)
    _, sent = averaged(sent_s, np.zeros(len(sent_s)), step_s)
    return at_s[sent == 0], means[sent == 0]


def _in_window(measured: Measured, case: Case, sent_s: Any, rtt_ms: Any) -> Any:
    """Select the round trips of the pings that were sent in the window to show."""
    span = measured.span(case)
    if span is None:
        return rtt_ms
    return rtt_ms[(sent_s >= span.from_s) & (sent_s < span.to_s)]


def _shares(rtt_ms: Any) -> tuple[Any, Any]:
    """Return the round trips in order, and the share of all pings that took at most each."""
    came = np.sort(rtt_ms[~np.isnan(rtt_ms)])
    return came, np.arange(1, len(came) + 1) / max(len(rtt_ms), 1)


def _words(name: str, rtt_ms: Any) -> str:
    came = rtt_ms[~np.isnan(rtt_ms)]
    if not len(came):
        return f"{name} none"
    return f"{name} " + ", ".join(number(float(np.percentile(came, q))) for q in _QUOTED)
