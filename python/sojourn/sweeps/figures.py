# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Pictures of a sweep: metrics over one axis, with intervals, or a heat map over two.

A panel has one value of each further axis, and of the queue where there are several.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sojourn.core.errors import InputError, nearest
from sojourn.core.text import Column, Table
from sojourn.result.compare import named, of_aqms
from sojourn.result.metrics import Metric, few
from sojourn.result.stats import Estimate
from sojourn.show.chart import LOOKS, OF_PAGE, Chart, Curve, Layout, Panel, Size, file_name
from sojourn.show.figures import check_name, few_of, files
from sojourn.show.figures import write as write_results
from sojourn.show.measured import FAR_APART, MAX_PANELS, is_wide
from sojourn.show.page import drawn, number, render
from sojourn.show.page import spread as mean_and_half
from sojourn.show.tables import interval
from sojourn.show.theme import INK, colour, marker
from sojourn.store.store import write_whole
from sojourn.sweeps.kept import Kept, Row, named_unit, sweeps, worded

if TYPE_CHECKING:
    from sojourn.sweeps.kept import Given

# A shade of a heat map in the legend, and how many there are.
_SHADE = {"linestyle": "", "marker": "s", "markersize": 8, "markeredgewidth": 0}
_SHADES = 5
# The shade of the least value on a logarithmic scale; one of 0 has none.
_LEAST = 0.1
# The least range of a logarithmic scale. So three digits tell its shades apart, and values as good
# as equal have one shade.
_NARROW = 1.1


@dataclass(frozen=True)
class Wish:
    """The axes and the metric that a command asks for; empty words are chosen here."""

    x: str = ""
    y: str = ""  # a metric, or with `z` another axis
    z: str = ""  # the metric of a heat map
    queue: str | None = None
    window: str | None = None
    log: bool = False
    aqms: Sequence[str] = ()  # all, unless some are named


def write(
    kept: Kept, out: Path, wish: Wish, size: Size = OF_PAGE
) -> tuple[list[Path], Sequence[Chart]]:
    """Write a page, or pictures; return the paths and the charts."""
    check_name(out, size)
    made = charts(kept, wish)
    contents = (
        {out: html(kept, made, wish).encode()} if out.suffix == ".html" else files(made, out, size)
    )
    for path, content in contents.items():
        write_whole(path, content)
    return list(contents), made


def plot(
    results: Given,
    out: str | Path,
    figures: Sequence[str] = (),
    *,
    queue: str | None = None,
    window: str | None = None,
    x: str = "",
    y: str = "",
    z: str = "",
    width: str | None = None,
    font: str | None = None,
    log: bool = False,
    aqms: str | Sequence[str] = (),
) -> list[Path]:
    """Draw results, or those in folders, as a page or as pictures; return the files.

    Unless given, `figures` are all that the results have. A sweep, or its folder, is drawn over its
    axes: `x` is one, and `y` a metric; with `z`, a metric, `y` is an axis too. `width` and `font`
    are of pictures, "3.5in" and "8pt". `log` makes axes of delays, times and `x` logarithmic.
    `aqms` are those that are drawn.
    """
    names = [figures] if isinstance(figures, str) else figures
    wish = Wish(x, y, z, queue, window, log, [aqms] if isinstance(aqms, str) else aqms)
    return write_any(results, Path(out), names, wish, Size.read(width, font))[0]


def write_any(
    results: Given, out: Path, figures: Sequence[str], wish: Wish, size: Size
) -> tuple[list[Path], list[str]]:
    """Write the files of results, or those of a sweep; return their paths, and a sentence for each
    picture that is missing or has too few values."""
    check_name(out, size)
    kept = sweeps(results)
    if not kept:
        if wish.x or wish.y or wish.z:
            raise InputError("x, y, z: they are axes and metrics of a sweep, and here is none")
        chosen = of_aqms(named(results), wish.aqms)
        return write_results(chosen, out, figures, wish.queue, wish.window, size=size, log=wish.log)
    if len(kept) > 1:
        second = list(kept.values())[1].place
        raise InputError(f"{second}: a picture is of one sweep; sojourn compare takes several")
    if figures:
        raise InputError("--figure: a sweep is drawn over its axes; name these with --x and --y")
    (one,) = kept.values()
    paths, made = write(one.of_aqms(wish.aqms), out, wish, size)
    return paths, few_of(made)


def charts(kept: Kept, wish: Wish) -> list[Chart]:
    """Make the picture that is asked for; without a metric, one of each."""
    rows = _rows(kept, wish)
    x = kept.axis("--x", wish.x) if wish.x else next(iter(kept.columns.values()))
    if wish.z:
        if not wish.y:
            raise InputError("--z: a heat map has two axes; name them with --x and --y")
        y, metric = kept.axis("--y", wish.y), kept.metric("--z", wish.z)
        if x == y:
            raise InputError(f"--y {wish.y}: is the axis of --x; a heat map has two")
        return [_heat_map(kept, rows, x, y, metric, log=wish.log)]
    metrics = [kept.metric("--y", wish.y)] if wish.y else kept.metrics
    made = [_lines(kept, rows, x, metric, log=wish.log) for metric in metrics]
    if not any(made):
        raise InputError(f"{kept.place}: no run measured {', '.join(m.name for m in metrics)}")
    return [chart for chart in made if chart]


def _rows(kept: Kept, wish: Wish) -> list[Row]:
    """Select the rows of the window, the first unless one is named, and of the queue."""
    chosen = list(kept.means)
    first = {"window": wish.window or chosen[0]["window"], "queue": wish.queue}
    for key, name in first.items():
        known = list(dict.fromkeys(str(row[key]) for row in kept.means))
        if name is not None and name not in known:
            raise InputError(f"--{key} {name}: the sweep has no such {key}.{nearest(name, known)}")
        chosen = [row for row in chosen if name in (None, row[key])]
    return chosen


def _panels(
    kept: Kept, rows: Sequence[Row], shown: Sequence[str], metric: Metric
) -> dict[str, list[Row]]:
    """Sort rows by the values of the axes that a picture does not show; by the queue too, where
    there are several and the metric has none of its own."""
    keys = [column for column in kept.columns.values() if column not in shown]
    if metric.places != "queues" or metric.place:
        first = rows[0]["queue"]
        rows = [row for row in rows if row["queue"] == first]
    elif len({row["queue"] for row in rows}) > 1:
        keys.append("queue")
    panels: dict[str, list[Row]] = {}
    for row in rows:
        title = ", ".join(_value_text(key, row[key]) for key in keys)
        panels.setdefault(title, []).append(row)
    if len(panels) > MAX_PANELS:
        raise InputError(
            f"a picture has at most {MAX_PANELS} panels, and {', '.join(keys)} have {len(panels)} "
            "values together; choose another --x, or a heat map with --x, --y and --z"
        )
    return panels


def _value_text(key: str, value: object) -> str:
    return " ".join(worded(key, value))


def _axis_label(key: str) -> str:
    name, unit = named_unit(key)
    return f"{name} ({unit})" if unit else name


def _names(kept: Kept) -> Callable[[Row], str]:
    """Return what names a line: the algorithm under test, and the host where there are several."""
    several = len({row["host"] for row in kept.means}) > 1
    return lambda row: f"{row['tested']}, {row['host']}" if several else str(row["tested"])


def _estimate(row: Row, metric: Metric) -> Estimate:
    mean, half = row[metric.name], row[f"{metric.name}_ci95"]
    nothing, endless = float("nan"), float("inf")
    return Estimate(nothing if mean is None else mean, endless if half is None else half)


def _places(rows: Sequence[Row], column: str) -> tuple[dict[Any, float], bool]:
    """Give each value its place on an axis: numbers their own, words one after the other."""
    values = dict.fromkeys(row[column] for row in rows)
    is_number = all(type(value) in (int, float) for value in values)
    if is_number:
        return {value: float(value) for value in sorted(values)}, True
    return {value: float(place) for place, value in enumerate(values)}, False


def _lines(kept: Kept, rows: Sequence[Row], x: str, metric: Metric, *, log: bool) -> Chart | None:
    """Draw a metric over an axis: a line for each algorithm, with its intervals."""
    rows = [row for row in rows if row[metric.name] is not None]
    if not rows:
        return None
    name_of = _names(kept)
    names = list(dict.fromkeys(map(name_of, kept.means)))
    if len(names) > LOOKS:
        raise InputError(f"{len(names)} algorithms; a picture of a sweep has at most {LOOKS}")
    # A mean of nothing, such as a delay of zero, has no place on a logarithmic axis.
    can_log = metric.unit in ("ms", "s") and all(row[metric.name] > 0 for row in rows)
    is_log = log and can_log
    is_far = can_log and not log and is_wide(row[metric.name] for row in rows)
    panels, clauses = [], []
    for title, of_panel in _panels(kept, rows, (x,), metric).items():
        places, is_number = _places(of_panel, x)
        curves = []
        for look, name in enumerate(names):
            line = sorted(
                (row for row in of_panel if name_of(row) == name), key=lambda row: places[row[x]]
            )
            if not line:
                continue
            found = [_estimate(row, metric) for row in line]
            curves.append(
                Curve(
                    name,
                    [places[row[x]] for row in line],
                    [estimate.mean for estimate in found],
                    look,
                    reach=_reach(metric, found),
                    style={"marker": marker(look), "markersize": 4},
                )
            )
            words = (
                f"{_value(row[x])}: {mean_and_half(estimate)}"
                for row, estimate in zip(line, found, strict=True)
            )
            head = f"{title}, {name}" if title else name
            clauses.append(f"{head} at {', '.join(words)}")
        most = max(places.values())
        panels.append(
            Panel(
                title,
                f"{_axis_label(x)}, log" if log and is_number else _axis_label(x),
                _metric_label(metric) + (", log" if is_log else ""),
                curves,
                x_right=1.05 * most if is_number else None,
                x_log=log and is_number,
                y_log=is_log,
                # An interval may reach down to zero, which is endlessly far.
                y_bottom=min(row[metric.name] for row in of_panel) / 2 if is_log else None,
                ticks=_ticks(places, is_log=log),
            )
        )
    chart = Chart.described(
        file_name(metric.name),
        f"{metric.label[0].upper()}{metric.label[1:]}",
        _caption(rows, "Means over the seeds; bars are 95 % intervals, side by side.")
        + (FAR_APART.format("axis") if is_far else ""),
        panels,
        clauses,
    )
    return replace(chart, few=_few(kept, rows, [metric]))


# So many numbers stand at the ticks of their axis, where they are apart by this share of it.
_MOST_TICKS, _APART = 6, 1 / 12


def _ticks(places: Mapping[Any, float], *, is_log: bool) -> list[tuple[float, str]]:
    """Number an axis at its own values; none where numbers would be too many, or on one another."""
    ticks = [(place, _value(value)) for value, place in places.items()]
    if not any(isinstance(value, str) for value in places):
        ends = [place for place, _ in ticks]
        if is_log:
            if ends[0] <= 0:
                return []
            ends = [math.log(end / ends[0]) for end in ends]
        if len(ticks) > _MOST_TICKS or any(b - a < _APART * ends[-1] for a, b in pairwise(ends)):
            return []
    return ticks


def _reach(metric: Metric, found: Sequence[Estimate]) -> tuple[Any, Any] | None:
    """Return the lengths of the intervals below and above; None where each is of one seed."""
    ends = [
        metric.interval(estimate) if estimate.half < float("inf") else (estimate.mean,) * 2
        for estimate in found
    ]
    if all(low == high for low, high in ends):
        return None
    pairs = list(zip(found, ends, strict=True))
    return [max(e.mean - low, 0) for e, (low, _) in pairs], [
        max(high - e.mean, 0) for e, (_, high) in pairs
    ]


def _metric_label(metric: Metric) -> str:
    return f"{metric.label} ({metric.unit})" if metric.unit else metric.label


def _value(value: object) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _caption(rows: Sequence[Row], words: str) -> str:
    counts = sorted({row["seeds"] for row in rows})
    if counts == [1]:
        words = "One seed."
    least, most = counts[0], counts[-1]
    seeds = "" if most == 1 else f" {least if least == most else f'{least} to {most}'} seeds."
    return f"{words}{seeds} Window: {rows[0]['window']}."


@dataclass(frozen=True)
class _Scale:
    """The shades of a heat map, from 0 or, on a logarithmic scale, from the least value above 0."""

    least: float
    most: float  # 0 where no value is above it
    is_log: bool
    has_zero: bool

    @classmethod
    def of(cls, values: Sequence[float], *, is_log: bool) -> Self:
        """Make the scale of these values."""
        above = [value for value in values if value > 0] or [0.0]
        most = max(above)
        has_zero = not is_log or min(values) <= 0
        return cls(min(*above, most / _NARROW), most, is_log, has_zero)

    def shade(self, value: float) -> float:
        """Return the opacity of a value."""
        if value <= 0:
            return 0.0
        if not self.is_log:
            return 0.75 * value / self.most
        share = math.log(value / self.least) / math.log(self.most / self.least)
        return 0.75 * (_LEAST + (1 - _LEAST) * share)

    def legend(self) -> list[Curve]:
        """List evenly spaced shades, each with its value, and that of 0 where there is one."""
        shares = [n / (_SHADES - 1) for n in range(_SHADES)] if self.most else []
        values = [0.0] * self.has_zero + [
            self.least * (self.most / self.least) ** share if self.is_log else self.most * share
            for share in shares
        ]
        return [
            Curve(name, [], [], style=_SHADE | {"alpha": self.shade(value)})
            for name, value in {_brief(value): value for value in values}.items()
        ]


def _brief(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def _heat_map(
    kept: Kept, rows: Sequence[Row], x: str, y: str, metric: Metric, *, log: bool
) -> Chart:
    """Draw a metric over two axes as shades: a panel for each algorithm, one scale for all."""
    rows = [row for row in rows if row[metric.name] is not None]
    if not rows:
        raise InputError(f"--z {metric.name}: no run measured it")
    name_of = _names(kept)
    columns, lines = (
        {value: float(n) for n, value in enumerate(_places(rows, key)[0])} for key in (x, y)
    )
    values = [row[metric.name] for row in rows]
    scale = _Scale.of(values, is_log=log)
    is_far = not log and is_wide(values)
    panels: list[Panel] = []
    clauses = []
    numbers: list[tuple[Any, ...]] = []
    for title, of_title in _panels(kept, rows, (x, y), metric).items():
        for name in dict.fromkeys(map(name_of, of_title)):
            cells = {
                (columns[row[x]], lines[row[y]]): row[metric.name]
                for row in of_title
                if name_of(row) == name
            }
            panels.append(
                Panel(
                    ", ".join(filter(None, (name, title))),
                    _axis_label(x),
                    _axis_label(y),
                    [] if panels else scale.legend(),
                    ticks=[(place, _value(value)) for value, place in columns.items()],
                    finish=partial(_fill, cells, lines, len(columns), scale),
                )
            )
            own = [row for row in of_title if name_of(row) == name]
            for row in own:
                ends = _finite(metric, _estimate(row, metric))
                numbers.append((panels[-1].title, row[x], row[y], row[metric.name], *ends))
            clauses.append(f"{panels[-1].title} from {_ends(cells)}")
    if len(panels) > MAX_PANELS:
        raise InputError(f"{len(panels)} heat maps; a picture has at most {MAX_PANELS}")
    title = f"{metric.label[0].upper()}{metric.label[1:]}"
    return Chart(
        file_name("map", metric.name),
        title,
        _caption(rows, f"Means over the seeds, {_metric_label(metric)}; darker is more.")
        + (FAR_APART.format("scale") if is_far else ""),
        panels,
        f"{title} over {_axis_label(x)} and {_axis_label(y)}: {'; '.join(clauses)}.",
        Layout(
            columns=min(len(panels), 3),
            legend_title=_metric_label(metric) + (", log" if log else ""),
        ),
        columns=("panel", x, y, metric.name, f"{metric.name}_low", f"{metric.name}_high"),
        rows=numbers,
        few=_few(kept, rows, [metric]),
    )


def _finite(metric: Metric, found: Estimate) -> tuple[float, float]:
    """Return the ends of an interval; a single seed has none."""
    nothing = float("nan")
    return metric.interval(found) if found.half < float("inf") else (nothing, nothing)


def _ends(cells: Mapping[tuple[float, float], float]) -> str:
    return f"{number(min(cells.values()))} to {number(max(cells.values()))}"


def _fill(
    cells: Mapping[tuple[float, float], float],
    lines: Mapping[Any, float],
    width: int,
    scale: _Scale,
    axes: Any,
    _narrow: bool,
) -> None:
    """Shade each cell by its value, which is written in it."""
    from matplotlib.patches import Rectangle

    for (x, y), value in cells.items():
        corner = x - 0.5, y - 0.5
        axes.add_patch(Rectangle(corner, 1, 1, facecolor=colour(0), alpha=scale.shade(value)))
        axes.text(x, y, _brief(value), ha="center", va="center", color=INK.light, fontsize="small")
    axes.set_xlim(-0.5, width - 0.5)
    axes.set_ylim(-0.5, len(lines) - 0.5)
    axes.set_yticks([*lines.values()], [_value(value) for value in lines])
    axes.grid(visible=False)


def html(kept: Kept, made: Sequence[Chart], wish: Wish) -> str:
    """Write a page: what was swept in words, the pictures, and their numbers."""
    rows = _rows(kept, wish)
    names = list(dict.fromkeys(map(_names(kept), rows)))
    axes = [
        f"{len({row[column] for row in rows})} values of {_axis_label(column)}"
        for column in kept.columns.values()
    ]
    lead = f"{' and '.join(axes)}, {' and '.join(names)}; seeds {kept.head['seeds']}."
    return render(
        "plot.html",
        title=kept.name,
        lead=lead[0].upper() + lead[1:],
        results=[],
        commands=[str(kept.head["command"])],
        runs=len({(row["cell"], row["tested"], row["host"], row["seed"]) for row in kept.cells}),
        networks=[],
        charts=list(map(drawn, made)),
        sentences=[],
        tables=[_table(kept, rows)],
        different=None,
    )


def _table(kept: Kept, rows: Sequence[Row]) -> Table:
    labels = [
        *(
            Column(_axis_label(key), [_value(row[key]) for row in rows])
            for key in kept.columns.values()
        ),
        Column("aqm", [_names(kept)(row) for row in rows]),
    ]
    if len({row["queue"] for row in rows}) > 1:
        labels.append(Column("queue", [str(row["queue"]) for row in rows]))
    columns = [
        Column(metric.heading, [interval(_estimate(row, metric)) for row in rows])
        for metric in kept.metrics
    ]
    note = _caption(rows, "Mean ± half of the 95 % interval.")
    note = " ".join(filter(None, (note, _few(kept, rows, kept.metrics))))
    return Table(str(rows[0]["window"]), labels, columns, note)


def _few(kept: Kept, rows: Sequence[Row], metrics: Sequence[Metric]) -> str:
    """Say which quantiles rest on too few values in one seed."""
    counts = few(
        (metric, _place(kept, row), row.get(f"{metric.name}_n") or 0)
        for metric in metrics
        for row in rows
    )
    return f"{counts[0].upper()}{counts[1:]}." if counts else ""


def _place(kept: Kept, row: Row) -> str:
    """Name a row by its values of the axes and its algorithm."""
    values = (_value_text(key, row[key]) for key in kept.columns.values())
    return ", ".join([*values, _names(kept)(row)])
