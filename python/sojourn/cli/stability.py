# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn stability`: theory, with a row for each model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from sojourn.cli import options
from sojourn.cli.options import Json, Out, Workers, print_json, tell_broken, tell_note, verbs
from sojourn.core.errors import InputError

if TYPE_CHECKING:
    from sojourn.theory.study import Study

app = verbs()
_Quantity = TypeVar("_Quantity")


@app.command()
def stability(
    algorithm: Annotated[
        list[str],
        typer.Argument(
            metavar="AQM",
            help="NAME, NAME@PRESET, either with :key=value,...",
            autocompletion=options.aqms,
        ),
    ],
    flows: Annotated[int, typer.Option("--flows", help="How many TCP flows share the link.")],
    capacity: Annotated[str, typer.Option("--capacity", help="The link's rate: '15 Mbit/s'.")],
    rtt: Annotated[str, typer.Option("--rtt", help="Round trip without the queue: '240 ms'.")],
    packet: Annotated[
        str, typer.Option("--packet", help="Length of every packet, with all headers.")
    ] = "1500 B",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A parameter of each algorithm."),
    ] = None,
    as_printed: Annotated[
        bool, typer.Option("--as-printed", help="Add the loop as the algorithm's paper prints it.")
    ] = False,
    map_: Annotated[
        str | None,
        typer.Option(
            "--map",
            help="Phase margin over two of flows, capacity, rtt: 'flows,rtt', "
            "'flows=9..99,rtt'; needs --out or --json.",
        ),
    ] = None,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="Add the queue in the packet simulator.")
    ] = False,
    duration: Annotated[
        str | None,
        typer.Option(
            "--duration", help="Simulated time, 180 s unless given; its first third is left out."
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", help="Seeds of the simulation, unless given 1.")
    ] = None,
    out: Out = None,
    workers: Workers = None,
    as_json: Json = False,
) -> int:
    """Find whether TCP over an AQM is stable: equilibrium, margins, pictures, the swing."""
    from sojourn.core.units import Duration, Rate, Size
    from sojourn.store.folder import examine
    from sojourn.theory import network, rows
    from sojourn.theory.study import study

    shared = network.read(
        flows,
        _read("--capacity", Rate, capacity),
        _read("--rtt", Duration, rtt),
        _read("--packet", Size, packet),
    )
    if not simulate and (duration is not None or seeds is not None):
        option = "--seeds" if duration is None else "--duration"
        raise InputError(f"{option} is of a simulation: give --simulate too, or leave it out")
    long = _read("--duration", Duration, "180 s" if duration is None else duration)
    chosen = rows.choose_all(algorithm, set_ or [], tell_note)
    if map_ and not out and not as_json:
        raise InputError("--map: a map is a picture; name a folder for it with --out")
    if out:
        examine(out)
    studied = study(
        chosen,
        shared,
        as_printed=as_printed,
        over=map_ or "",
        simulated_s=long / 1e9 if simulate else None,
        seeds=1 if seeds is None else seeds,
        workers=workers,
    )
    if out:
        from sojourn.show.stability import write

        write(studied, out)
    print_json(studied.to_json()) if as_json else _print_study(studied, out)
    return tell_broken(studied.result.runs) if studied.result else 0


def _read(option: str, kind: Callable[[str], _Quantity], text: str) -> _Quantity:
    from sojourn.core.units import UnitError

    try:
        return kind(text)
    except UnitError as error:
        raise InputError(f"{option}: {error}") from error


def _print_study(study: Study, out: Path | None) -> None:
    """Print equilibrium, margins and verdict; on stderr the limits of each model."""
    from sojourn.show.tables import console, print_line, print_table
    from sojourn.theory.maps import counts
    from sojourn.theory.study import table

    terminal = console()
    print_table(terminal, table(study))
    for count in counts(study.maps):
        print_line(
            terminal,
            f"map of {count['algorithm']}: {count['stable']} cells stable, {count['unstable']} "
            f"unstable, {count['no_equilibrium']} without equilibrium",
        )
    if out:
        print_line(terminal, f"stability: {out}")
    for model in study.models:
        for note in study.notes(model):
            tell_note(f"{model.name}: {note}")
