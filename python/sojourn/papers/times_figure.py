# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The kind "times" of figures: completion times of transfers, or load times of pages. Each cell has
a figure with two panels, the share at or below each time and, on two logarithmic axes, the share
above it; the curves are the algorithms. Its [figure]:

kind = "times"
of = "fct"                            fct (the default) or page
groups = "users *"                    names of groups of flows; the default is all
algorithms = […]                      those that are drawn; the default is all
beside = { CELL = [OTHER, ALGORITHM] }  a further curve in the figure of a cell: another cell's
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sojourn.core.errors import InputError, nearest
from sojourn.core.hosts import seeds_text
from sojourn.result.distribution import Distribution, of_groups
from sojourn.show.chart import Chart, Curve, Layout, Panel, and_last, file_name
from sojourn.show.page import number

if TYPE_CHECKING:
    from sojourn.papers.experiment import Experiment
    from sojourn.papers.reproduce import Reproduction
    from sojourn.sweeps.axes import Cell

_LABELS = {"fct": "completion time (s)", "page": "page load time (s)"}
_WHOSE = {"fct": "transfers", "page": "pages"}
_QUOTED = (0.5, 0.8, 0.999)

Times = Mapping[str, Distribution]  # by the name of the curve


def names(experiment: Experiment) -> Iterator[str]:
    """Name the figure of each cell."""
    of = _quantity(experiment)
    return (f"{cell.label} {of}" for cell in _drawn(experiment))


def charts(reproduction: Reproduction) -> Iterator[Chart]:
    """Chart each cell and host."""
    of = _quantity(reproduction.experiment)
    for cell in _drawn(reproduction.experiment):
        for host in reproduction.hosts:
            times = _times(reproduction, cell.label, host)
            if times:
                yield _chart(reproduction, cell, of, host, times)


def _quantity(experiment: Experiment) -> str:
    of = str(experiment.data["figure"].get("of", "fct"))
    if of not in _LABELS:
        raise _wrong(experiment, f"of = {of!r}: there is no such quantity.{nearest(of, _LABELS)}")
    return of


def _drawn(experiment: Experiment) -> list[Cell]:
    """List the cells with a figure of their own: all but those that stand in that of another."""
    cells = {cell.label: cell for cell in experiment.cells()}
    beside = experiment.data["figure"].get("beside", {})
    for label in [*beside, *(other for other, _ in beside.values())]:
        if label not in cells:
            raise _wrong(experiment, f"beside: no cell is '{label}'.{nearest(label, cells)}")
    others = {other for other, _ in beside.values()} - beside.keys()
    return [cell for label, cell in cells.items() if label not in others]


def _wrong(experiment: Experiment, reason: str) -> InputError:
    return InputError(f"{experiment.folder / 'experiment.toml'}: figure.{reason}")


def _times(reproduction: Reproduction, label: str, host: str) -> Times:
    """Add the times of all seeds, for each algorithm and what is beside them."""
    experiment = reproduction.experiment
    figure = experiment.data["figure"]
    names = [contender.name for contender in experiment.contenders()]
    wanted = [(name, label, name) for name in names if name in figure.get("algorithms", names)]
    if label in figure.get("beside", {}):
        other, algorithm = figure["beside"][label]
        name = other if other.startswith(algorithm) else f"{algorithm}, {other}"
        wanted.append((name, other, algorithm))
    place, window = figure.get("groups", "*"), str(experiment.data["window"])
    times: dict[str, Distribution] = {}
    for name, cell, algorithm in wanted:
        runs = reproduction.runs(host, cell, algorithm)
        every = (of_groups(run, figure.get("of", "fct"), place, window) for run in runs)
        total = sum(every, Distribution.empty())
        if total.count:
            times[name] = total
    return times


def _chart(reproduction: Reproduction, cell: Cell, of: str, host: str, times: Times) -> Chart:
    experiment = reproduction.experiment
    body, tail, rows = [], [], []
    for look, (name, distribution) in enumerate(times.items()):
        curve_ms, below = distribution.curve()
        curve_s, above = curve_ms / 1e3, 1 - below
        body.append(Curve(name, curve_s, below, look))
        # Nothing is above the last time, and a logarithmic axis has no 0.
        tail.append(Curve(name, curve_s[:-1], above[:-1], look))
        rows += [(name, *row) for row in zip(curve_s, below, above, strict=True)]
    label = f"{_LABELS[of]}, log"
    panels = [
        Panel("body", label, "share at or below", body, x_log=True, y_top=1.03, is_step=True),
        Panel("tail", label, "share above, log", tail, x_log=True, y_log=True, is_step=True),
    ]
    first = next(s for s in experiment.signals() if s.name == cell.label)
    place = experiment.data["figure"].get("groups")
    where = f" of {place}" if place else ""
    return Chart(
        file_name(experiment.id, cell.label, of, host),
        "",
        f"{first.table}: {_WHOSE[of]}{where} that ended in the window, in their own time; "
        f"{seeds_text(*reproduction.seeds_of(host))} together.",
        panels,
        _words(cell.label, of, times),
        Layout(2),
        cell.label,
        host,
        ("algorithm", f"{of}_s", "share_at_or_below", "share_above"),
        rows,
    )


def _words(label: str, of: str, times: Times) -> str:
    """Write percentiles of each curve as a sentence."""

    def quantiles(distribution: Distribution) -> Any:
        return [number(distribution.quantile_ms(share) / 1e3) for share in _QUOTED]

    return (
        f"Distributions, {label}: {_LABELS[of].removesuffix(' (s)')} in s, the share of "
        f"{_WHOSE[of]} at or below each and above it. Median, 80th and 99.9th percentile: "
        + "; ".join(f"{name} {and_last(quantiles(of_one))}" for name, of_one in times.items())
        + "."
    )
