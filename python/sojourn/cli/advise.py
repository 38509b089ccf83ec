# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn advise`: an algorithm for a home's line, and the commands that set it up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.cli.options import Json, Workers, print_json, verbs
from sojourn.core.text import BESIDE, NOTHING, Column, Table

if TYPE_CHECKING:
    from sojourn.runs.advise import Advice, Line, Tried

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
    commands = ""
    if advice.helps:
        commands = typed.router(advice.best.aqm, shaped(line.up), shaped(line.down))
    if as_json:
        print_json(_data(advice, commands))
        return
    _print_table(advice, seeds)
    print(f"\n{advice.reason}\n")
    if commands:
        print("# The module and the plugin are installed; WAN is the device to the modem.")
        print(commands)
    print("Not known here:")
    print("\n".join(f"- {sentence}" for sentence in _UNKNOWN))


def _write(line: Line, out: Path) -> None:
    from sojourn.core.errors import InputError
    from sojourn.core.files import refuse_others
    from sojourn.runs.advise import scenario_of
    from sojourn.store.store import write_whole

    if out.suffix != ".toml":
        raise InputError(f"--out {out}: a scenario is a TOML file: write FILE.toml")
    text = scenario_of(line).to_toml().encode()
    refuse_others({out: text}, "name another file with --out")
    write_whole(out, text)


def _left_out(advice: Advice, row: Tried) -> str:
    """Say why an algorithm was no candidate; empty where it was one."""
    from sojourn.runs.advise import LEAST_THROUGHPUT

    share = advice.share_of_most(row)
    if row == advice.unshaped or share >= LEAST_THROUGHPUT:
        return ""
    return f"throughput is {100 * share:.1f} % of the most, below {100 * LEAST_THROUGHPUT:.0f}"


def _print_table(advice: Advice, seeds: int) -> None:
    from sojourn.result.stats import estimate
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
    slower = [interval(estimate(row.waits_ms)) for row in rows]
    columns.insert(2, Column("its slower way\n(ms)", slower))
    left_out = [", left out" * bool(_left_out(advice, row)) for row in rows]
    shares = [f"{100 * advice.share_of_most(row):.1f}" for row in rows]
    columns.append(Column("throughput\n(% of the most)", list(map(str.__add__, shares, left_out))))
    title = f"mean ± half of the 95 % interval, seeds 1 to {seeds}"
    names = Column("below the shaper", [row.aqm for row in rows])
    table = Table(title, [names], columns, _note(columns[:-1]), lines_below=[0])
    print_table(console(), table)


def _note(columns: list[Column]) -> str:
    """Explain the cells of a table's numbers that need it."""
    cells = [cell for column in columns for cell in column.cells]
    notes = [
        "its slower way: of each seed the direction in which a call waits longer; it decides, and "
        "is in the sentence below"
    ]
    if NOTHING in cells:
        notes.append(f"{NOTHING}: none came, in no seed")
    if any(cell != NOTHING and BESIDE not in cell for cell in cells):
        notes.append("without ±: measured in one seed alone")
    return "; ".join(notes)


def _data(advice: Advice, commands: str) -> dict[str, Any]:
    from sojourn.result.stats import estimate
    from sojourn.runs.advise import NUMBERS

    slower = {row.aqm: estimate(row.waits_ms) for row in (advice.unshaped, *advice.tried)}
    return {
        "tried": [
            {
                "aqm": row.aqm,
                "numbers": [
                    {
                        "group": number.group,
                        "metric": number.metric,
                        "mean": found.mean,
                        "ci95": [found.low, found.high],
                    }
                    for number in NUMBERS
                    for found in [row.estimate(number)]
                ],
                "slower_way_ms": {
                    "mean": slower[row.aqm].mean,
                    "ci95": [slower[row.aqm].low, slower[row.aqm].high],
                },
                "throughput_pct_of_most": 100 * advice.share_of_most(row),
                "left_out": _left_out(advice, row) or None,
            }
            for row in (advice.unshaped, *advice.tried)
        ],
        "best": advice.best.aqm if commands else None,
        "as_good": [row.aqm for row in advice.as_good] if commands else [],
        "reason": advice.reason,
        "commands": commands.splitlines(),
        "not_known": _UNKNOWN,
    }
