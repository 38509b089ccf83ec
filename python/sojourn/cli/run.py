# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn run`, behind its command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sojourn.cli.output import print_json, tell_broken, tell_ignored, tell_note
from sojourn.runs.run import run as run_scenario
from sojourn.scenario.assignments import read_assignments


def run(
    *,
    scenario: Path,
    aqms: Sequence[str],
    assignments: Sequence[str],
    seeds: int,
    hosts: Sequence[str],
    out: Path | None,
    workers: int | None,
    again: bool,
    plot: Path | None,
    as_json: bool,
) -> int:
    """Run a scenario and print the result. Return the exit status."""
    if plot:
        from sojourn.show.figures import check_name

        check_name(plot)
    result = run_scenario(
        scenario,
        aqms=aqms,
        changes=read_assignments(assignments),
        seeds=seeds,
        out=out,
        workers=workers,
        again=again,
        hosts=hosts,
        tell=tell_note,
    )
    tell_ignored(result.runs)
    if as_json:
        from sojourn.result.differences import differences

        different = [difference.to_json() for difference in differences(result)]
        print_json({**result.to_json(), "differences": different})
    else:
        from sojourn.cli.tables import print_result

        print_result(result, out)
    if plot:
        from sojourn.cli.draw import draw

        draw({"": result}, plot, silent=as_json)
    return tell_broken(result.runs)
