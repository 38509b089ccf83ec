# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The table of responses that `sojourn run` and `sojourn compare` print where a scenario changes:
for each change a row for each algorithm and host, so that they stand side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sojourn.core.table import Column, Table
from sojourn.result.cases import Case, Cases, OwnNames, own_names
from sojourn.result.metrics import STEP_METRICS, StepMetric
from sojourn.result.result import Run
from sojourn.result.steps import spell
from sojourn.show.summary import NOTHING

# A schedule of many rates is no table for people.
_SHOWN = 20

_Response = Mapping[str, Any]
# Queue, time, what changes.
_Change = tuple[str, float, str]


def steps(
    by_case: Cases, labels: Callable[[Sequence[Case], OwnNames], list[Column]]
) -> Iterator[Table | str]:
    """Make a table for each queue, of the first changes where there are many."""
    found = {case: _responses(runs) for case, runs in by_case.items()}
    changes = dict.fromkeys(change for of in found.values() for change in of)
    for queue in dict.fromkeys(change[0] for change in changes):
        here = sorted(change for change in changes if change[0] == queue)
        rows = [
            (change, case) for change in here[:_SHOWN] for case in by_case if change in found[case]
        ]
        names = [
            Column("at (s)", [f"{at:g}" for (_, at, _), _ in rows]),
            Column("change", [what for (_, _, what), _ in rows]),
            *labels([case for _, case in rows], own_names(by_case, queue)),
        ]
        of_rows = [found[case][change] for change, case in rows]
        columns = [_column(metric, of_rows) for metric in STEP_METRICS]
        title = f"{queue}, after each change: {_note(by_case)}"
        yield Table(title, _unrepeated(names), columns)
        if len(here) > _SHOWN:
            left = len(here) - _SHOWN
            yield f"{left} more changes are in steps.parquet of --out, and in --json"


def _responses(runs: Sequence[Run]) -> dict[_Change, list[_Response]]:
    found: dict[_Change, list[_Response]] = {}
    for run in runs:
        for queue in run.report["queues"]:
            for step in queue.get("steps", ()):
                change = queue["name"], step["at_s"], spell(step["changes"])
                found.setdefault(change, []).append(step)
    return found


def _column(metric: StepMetric, of_rows: Sequence[Sequence[_Response]]) -> Column:
    cells = [
        _cell([metric.value(step) for step in steps], _unmeasured(metric, steps))
        for steps in of_rows
    ]
    return Column(metric.heading, cells)


def _unmeasured(metric: StepMetric, steps: Sequence[_Response]) -> str:
    """Of no packet there is no delay; a time is that of what did not come to pass."""
    any_left = any(step["later_delay_ms"] is not None for step in steps)
    return "never" if metric.unit == "s" and any_left else NOTHING


def _cell(values: Sequence[float], none: str) -> str:
    """The mean over the seeds in which it was measured, and in how many it was not."""
    measured = [value for value in values if value == value]
    if not measured:
        return none
    text = _mean(measured)
    missing = len(values) - len(measured)
    return f"{text}\n{none} in {missing} of {len(values)}" if missing else text


def _mean(values: Sequence[float]) -> str:
    if len(values) == 1:
        return f"{values[0]:.2f}"
    from sojourn.result.stats import estimate  # a single seed does without

    found = estimate(values)
    return f"{found.mean:.2f} ± {found.half:.2f}"


def _note(by_case: Cases) -> str:
    counts = sorted({len(runs) for runs in by_case.values()})
    if counts == [1]:
        return "1 seed"
    return f"mean ± half of its 95 % interval, {' or '.join(map(str, counts))} seeds"


def _unrepeated(names: Sequence[Column]) -> list[Column]:
    """A change is named once, in the first of its rows."""
    rows = list(zip(*(column.cells for column in names[:2]), strict=True))
    first = [i == 0 or row != rows[i - 1] for i, row in enumerate(rows)]
    once = [
        Column(c.heading, [text if new else "" for text, new in zip(c.cells, first, strict=True)])
        for c in names[:2]
    ]
    return [*once, *names[2:]]
