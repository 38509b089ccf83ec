# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn run`, behind its command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sojourn.cli import asked
from sojourn.cli.output import print_json, tell_broken, tell_ignored, tell_unmeasured
from sojourn.core.hosts import check_hosts
from sojourn.result.result import Result
from sojourn.runs.forms import MAX_SEEDS, Form, jobs_of_forms, run_jobs
from sojourn.scenario.unread import Unread
from sojourn.store.store import Store, default_root


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
    """Run it and print what came out; the answer is the status to end with."""
    hosts = check_hosts(hosts)
    if plot:
        from sojourn.show.output import check_name

        check_name(plot)
    wanted = scenario, aqms, assignments, hosts
    # With a folder, what it holds decides too.
    key = "" if out else asked.key_of(*wanted)
    found = asked.recall(key) if key and 1 <= seeds <= MAX_SEEDS else None
    if found:
        name, forms = found
        tell_unmeasured(forms)
        runs = run_jobs(
            jobs_of_forms(forms, range(1, seeds + 1)),
            store=Store(default_root()),
            workers=workers,
            again=again,
            title=f"running {name}",
            processes=True,
        )
        result = Result(Unread(scenario), runs)
    else:
        result = _check_and_run(wanted, key, seeds, out, workers, again)
    tell_ignored(result.runs)
    if as_json:
        from sojourn.result.differences import differences

        different = [difference.to_json() for difference in differences(result)]
        print_json({**result.to_json(), "differences": different})
    else:
        from sojourn.cli.drawn import print_result

        print_result(result, out)
    if plot:
        from sojourn.cli.draw import draw

        draw({"": result}, plot, silent=as_json)
    return tell_broken(result.runs)


def _check_and_run(
    wanted: tuple[Path, Sequence[str], Sequence[str], Sequence[str]],
    key: str,
    seeds: int,
    out: Path | None,
    workers: int | None,
    again: bool,
) -> Result:
    from sojourn.core.inputs import noting
    from sojourn.runs.run import run as run_scenario
    from sojourn.scenario import load
    from sojourn.scenario.assignments import read_assignments

    path, aqms, assignments, hosts = wanted
    with noting() as inputs:
        scenario = load(path)

        def keep(forms: Sequence[Form]) -> None:
            tell_unmeasured(forms)
            # Unless the file was changed while it was read.
            if key and asked.key_of(*wanted) == key:
                asked.keep(key, scenario.name, forms, inputs)

        return run_scenario(
            scenario,
            aqms=aqms,
            changes=read_assignments(assignments),
            seeds=seeds,
            out=out,
            workers=workers,
            again=again,
            hosts=hosts,
            processes=True,
            checked=keep,
        )
