# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Parts that several verbs share: options, completion of their words, output besides tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.core.errors import InputError, nearest
from sojourn.core.hosts import HOSTS
from sojourn.core.messages import tell
from sojourn.core.text import FORMATS, json_text

if TYPE_CHECKING:
    from sojourn.result.result import Run

HELP = {"help_option_names": ["-h", "--help"]}


def verbs() -> typer.Typer:
    """Make an app for the verbs of a file; `sojourn.cli.line` puts these together."""
    return typer.Typer(rich_markup_mode=None, context_settings=HELP)


def one_of(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Make the completion of a word that is one of these names."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def aqms(incomplete: str) -> list[str]:
    """Complete an algorithm, a preset or a C file."""
    from sojourn import algorithms

    # Presets are many: they are offered only once the word has an '@'.
    names = algorithms.presets() if "@" in incomplete else algorithms.every()
    return one_of(names)(incomplete) + _files(incomplete)


def checkable(incomplete: str) -> list[str]:
    """Complete an algorithm of ours or a C file."""
    from sojourn import algorithms

    return one_of(algorithms.algorithms())(incomplete) + _files(incomplete)


def _files(incomplete: str) -> list[str]:
    """List C files, and folders that may hold some."""
    head, slash, tail = incomplete.rpartition("/")
    folder = Path(head + slash).expanduser()
    try:
        paths = [path for path in sorted(folder.iterdir()) if path.name.startswith(tail)]
    except OSError:
        return []
    files = [path.name for path in paths if path.suffix == ".c"]
    files += [f"{path.name}/" for path in paths if path.is_dir() and incomplete]
    return [head + slash + name for name in files]


def experiments(incomplete: str) -> list[str]:
    """Complete an experiment of a paper."""
    from sojourn.papers.experiment import experiments

    return one_of(experiment.id for experiment in experiments())(incomplete)


def scenarios(incomplete: str) -> list[str]:
    """Complete a known scenario."""
    from sojourn.scenario.known import known_scenarios

    return one_of(known_scenarios())(incomplete)


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Out = Annotated[Path | None, typer.Option("--out", help="Folder for the result.")]
Host = Annotated[
    list[str] | None,
    typer.Option(
        "--host",
        metavar="HOST",
        help="Where it runs: sim or linux; repeat for both.",
        autocompletion=one_of(HOSTS),
    ),
]


def _no_experiment(path: Path) -> Path:
    """Answer the name of an experiment where a file is wanted."""
    if len(path.parts) == 2 and not path.suffix and not path.exists():
        from sojourn.papers.experiment import experiments

        if str(path) in {experiment.id for experiment in experiments()}:
            raise InputError(f"{path}: is an experiment; 'sojourn reproduce {path}' runs it")
    return path


Scenario = Annotated[
    Path, typer.Argument(help="A scenario in TOML.", callback=_no_experiment, show_default=False)
]
Aqm = Annotated[
    list[str] | None,
    typer.Option(
        "--aqm",
        metavar="AQM",
        help="NAME, NAME@PRESET, either with :key=value,...; NAME may be a C file of yours; "
        "repeat for more.",
        autocompletion=aqms,
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="In the scenario or in every queue under test; repeat for more.",
    ),
]
SEEDS_HELP = "Seeds 1 to N, or FIRST..LAST."
Form = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="markdown, csv or latex, in place of tables for a terminal.",
        autocompletion=one_of(FORMATS),
    ),
]


def check_form(form: str | None, *, as_json: bool = False) -> None:
    """Raise InputError for an unknown form, and for one beside --json."""
    if form is not None and as_json:
        raise InputError("--format and --json: each says how to print; leave one out")
    if form is not None and form not in FORMATS:
        raise InputError(f"--format {form}: there is no such format.{nearest(form, FORMATS)}")


Workers = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", min=1, help="Runs at once; unless given, cores."),
]
Dask = Annotated[
    str | None, typer.Option("--dask", help="Address of a Dask scheduler that runs it.")
]
Again = Annotated[bool, typer.Option("--again", help="Run even what is already there.")]


def print_json(data: Any) -> None:
    """Print JSON on stdout; a value that was not measured is null."""
    print(json_text(data))


def tell_note(sentence: str) -> None:
    """Print a note on stderr, such as a limit of a result."""
    tell(f"sojourn: {sentence}")


def tell_ignored(runs: Sequence[Run]) -> None:
    """Print on stderr the settings that a host could not make or refused."""
    from sojourn.runs.rules import ignored, refused

    for sentence in (*ignored(runs), *refused(runs)):
        tell_note(sentence)


def tell_broken(runs: Sequence[Run]) -> int:
    """Print on stderr the rules that algorithms broke. Return the exit status."""
    from sojourn.runs.rules import broken

    sentences = broken(runs)
    for sentence in sentences:
        tell_note(sentence)
    return 3 if sentences else 0


def tell_files(
    files: Sequence[Path], missing: Iterable[str], remedy: str, form: str | None = None
) -> None:
    """Name the files of pictures, and report on stderr missing ones, and how to have one file.
    Where stdout is a table in a form, the names are on stderr too."""
    from sojourn.show.tables import console, print_line

    for sentence in missing:
        tell_note(sentence)
    for path in files:
        tell(f"plot: {path}") if form else print_line(console(), f"plot: {path}")
    if len(files) > 1:
        tell_note(f"these are {len(files)} files, a figure in each; {remedy}")
