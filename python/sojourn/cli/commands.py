# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The commands and their options. What they do stands elsewhere, and is imported when needed:
a run shall not wait for what only a report uses."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from sojourn.cli.output import print_json, tell_broken, tell_ignored
from sojourn.errors import InputError

HELP = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="sojourn",
    help="Active queue management: simulate, compare, reproduce.",
    no_args_is_help=True,
    context_settings=HELP,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _aqms(incomplete: str) -> list[str]:
    from sojourn import algorithms, preset

    # Presets are many: they come once an algorithm is written.
    every = preset.presets() if "@" in incomplete else algorithms.every()
    return [name for name in every if name.startswith(incomplete)] + _files(incomplete)


def _files(incomplete: str) -> list[str]:
    """C files, and folders that may hold some."""
    head, slash, tail = incomplete.rpartition("/")
    folder = Path(head + slash).expanduser()
    try:
        found = [path for path in sorted(folder.iterdir()) if path.name.startswith(tail)]
    except OSError:
        return []
    files = [path.name for path in found if path.suffix == ".c"]
    files += [f"{path.name}/" for path in found if path.is_dir() and incomplete]
    return [head + slash + name for name in files]


def _experiments(incomplete: str) -> list[str]:
    from sojourn.experiment import experiments

    return [e.id for e in experiments() if e.id.startswith(incomplete)]


def _hosts(incomplete: str) -> list[str]:
    return [name for name in ("sim", "linux") if name.startswith(incomplete)]


def _scenarios(incomplete: str) -> list[str]:
    from sojourn.known_scenario import known_scenarios

    return [name for name in known_scenarios() if name.startswith(incomplete)]


def _lists(incomplete: str) -> list[str]:
    names = ("algorithms", "presets", "tcp", "experiments", "scenarios", "traffic")
    return [name for name in names if name.startswith(incomplete)]


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Out = Annotated[Path | None, typer.Option("--out", help="Folder for the result.")]
Host = Annotated[
    list[str] | None,
    typer.Option(
        "--host", help="Where it runs: sim or linux; repeat for both.", autocompletion=_hosts
    ),
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Processes; unless given, cores.")
]
Again = Annotated[bool, typer.Option("--again", help="Run even what is already there.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        from sojourn import _native

        print("sojourn", _native.core_version())
        raise typer.Exit


@app.callback()
def _every_command(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print and stop."),
    ] = False,
) -> None:
    pass


@app.command("list")
def list_(
    what: Annotated[
        str,
        typer.Argument(
            help="algorithms, presets, tcp, experiments, scenarios or traffic",
            autocompletion=_lists,
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """List algorithms, presets of them and of TCP, experiments, scenarios and kinds of traffic."""
    from sojourn.cli import show

    tables = show.listing(what)
    print_json(tables) if as_json else show.print_listing(tables)


@app.command("show")
def show_(
    algorithm: Annotated[
        str | None,
        typer.Argument(
            help="An algorithm, a preset (of TCP too) or a C file.", autocompletion=_aqms
        ),
    ] = None,
    expand: Annotated[
        Path | None, typer.Option("--expand", help="A scenario to write out.")
    ] = None,
    tc: Annotated[
        bool, typer.Option("--tc", help="Its words for tc: what is not as by default.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show an algorithm's parameters or a preset, or a scenario with its shorthand written out."""
    from sojourn.cli import show

    if (algorithm is None) == (expand is None):
        raise InputError("show one of the two: an algorithm, or --expand SCENARIO.toml")
    if expand and tc:
        raise InputError("--tc: an algorithm is wanted before it")
    if expand:
        from sojourn.scenario import load

        graph = load(expand).expand()
        print_json(graph.to_engine()) if as_json else print(graph.to_toml(), end="")
    elif algorithm is not None and tc:
        words = show.tc(algorithm)
        print_json({"tc": words}) if as_json else print(words)
    elif algorithm is not None:
        table = show.table(algorithm)
        print_json(table) if as_json else show.print_table(table)


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
            autocompletion=_scenarios,
        ),
    ] = None,
) -> None:
    """Write a small algorithm to begin with, or a scenario that is known by its name."""
    from sojourn.own.compiler import shown

    if scenario is not None:
        from sojourn import known_scenario

        name = shlex.quote(shown(known_scenario.write(scenario, file)))
        print(f"{name} is written. Try it:\n  sojourn run {name}")
        print(f"  sojourn run {name} --aqm fifo --aqm codel --seeds 5")
        return
    if file is None:
        raise InputError("new: what shall be written? NAME.c for an algorithm, or --scenario NAME")
    from sojourn.own import template

    name = shown(template.write(file))
    print(f"{name} is written. Try it:\n  sojourn check {name}")
    print(f"  sojourn run scenario.toml --aqm {name} --aqm codel")


@app.command()
def check(
    algorithm: Annotated[
        str, typer.Argument(help="A C file, or an algorithm.", autocompletion=_aqms)
    ],
    as_json: Json = False,
) -> int:
    """Try an algorithm on what holds for all of them."""
    from sojourn.own import trial

    findings = trial.check(trial.find(algorithm))
    if as_json:
        keys = ("name", "what", "state", "said")
        print_json({"properties": [{key: getattr(f, key) for key in keys} for f in findings]})
    else:
        print("\n".join(trial.lines(findings)))
    return 3 if any(finding.state == "FAILED" for finding in findings) else 0


@app.command()
def run(
    context: typer.Context,
    scenario: Annotated[Path, typer.Argument(help="A scenario in TOML.")],
    aqm: Annotated[
        list[str] | None,
        typer.Option(
            "--aqm",
            help="NAME, NAME@PRESET, either with :key=value,...; NAME may be a C file of yours; "
            "repeat for more.",
            autocompletion=_aqms,
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
    from sojourn.cli import words
    from sojourn.cli.run import run as run_scenario

    options: dict[str, Any] = {
        "scenario": scenario,
        "aqms": aqm or [],
        "assignments": set_ or [],
        "seeds": seeds,
        "hosts": host or [],
        "out": out,
        "workers": workers,
        "again": again,
        "plot": plot,
        "as_json": as_json,
    }
    words.keep(context.obj, options)
    return run_scenario(**options)


@app.command()
def sweep(
    file: Annotated[Path, typer.Argument(help="A sweep in TOML.", metavar="SWEEP.toml")],
    out: Out = None,
    workers: Workers = None,
    dask: Annotated[
        str | None, typer.Option("--dask", help="Address of a Dask scheduler that runs it.")
    ] = None,
    again: Again = False,
    as_json: Json = False,
) -> int:
    """Run a scenario over the values of axes."""
    from sojourn.cli import sweep as of_sweeps

    swept = of_sweeps.run(file, out=out, workers=workers, dask=dask, again=again)
    tell_ignored(swept.odd)
    print_json(swept.to_json()) if as_json else of_sweeps.print_means(swept, out)
    of_sweeps.tell(swept, out)
    return tell_broken(swept.odd)


@app.command()
def calibrate(
    scenario: Annotated[Path, typer.Argument(help="A scenario in TOML.")],
    flows: Annotated[str, typer.Argument(help="The name of a group of its flows.")],
    load: Annotated[str, typer.Argument(help="What they shall offer: '100 Mbit/s'.")],
    seeds: Annotated[int, typer.Option("--seeds", help="Seeds 1 to N.")] = 3,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Find how many flows of a group offer a load, on links that are uncongested."""
    from sojourn.calibrate import calibrate as find
    from sojourn.scenario import load as read
    from sojourn.units import Rate, UnitError

    try:
        rate = Rate(load)
    except UnitError as error:
        raise InputError(f"calibrate: {error}") from error
    found = find(read(scenario), flows, rate, seeds=seeds, workers=workers, processes=True)
    if as_json:
        print_json(found.to_json())
        return
    from sojourn.cli.tables import print_calibration

    print_calibration(found)


@app.command()
def reproduce(
    what: Annotated[
        list[str] | None,
        typer.Argument(help="PAPER or PAPER/EXPERIMENT", autocompletion=_experiments),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer seeds; verdicts provisional.")
    ] = False,
    host: Host = None,
    out: Out = None,
    workers: Workers = None,
    as_json: Json = False,
) -> int:
    """Run a paper's experiments: measured beside published, a verdict for each claim."""
    from sojourn import report
    from sojourn.experiment import find
    from sojourn.hosts import check_hosts
    from sojourn.paper import judge
    from sojourn.reproduce import reproduce as run_experiment
    from sojourn.tables import console

    hosts = check_hosts(host or [])
    chosen = find(what or [])
    folder = out or Path("sojourn-" + "-".join(e.id.replace("/", "-") for e in chosen))
    report.check_folder(folder, chosen, quick, hosts)
    done = []
    for experiment in chosen:
        kept = out / experiment.id if out and len(chosen) > 1 else out
        done.append(
            run_experiment(
                experiment, quick=quick, out=kept, workers=workers, hosts=hosts, processes=True
            )
        )
        if kept:
            done[-1].result.save(kept)
    of_papers = judge(done)
    data = {
        "experiments": [reproduction.to_json() for reproduction in done],
        "papers": [of_paper.to_json() for of_paper in of_papers],
    }
    report_path = report.write_all(done, of_papers, data, folder)
    if as_json:
        print_json(data)
    else:
        terminal = console()
        for reproduction in done:
            report.print_tables(reproduction, terminal)
        for of_paper in of_papers:
            report.print_paper(of_paper, terminal)
        terminal.print(f"report: {report_path}", soft_wrap=True, markup=False, highlight=False)
    return tell_broken([run for reproduction in done for run in reproduction.result])


@app.command()
def bench(
    quick: Annotated[bool, typer.Option("--quick", help="A short simulated time, once.")] = False,
    as_json: Json = False,
) -> None:
    """Time the engine beside ns-2, where it is installed, and browsers beside real time."""
    from sojourn.bench import measure, print_measured

    measured = measure(quick=quick)
    print_json(measured) if as_json else print_measured(measured)


@app.command()
def cache(
    clear: Annotated[
        str | None,
        typer.Option("--clear", help="Remove runs, builds, requests or all.", show_default=False),
    ] = None,
    older_than: Annotated[
        float, typer.Option("--older-than", min=0, help="Only what is unchanged for so many days.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Show what is kept in the cache folder, or remove it; all of it can be made again."""
    from sojourn import cache as kept
    from sojourn.store import default_root

    if clear is None and older_than:
        raise InputError("--older-than: says what --clear removes; name a part with --clear")
    if clear is not None:
        count, size = kept.clear(clear, older_than)
        if as_json:
            print_json({"removed": count, "mb": size / 1e6})
        else:
            print(f"removed {count} of {default_root().parent}, {size / 1e6:.1f} MB")
        return
    parts = kept.examine()
    if as_json:
        print_json({"folder": str(default_root().parent), "parts": parts})
        return
    from sojourn.tables import console, print_entries

    entries = [
        {key: f"{value:.1f}" if key == "mb" else str(value) for key, value in part.items()}
        for part in parts
    ]
    print_entries(console(), str(default_root().parent), entries)


@app.command()
def doctor(as_json: Json = False) -> int:
    """Check the installation and say what is missing."""
    from sojourn.cli import doctor as checks

    found = checks.examine()
    print_json({"checks": found}) if as_json else checks.print_found(found)
    return 0 if all(check["ok"] or not check["needed"] for check in found) else 3
