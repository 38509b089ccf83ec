# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Reads a command line with typer, and runs it. It imports only the file that has the verb of the
line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.main import get_command

from sojourn.cli.options import HELP
from sojourn.core.errors import InputError, Interrupted
from sojourn.core.messages import printable

# The verbs of each file, in the order of `--help`.
VERBS = {
    "show": ("list", "show"),
    "own": ("new", "check"),
    "run": ("run", "demo"),
    "advise": ("advise",),
    "sweep": ("sweep", "calibrate"),
    "reproduce": ("reproduce",),
    "stability": ("stability",),
    "upkeep": ("bench", "cache", "doctor"),
    "results": ("plot", "compare", "verify", "export"),
    "linux": ("linux",),
}

# The base of typer's errors about a command line; typer exports it under no name.
_UsageError: type[typer.BadParameter] = typer.BadParameter.__bases__[0]


def app(verb: str = "") -> typer.Typer:
    """Build the command: with the file of this verb, or with all files where no file has it."""
    made = typer.Typer(
        name="sojourn",
        help="Active queue management: simulate, compare, reproduce.",
        epilog="To begin: `sojourn demo`, then `sojourn new --scenario home` and `sojourn run "
        "home.toml --aqm fifo --aqm codel --plot page.html`. Each command has its own --help. "
        "docs/reference/commands.md has the exit statuses and the keys of --json.",
        no_args_is_help=True,
        context_settings=HELP,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    made.callback()(_every_command)
    for file in [file for file, verbs in VERBS.items() if verb in verbs] or VERBS:
        group = import_module(f"sojourn.cli.{file}").app
        made.add_typer(group, name="linux" if file == "linux" else None)
    return made


def _print_version(wanted: bool) -> None:
    if wanted:
        from sojourn import _native

        print("sojourn", _native.core_version())
        raise typer.Exit


def _every_command(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print and stop."),
    ] = False,
) -> None:
    pass


def _of_options(words: Sequence[str]) -> str:
    """Say how options are written that take one word, and perhaps got two."""
    keys = [key for option, key in pairwise(words) if option == "--set" and "=" not in key]
    if keys:
        return f"; write --set {keys[0]}=VALUE, in one word"
    if "--aqm" in words:
        return "; name each algorithm by itself: --aqm codel --aqm pie"
    return ""


def _check_paths(command: Any) -> None:
    """Have a command raise InputError for an empty word where a path is wanted: `Path` takes it for
    the folder itself. A shell makes one of a variable that is not set."""
    for inner in getattr(command, "commands", {}).values():
        _check_paths(inner)
    hints = get_type_hints(command.callback) if command.callback else {}
    for parameter in command.params:
        kind = hints.get(parameter.name)
        if Path in (kind, *get_args(kind)):  # as in `Path | None`
            parameter.process_value = partial(_no_empty_path, parameter, parameter.process_value)


def _no_empty_path(parameter: Any, read: Callable[..., Any], context: Any, value: Any) -> Any:
    if "" in (value if isinstance(value, list | tuple) else (value,)):
        is_option = parameter.param_type_name == "option"
        named = parameter.opts[0] if is_option else context.info_name
        raise InputError(f"{named}: '' names nothing; the folder itself is '.'")
    return read(context, value)


def run(words: Sequence[str]) -> int:
    """Run the line and return the exit status."""
    # Only options that end the command stand before a verb.
    made = get_command(app(words[0] if words else ""))
    _check_paths(made)
    try:
        outcome = made(list(words), prog_name="sojourn", standalone_mode=False)
    except _UsageError as error:
        if "unexpected extra argument" in error.message:
            error.message += _of_options(words)
        error.message = printable(error.message)
        error.show()
        return error.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    if outcome == Interrupted.exit_status:
        # typer has caught the interrupt and printed nothing.
        raise KeyboardInterrupt
    return outcome if isinstance(outcome, int) else 0
