# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn new` and `sojourn check`: files of a user's own."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sojourn.cli import options
from sojourn.cli.options import Json, print_json, verbs
from sojourn.core.errors import InputError, nearest

if TYPE_CHECKING:
    from sojourn.core.algorithm import Library

app = verbs()
# Scenarios that the pages have a reader write, the last one by `new --scenario`.
_LIKELY = ("scenario.toml", "home.toml")
_SCENARIO = ".toml"


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
            autocompletion=options.scenarios,
        ),
    ] = None,
    sweep: Annotated[
        Path | None,
        typer.Option("--sweep", help="Write a sweep of this scenario; FILE.toml, or sweep.toml."),
    ] = None,
    paper: Annotated[
        Path | None, typer.Option("--paper", help="Write a small paper into this new folder.")
    ] = None,
) -> None:
    """Write a small algorithm, a scenario that is known by its name, a sweep, or a paper, to begin
    with."""
    from sojourn.user_aqm.compiler import shown

    if paper is not None:
        from sojourn.papers.paper import write_sample

        if file is not None or scenario is not None or sweep is not None:
            raise InputError("new: --paper FOLDER stands alone; leave the rest out")
        name = shlex.quote(shown(write_sample(paper)))
        print(f"{name} is written. Try it:\n  sojourn reproduce {name} --quick")
        return

    if sweep is not None:
        from sojourn.sweeps.sample import write_sample as write_sweep

        if scenario is not None:
            raise InputError("new: --sweep takes a scenario's file; write that first")
        name = shlex.quote(shown(write_sweep(sweep, file)))
        print(f"{name} is written. Try it:\n  sojourn sweep {name} --out grid")
        print("  sojourn plot grid --out grid.html")
        return
    if scenario is not None:
        from sojourn.scenario import known

        name = shlex.quote(shown(known.write_known(scenario, file)))
        print(f"{name} is written. Try it:\n  sojourn run {name}")
        print(f"  sojourn run {name} --aqm fifo --aqm codel --seeds 5")
        return
    if file is None:
        raise InputError(
            "new: what shall be written? NAME.c, --scenario NAME, "
            "--sweep SCENARIO.toml, or --paper FOLDER"
        )
    from sojourn.user_aqm import library

    if file.suffix == _SCENARIO:
        from sojourn.scenario import known

        raise InputError(f"{file}: is no algorithm; {known.remedy(str(file))}")
    name = shown(library.write_template(file))
    print(f"{name} is written. Try it:\n  sojourn check {name}")
    there = next((each for each in _LIKELY if Path(each).exists()), None)
    if there is None:
        there = _LIKELY[-1]
        print(f"  sojourn new --scenario {Path(there).stem}")
    print(f"  sojourn run {there} --aqm {name} --aqm codel")


@app.command()
def check(
    algorithm: Annotated[
        str, typer.Argument(help="A C file, or an algorithm.", autocompletion=options.checkable)
    ],
    as_json: Json = False,
) -> int:
    """Try an algorithm on what holds for all of them."""
    from sojourn.user_aqm import trial

    findings = trial.check(find(algorithm))
    if as_json:
        print_json(
            {
                "properties": [
                    {"name": f.name, "what": f.what, "state": f.state, "said": f.detail}
                    for f in findings
                ]
            }
        )
    else:
        print("\n".join(trial.lines(findings)))
    return 3 if any(finding.state == "FAILED" for finding in findings) else 0


def find(name: str) -> Library:
    """Find the library of a C file, or of the file of this algorithm of ours. InputError for one
    without a C file, and for one with parameters."""
    from sojourn import algorithms
    from sojourn.core.algorithm import STOCK_PREFIX
    from sojourn.user_aqm import compiler, library

    if name.endswith(_SCENARIO):
        raise InputError(f"check {name}: is no algorithm; 'sojourn run {name}' runs a scenario")
    if name.startswith(STOCK_PREFIX):
        raise InputError(
            f"check {name}: the kernel's own have no C file here; name one of ours, or a C file"
        )
    known = algorithms.algorithms()
    head, _, settings = name.partition(":")
    if settings and (head in known or head.endswith(".c")):
        raise InputError(
            f"check {name}: takes no parameters, since it tries the whole range of each; write "
            f"check {head}"
        )
    if not library.is_file(name):
        if name not in known and "@" not in name:
            raise InputError(f"unknown algorithm '{name}'.{nearest(head, known)}")
        places = sorted(compiler.sources().glob(f"**/{algorithms.find(name).name}.c"))
        if not places:
            raise InputError(f"'{name}' has no C file here that could be checked")
        name = str(places[0])
    file = algorithms.find(str(library.absolute(name))).file
    assert file
    return file
