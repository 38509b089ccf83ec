# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn run` and `sojourn demo`: one scenario, and a first look at bufferbloat."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli.options import (
    SEEDS_HELP,
    Again,
    Aqm,
    Form,
    Host,
    Json,
    Out,
    Scenario,
    Set,
    Workers,
    check_form,
    print_json,
    tell_broken,
    tell_files,
    tell_ignored,
    tell_note,
    verbs,
)

app = verbs()


@app.command()
def run(
    scenario: Scenario,
    aqm: Aqm = None,
    set_: Set = None,
    seeds: Annotated[str, typer.Option("--seeds", help=SEEDS_HELP)] = "1",
    host: Host = None,
    out: Out = None,
    workers: Workers = None,
    again: Again = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw it: a page (.html), or .pdf, .svg, .png.")
    ] = None,
    form: Form = None,
    as_json: Json = False,
) -> int:
    """Run a scenario."""
    from sojourn.runs.run import run as run_scenario
    from sojourn.scenario.variant import read_assignments

    check_form(form, as_json=as_json)
    if plot:
        from sojourn.show.figures import check_name

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

        print_result(result, out, form)
    if plot:
        from sojourn.show.figures import write

        files, missing = write({"": result}, plot)
        shown = [] if as_json else files
        tell_files(shown, missing, "FILE.html has all of them in one page", form)
    return tell_broken(result.runs)


_SHOWN = ("fifo", "codel", "fq_codel")
_NEXT = (
    ("sojourn new --scenario home", "this network as a file of yours"),
    ("sojourn run home.toml --aqm fifo --aqm pie --plot page.html", ""),
    ("sojourn reproduce duk/1", "a paper, beside its printed numbers"),
)


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for the result and its page.")] = Path(
        "results/demo"
    ),
) -> None:
    """Show bufferbloat and its cure: a home link with fifo, codel and fq_codel."""
    from sojourn.result.metrics import GROUP_METRICS, METRICS
    from sojourn.result.result import Result
    from sojourn.runs.run import run as run_scenario
    from sojourn.scenario import load
    from sojourn.scenario.known import KNOWN
    from sojourn.show.figures import write
    from sojourn.store.folder import claim

    scenario = load(KNOWN / "home.toml")
    page = out / "page.html"
    # The folder of an older demo holds its page alone.
    claim(out, beside=(page.name,))
    kept = run_scenario(scenario, aqms=_SHOWN, out=out)
    # The folder may hold more, of later commands.
    first = [{"aqm": aqm, "seed": 1, "host": "sim"} for aqm in _SHOWN]
    result = Result(scenario, tuple(run for run in kept if run.labels in first))
    print(f"{scenario.description[0].upper()}{scenario.description[1:]}.\n")
    call_delay = next(metric for metric in GROUP_METRICS if metric.name == "delay_ms")
    call_ms = {
        run.aqm_of("bottleneck"): call_delay.measure_run(run, "call", "load") for run in result
    }
    goodput_mbps = {}
    print(f"  {'':9}{'the call waits':>16}{'the queue holds':>18}{'downloads get':>19}")
    for run, (aqm, waits_ms) in zip(result, call_ms.items(), strict=True):
        holds_ms = METRICS["queue_delay_mean_ms"].measure_run(run, "bottleneck", "load")
        goodput_mbps[aqm] = METRICS["goodput_tcp_mbps"].measure_run(run, "bottleneck", "load")
        print(
            f"  {aqm:9}{waits_ms:13.0f} ms{holds_ms:15.{int(holds_ms < 10)}f} ms"
            f"{goodput_mbps[aqm]:12.1f} Mbit/s{'   <- bufferbloat' if aqm == 'fifo' else ''}"
        )
    best = min(call_ms, key=call_ms.__getitem__)
    lead = (
        f"A full drop-tail queue (fifo) makes a call wait {call_ms['fifo']:.0f} ms: that is "
        f"bufferbloat. With {best} the same downloads get {goodput_mbps[best]:.1f} in place of "
        f"{goodput_mbps['fifo']:.1f} Mbit/s, and the call waits {call_ms[best]:.0f} ms."
    )
    write({"": result}, page, ("delay",), lead=lead)
    times = call_ms["fifo"] / call_ms[best]
    print(f"\nThe same downloads, and a call with 1/{times:.0f} of the delay. Look: {page}")
    print("Next:")
    for command, remark in _NEXT:
        print(f"  {command:61} {remark}".rstrip())
