# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn advise`: an algorithm for a home's line, and the commands that set it up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.cli.options import Json, Workers, print_json, verbs
from sojourn.core.text import Column, Table

if TYPE_CHECKING:
    from sojourn.runs.advise import Advice, Line

app = verbs()

_UNKNOWN = (
    "the rate of a line that changes (Wi-Fi, LTE, cable in the evening): shape below the least one",
    "Wi-Fi behind the router: its queue is in its driver, and these commands do not reach it",
    "bytes that DSL or PPPoE add to each packet: give HTB `overhead` and `linklayer`",
    "your modem's buffer: 1000 packets are taken here",
)


@app.command()
def advise(
    up: Annotated[str, typer.Option("--up", help="Rate of the line up, as in 5mbit.")],
    down: Annotated[str, typer.Option("--down", help="Rate of the line down, as in 50mbit.")],
    rtt: Annotated[str, typer.Option("--rtt", help="Round trip of the empty line.")] = "40ms",
    calls: Annotated[int, typer.Option("--calls", help="Calls at once, each both ways.")] = 1,
    seeds: Annotated[int, typer.Option("--seeds", metavar="N", min=2, help="Seeds 1 to N.")] = 5,
    out: Annotated[
        Path | None, typer.Option("--out", help="A file for the line as a scenario.")
    ] = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Choose an AQM for a home's line by simulation, and print the tc commands for it."""
    from sojourn.linux import typed
    from sojourn.runs.advise import Line, shaped
    from sojourn.runs.advise import advise as choose

    line = Line.read(up, down, rtt, calls)
    if out:
        _write(line, out)
    advice = choose(line, seeds=seeds, workers=workers)
    commands = typed.router(advice.best.aqm, shaped(line.up), shaped(line.down))
    if as_json:
        print_json(_data(advice, commands))
        return
    _print_table(advice, seeds)
    print(f"\n{advice.reason}\n")
    print("# The module and the plugin are installed; WAN is the device to the modem.")
    print(commands)
    print("Not known here:")
    print("\n".join(f"- {sentence}" for sentence in _UNKNOWN))


def _write(line: Line, out: Path) -> None:
    from sojourn.core.errors import InputError
    from sojourn.runs.advise import scenario_of
    from sojourn.store.store import write_whole

    if out.suffix != ".toml":
        raise InputError(f"--out {out}: a scenario is a TOML file: write FILE.toml")
    write_whole(out, scenario_of(line).to_toml().encode())


def _print_table(advice: Advice, seeds: int) -> None:
    from sojourn.runs.advise import NUMBERS
    from sojourn.show.tables import console, interval, print_table

    rows = [advice.unshaped, *advice.tried]
    columns = [
        Column(
            f"{number.heading}\n({number.unit})",
            [interval(row.estimate(number)) for row in rows],
        )
        for number in NUMBERS
    ]
    title = f"mean ± half of the 95 % interval, seeds 1 to {seeds}"
    names = Column("below the shaper", [row.aqm for row in rows])
    print_table(console(), Table(title, [names], columns, lines_below=[0]))


def _data(advice: Advice, commands: str) -> dict[str, Any]:
    from sojourn.runs.advise import NUMBERS

    return {
        "tried": [
            {
                "aqm": row.aqm,
                "numbers": [
                    {
                        "group": number.group,
                        "metric": number.metric,
                        "mean": estimate.mean,
                        "ci95": [estimate.low, estimate.high],
                    }
                    for number in NUMBERS
                    for estimate in [row.estimate(number)]
                ],
            }
            for row in (advice.unshaped, *advice.tried)
        ],
        "best": advice.best.aqm,
        "as_good": [row.aqm for row in advice.as_good],
        "reason": advice.reason,
        "commands": commands.splitlines(),
        "not_known": _UNKNOWN,
    }
