# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn reproduce PAPER --search`: runs the search, keeps it, and prints the result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sojourn.cli.output import print_json
from sojourn.core import as_json
from sojourn.core.errors import InputError, nearest
from sojourn.papers.experiment import PaperFiles, papers
from sojourn.papers.points import search_of, setups
from sojourn.papers.reasons import RULE
from sojourn.papers.search import NAMES, Searched, html, search
from sojourn.scenario.assignments import write_value
from sojourn.show.page import number, spread
from sojourn.show.tables import Column, console, print_columns, print_whole
from sojourn.store.folder import claim

# The table lists so many of the best set-ups, and those outside the text. The JSON has all.
_BEST = 10


def run(
    what: Sequence[str],
    *,
    refused: Sequence[str],
    out: Path | None,
    workers: int | None,
    json: bool,
) -> int:
    """Search one paper, keep the result and print it. Return the exit status. InputError for
    options that a search does not take."""
    spec = search_of(_paper(what))
    if refused:
        raise InputError(
            f"--search has three seeds in the simulator: leave {' and '.join(refused)} out"
        )
    setups(spec)  # reports a mistake of the file before a folder is made
    folder = out or Path(f"sojourn-{spec.paper}-search")
    claim(folder)
    searched = search(spec, out=out, workers=workers)
    _keep(searched, folder)
    if json:
        print_json(searched.to_json())
        return 0
    terminal = console()
    print_search(searched, terminal)
    terminal.print(f"search: {folder}", soft_wrap=True, markup=False, highlight=False)
    return 0


def _paper(what: Sequence[str]) -> PaperFiles:
    """Find the paper that is named; InputError for none, several or an unknown one."""
    known = {paper.name: paper for paper in papers()}
    if len(what) != 1:
        with_points = [name for name, paper in known.items() if paper.search_path.is_file()]
        example = (with_points or sorted(known))[0]
        raise InputError(f"--search is of one paper: sojourn reproduce {example} --search")
    name = what[0]
    paper = name.partition("/")[0]
    if paper in known and "/" in name:
        raise InputError(
            f"{name}: --search is of a whole paper, whose search.toml says which experiments it "
            f"may look at: sojourn reproduce {paper} --search"
        )
    if name in known:
        return known[name]
    if (Path(name) / "paper.toml").is_file():
        return PaperFiles(Path(name))
    raise InputError(f"there is no paper '{name}'.{nearest(name, known)}")


def _keep(searched: Searched, folder: Path) -> None:
    from sojourn.store.arrow import parquet_bytes, table

    own = claim(folder)
    own.write("search.parquet", parquet_bytes(table(list(searched.rows()))))
    own.write("search.html", html(searched).encode())
    own.write("search.json", as_json.spell(searched.to_json()).encode())


def print_search(searched: Searched, terminal: Console) -> None:
    """Print the judged set-ups first, where luck shows. Then print all set-ups, the effect of each
    changed thing, and why numbers differ."""
    ranked, spec = searched.ranked, searched.search
    terminal.print(Text(f"\n{spec.paper}: the search for what is not in print", style="bold"))
    terminal.print(Text(searched.counts()), soft_wrap=True)
    terminal.print(Text(RULE), soft_wrap=True)
    half, other = searched.cells
    judged = searched.judged()
    print_columns(
        terminal,
        "how many printed numbers are met",
        [Column("which", [NAMES[which] for which, *_ in judged])],
        [
            Column("set-up", [str(setup.number) for _, setup, *_ in judged]),
            Column(f"searched\nof {half}", [str(count) for *_, count, _ in judged]),
            Column(f"other\nof {other}", [str(count) for *_, count in judged]),
        ],
    )
    shown = [*ranked.order[:_BEST], *ranked.outside]
    if ranked.text not in shown:
        shown.insert(_BEST, ranked.text)
    _sentences(
        terminal,
        f"set-ups, the best {min(_BEST, len(ranked.order))} of {len(ranked.order)}",
        {
            "set-up": [str(setup.number) for setup in shown],
            "searched": [str(ranked.count(setup)) for setup in shown],
            "what is not as in the text": [setup.label for setup in shown],
        },
    )
    for is_half, title in ((True, "searched half"), (False, "other half, after the search")):
        effects = searched.effects(half=is_half)
        if effects:
            _sentences(
                terminal,
                f"one thing changed: {title}",
                {
                    "set-up": [str(effect.setup.number) for effect in effects],
                    "met": [f"+{effect.gained} −{effect.lost}" for effect in effects],
                    "changed": [effect.setup.label for effect in effects],
                    "what moves most": [effect.words() for effect in effects],
                },
            )
    if searched.reasons:
        _sentences(
            terminal,
            "why a number differs under the text's own set-up",
            {
                "number": [off.base.cell.label for off in searched.reasons],
                "print": [number(off.base.published) for off in searched.reasons],
                "ours": [spread(off.base.estimate) for off in searched.reasons],
                "reason": [off.text()[0] for off in searched.reasons],
            },
        )
    _tell_adopted(searched, terminal)


def _sentences(terminal: Console, title: str, columns: dict[str, list[str]]) -> None:
    """Print a table in which the last column, and the longest labels, are folded."""
    table = Table(title=Text(title), title_justify="left")
    for name in columns:
        short = name in ("set-up", "searched", "met", "print", "ours")
        table.add_column(name, overflow="fold", no_wrap=short, justify="right" if short else "left")
    for row in zip(*columns.values(), strict=True):
        table.add_row(*map(Text, row))
    print_whole(terminal, table)


def _tell_adopted(searched: Searched, terminal: Console) -> None:
    """Print the settings that the ledger would need for the best set-up: a search changes nothing
    itself."""
    adopt = searched.adopt()
    spec = searched.search
    if not adopt:
        note = "the text's own set-up is the best that was tried: the ledger stays as it is"
        terminal.print(Text(note), soft_wrap=True)
        return
    lines = [
        "the search changes nothing; to have the best set-up in the ledger, set for all algorithms:"
    ]
    lines += [f"  {entry['in']}: {entry['key']} = {write_value(entry['to'])}" for entry in adopt]
    for point in searched.ranked.best.changed:
        text = next(p.text for p in spec.points if p.name == point)
        lines.append(f"  search.toml: text = {text!r} of '{point}'")
    lines.append(f"then the printed cells of {', '.join(spec.searched)} are calibrated")
    for line in lines:
        terminal.print(Text(line), soft_wrap=True)
