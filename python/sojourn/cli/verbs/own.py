# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The verbs on files of a user's own: `new`, `check`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli import complete
from sojourn.cli.options import Json, verbs
from sojourn.cli.output import print_json
from sojourn.core.errors import InputError

app = verbs()


@app.command()
def new(
    file: Annotated[
        Path | None,
        typer.Argument(help="NAME.c, or with --scenario FILE.toml, which is not there yet."),
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option(
            "--scenario",
            help="Write this scenario; `list scenarios` has the names.",
            autocompletion=complete.scenarios,
        ),
    ] = None,
    paper: Annotated[
        Path | None, typer.Option("--paper", help="Write a small paper into this new folder.")
    ] = None,
) -> None:
    """Write a small algorithm, a scenario that is known by its name, or a paper, to begin with."""
    from sojourn.user_aqm.compiler import shown

    if paper is not None:
        from sojourn.papers import new as new_paper

        if file is not None or scenario is not None:
            raise InputError("new: --paper FOLDER stands alone; leave the rest out")
        name = shlex.quote(shown(new_paper.write(paper)))
        print(f"{name} is written. Try it:\n  sojourn reproduce {name} --quick")
        return

    if scenario is not None:
        from sojourn.scenario import known_scenario

        name = shlex.quote(shown(known_scenario.write(scenario, file)))
        print(f"{name} is written. Try it:\n  sojourn run {name}")
        print(f"  sojourn run {name} --aqm fifo --aqm codel --seeds 5")
        return
    if file is None:
        raise InputError("new: what shall be written? NAME.c, --scenario NAME, or --paper FOLDER")
    from sojourn.user_aqm import library

    name = shown(library.write_template(file))
    print(f"{name} is written. Try it:\n  sojourn check {name}")
    print(f"  sojourn run scenario.toml --aqm {name} --aqm codel")


@app.command()
def check(
    algorithm: Annotated[
        str, typer.Argument(help="A C file, or an algorithm.", autocompletion=complete.checkable)
    ],
    as_json: Json = False,
) -> int:
    """Try an algorithm on what holds for all of them."""
    from sojourn.cli.check import find
    from sojourn.user_aqm import trial

    findings = trial.check(find(algorithm))
    if as_json:
        keys = ("name", "what", "state", "said")
        print_json({"properties": [{key: getattr(f, key) for key in keys} for f in findings]})
    else:
        print("\n".join(trial.lines(findings)))
    return 3 if any(finding.state == "FAILED" for finding in findings) else 0
