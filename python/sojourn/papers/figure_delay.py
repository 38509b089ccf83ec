# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The kind "delay" of figures: delay over time, and beside the kernel's own also distributed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from sojourn.papers import figure_words
from sojourn.papers.figure import curves, delay_over_time
from sojourn.papers.figure_peers import SHARES, Line, delay_beside_kernel, lines
from sojourn.papers.picture import Picture, named
from sojourn.show.drawing import averaged

if TYPE_CHECKING:
    from sojourn.papers.experiment import Signal
    from sojourn.papers.reproduce import Reproduction


def pictures(reproduction: Reproduction) -> Iterator[Picture]:
    """Delay over time of each signal on each host, and ours beside the kernel's own."""
    experiment = reproduction.experiment
    wanted = experiment.data["figure"]
    for signal in experiment.signals():
        for host in reproduction.hosts_of(signal):
            found = curves(reproduction, signal.name, host)
            if not found:
                continue
            yield Picture(
                named(experiment, signal.name, host),
                signal.name,
                host,
                f"One run (seed {wanted['seed']}), averaged over {wanted['average_s']} s; the "
                "shaded span is the window of the table.",
                figure_words.delay_over_time(reproduction, signal.name, found),
                ("algorithm", "time_s", wanted["series"]),
                [(c.name, x, y) for c in found for x, y in zip(c.x, c.y, strict=True)],
                partial(delay_over_time, reproduction, found),
            )
        yield from _beside(reproduction, signal)


def _beside(reproduction: Reproduction, signal: Signal) -> Iterator[Picture]:
    """Ours beside the kernel's own: not of an ablation, which tells about a setting."""
    if signal.ablates:
        return
    pairs = [of for of in lines(reproduction, signal.name) if len(of) > 1]
    if not pairs:
        return
    experiment = reproduction.experiment
    average_s = experiment.data["figure"]["average_s"]
    yield Picture(
        named(experiment, signal.name, "beside"),
        signal.name,
        "",
        f"Over time: the mean over all seeds, averaged over {average_s} s; the shaded span is the "
        "window of the table. Distribution: all seeds within that window, in steps of "
        f"{experiment.scenario.record.series}.",
        figure_words.delay_beside_kernel(reproduction, signal.name, pairs),
        ("algorithm", "curve", "panel", "time_s or share", experiment.data["figure"]["series"]),
        [row for of in pairs for line in of for row in _rows(line, average_s)],
        partial(delay_beside_kernel, reproduction, signal.name, pairs=pairs),
    )


def _rows(line: Line, average_s: float) -> Iterator[tuple[Any, ...]]:
    label = line.algorithm, line.look.label
    for time_s, delay in zip(*averaged(line.time_s, line.delay, average_s), strict=True):
        yield (*label, "over time", time_s, delay)
    for share, delay in zip(SHARES, line.quantiles(), strict=True):
        yield (*label, "distribution", share, delay)
