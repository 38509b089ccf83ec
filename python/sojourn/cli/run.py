# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn run` and `sojourn demo`: one scenario, and a first look at bufferbloat."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sojourn.cli import options
from sojourn.cli.options import (
    Again,
    Host,
    Json,
    Out,
    Workers,
    draw,
    print_json,
    tell_broken,
    tell_ignored,
    tell_note,
    verbs,
)

if TYPE_CHECKING:
    from sojourn.result.result import Run

app = verbs()


@app.command()
def run(
    scenario: Annotated[Path, typer.Argument(help="A scenario in TOML.")],
    aqm: Annotated[
        list[str] | None,
        typer.Option(
            "--aqm",
            help="NAME, NAME@PRESET, either with :key=value,...; NAME may be a C file of yours; "
            "repeat for more.",
            autocompletion=options.aqms,
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="key=value, in the scenario or in every queue under test."),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", help="Seeds 1 to N.")] = 1,
    host: Host = None,
    out: Out = None,
    workers: Workers = None,
    again: Again = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw it: a page (.html), or .svg, .png.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Run a scenario."""
    from sojourn.runs.run import run as run_scenario
    from sojourn.scenario.assignments import read_assignments

    if plot:
        from sojourn.show.output import check_name

        check_name(plot)
    result = run_scenario(
        scenario,
        aqms=aqm or [],
        changes=read_assignments(set_ or []),
        seeds=seeds,
        out=out,
        workers=workers,
        again=again,
        hosts=host or [],
        tell=tell_note,
    )
    tell_ignored(result.runs)
    if as_json:
        from sojourn.result.compare import differences

        different = [difference.to_json() for difference in differences(result)]
        print_json({**result.to_json(), "differences": different})
    else:
        from sojourn.cli.tables import print_result

        print_result(result, out)
    if plot:
        draw({"": result}, plot, silent=as_json)
    return tell_broken(result.runs)


SCENARIO = "home"
AQMS = ("fifo", "codel", "fq_codel")
_QUEUE, _WINDOW = "bottleneck", "load"
_NEXT = (
    ("source .venv/bin/activate", ""),
    ("sojourn new --scenario home", "this network as a file of yours"),
    ("sojourn run home.toml --aqm fifo --aqm pie --plot page.html", ""),
    ("sojourn reproduce duk/1", "a paper, beside its printed numbers"),
)


@dataclass(frozen=True)
class Row:
    """One algorithm on the home link."""

    aqm: str
    call_ms: float
    queue_ms: float
    downloads_mbps: float

    @classmethod
    def from_run(cls, run: Run) -> Row:
        """Read the numbers of one run."""
        from sojourn.result.metrics import GROUP_METRICS, METRICS

        queue_delay = METRICS["queue_delay_mean_ms"].of_run(run, _QUEUE, _WINDOW)
        goodput = METRICS["goodput_tcp_mbps"].of_run(run, _QUEUE, _WINDOW)
        call_delay = next(metric for metric in GROUP_METRICS if metric.name == "delay_ms")
        call = call_delay.of_run(run, "call", _WINDOW)
        return cls(str(run.labels["aqm"]), call, queue_delay, goodput)

    def __str__(self) -> str:
        return (
            f"  {self.aqm:9}{self.call_ms:13.0f} ms{self.queue_ms:15.{int(self.queue_ms < 10)}f} ms"
            f"{self.downloads_mbps:12.1f} Mbit/s"
        )


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for the page.")] = Path("results/demo"),
) -> None:
    """Show bufferbloat and its cure: a home link with fifo, codel and fq_codel."""
    from sojourn.runs.run import run as run_scenario
    from sojourn.scenario import load
    from sojourn.scenario.known_scenario import ROOT
    from sojourn.show.output import write
    from sojourn.store.store import write_errors

    scenario = load(ROOT / f"{SCENARIO}.toml")
    print(f"{scenario.description[0].upper()}{scenario.description[1:]}.\n")
    result = run_scenario(scenario, aqms=AQMS)
    rows = [Row.from_run(of_aqm) for of_aqm in result]
    print(f"  {'':9}{'the call waits':>16}{'the queue holds':>18}{'downloads get':>19}")
    print(f"{rows[0]}   <- bufferbloat", *rows[1:], sep="\n")
    fifo, best = rows[0], min(rows, key=lambda row: row.call_ms)
    lead = (
        f"A full drop-tail queue (fifo) makes a call wait {fifo.call_ms:.0f} ms: that is "
        f"bufferbloat. With {best.aqm} the same downloads get {best.downloads_mbps:.1f} in place "
        f"of {fifo.downloads_mbps:.1f} Mbit/s, and the call waits {best.call_ms:.0f} ms."
    )
    with write_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    page = out / "page.html"
    write({"": result}, page, ("delay",), lead=lead)
    times = fifo.call_ms / best.call_ms
    print(f"\nThe same downloads, and a call with 1/{times:.0f} of the delay. Look: {page}")
    print("Next:")
    for command, remark in _NEXT:
        print(f"  {command:61} {remark}".rstrip())
