# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn linux …`: the kernel in virtual time, and queues of a running one. Nothing of it is
imported until it is used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args

import typer

from sojourn.cli.options import HELP, Json, print_json, tell_note

app = typer.Typer(
    help="The Linux host.", no_args_is_help=True, rich_markup_mode=None, context_settings=HELP
)


@app.command()
def build(
    source: Annotated[
        Path | None, typer.Option("--source", help="A kernel's tree or archive; else Debian's.")
    ] = None,
    hz: Annotated[
        int, typer.Option("--hz", help="Ticks per second of the kernel: 250 or 1000.")
    ] = 1000,
    as_json: Json = False,
) -> None:
    """Build the kernel, the module and the guest's programs ahead of the first run."""
    from sojourn.core.errors import InputError
    from sojourn.core.hosts import Ticks
    from sojourn.linux import kernel

    if hz not in get_args(Ticks):
        raise InputError(f"--hz {hz}: allowed: {', '.join(map(str, get_args(Ticks)))}")
    built = kernel.ready(source, hz)
    data = {
        "release": built.built.release,
        "kernel": str(built.built.kernel),
        "module": str(built.module),
        "programs": str(built.built.programs),
    }
    print_json(data) if as_json else print("\n".join(f"{k}: {v}" for k, v in data.items()))


@app.command(
    context_settings={
        # The words are tc's, but for a lone --help, which tc does not know.
        "ignore_unknown_options": True,
        "allow_interspersed_args": False,
        "help_option_names": [],
    }
)
def tc(
    context: typer.Context,
    words: Annotated[list[str] | None, typer.Argument(help="As behind tc.", metavar="...")] = None,
) -> None:
    """Run the system's tc with the plugin for sojourn's queues, which is built where needed.

    As in `sojourn linux tc -s qdisc show`. `sojourn linux tc qdisc add dev DEV root sojourn help`
    lists algorithms and rows, `sojourn linux tc help` is tc's own.
    """
    from sojourn.linux import kernel

    if words == ["--help"]:
        print(context.get_help())
        return
    raise typer.Exit(kernel.tc(words or []))


@app.command()
def export(
    algorithm: Annotated[str, typer.Argument(help="One of `sojourn list algorithms`, as duk.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the files.")] = Path(),
) -> None:
    """Write a stand-alone qdisc of one algorithm: sch_NAME.c, tc's plugin, and cases for tdc."""
    from sojourn.linux.export import LEAST
    from sojourn.linux.export import export as make

    paths = make(algorithm).write(out)
    print("\n".join(map(str, paths)))
    tell_note(f"{paths[0].name} needs {LEAST}")


@app.command()
def metrics(
    out: Annotated[
        Path | None, typer.Option("--out", help="A file for node_exporter's textfile collector.")
    ] = None,
) -> None:
    """Print every statistic of this machine's queues in the text form of Prometheus."""
    from sojourn.core.errors import InputError
    from sojourn.linux import device
    from sojourn.linux import metrics as of_queues
    from sojourn.store.store import write_whole

    if out and out.suffix != ".prom":
        raise InputError(f"--out {out}: node_exporter reads *.prom alone: write FILE.prom")
    text = of_queues.text(device.Reading({device.QDISCS: device.ask(device.QDISCS)}))
    if out is None:
        print(text, end="")
    else:
        write_whole(out, text.encode())  # a reader never sees a half of it
