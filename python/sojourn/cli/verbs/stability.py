# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The verb on theory: `stability`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

import typer

from sojourn.cli import complete
from sojourn.cli.options import Json, Out, Workers, verbs
from sojourn.cli.output import print_json, tell_broken, tell_note
from sojourn.core.errors import InputError

app = verbs()
_Quantity = TypeVar("_Quantity")


@app.command()
def stability(
    algorithm: Annotated[
        list[str],
        typer.Argument(
            help="NAME, NAME@PRESET, either with :key=value,...", autocompletion=complete.aqms
        ),
    ],
    flows: Annotated[int, typer.Option("--flows", help="How many TCP flows share the link.")],
    capacity: Annotated[str, typer.Option("--capacity", help="The link's rate: '15 Mbit/s'.")],
    rtt: Annotated[str, typer.Option("--rtt", help="Round trip without the queue: '240 ms'.")],
    packet: Annotated[
        str, typer.Option("--packet", help="Length of every packet, with all headers.")
    ] = "1500 B",
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="key=value, a parameter of each algorithm.")
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
    from sojourn.cli.stability import print_study
    from sojourn.core.units import Duration, Rate, Size
    from sojourn.store.folder import claim
    from sojourn.theory import network, rows
    from sojourn.theory.study import study

    of = network.read(
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
        claim(out)
    found = study(
        chosen,
        of,
        as_printed=as_printed,
        over=map_ or "",
        simulated_s=long / 1e9 if simulate else None,
        seeds=1 if seeds is None else seeds,
        workers=workers,
    )
    if out:
        from sojourn.show.stability import write

        write(found, out)
    print_json(found.to_json()) if as_json else print_study(found, out)
    return tell_broken(found.result.runs) if found.result else 0


def _read(option: str, kind: Callable[[str], _Quantity], text: str) -> _Quantity:
    from sojourn.core.units import UnitError

    try:
        return kind(text)
    except UnitError as error:
        raise InputError(f"{option}: {error}") from error
