# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""docs/evidence/ledger.md: a row for each numbered figure and table of each paper, and each claim
with its verdict. Rows and commands are made from the experiments as they are. Verdicts and counts
are from docs/evidence/ledger.json. `sojourn reproduce` wrote that file, and names in it the machine
and the versions. An experiment whose files have changed since then counts as not run.

`python -m sojourn.papers.papers_page [--check] [FILE]` writes the page, or tells whether it is up
to date; `--take LEDGER.json` first takes what ran there into the ledger of the page, and the
pictures beside that file.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from pathlib import Path
from typing import Any

from sojourn.core.errors import SojournError
from sojourn.core.hosts import HOSTS, seeds_text
from sojourn.core.text import json_text, markdown, markdown_cell, write_page
from sojourn.papers import answer, ledger
from sojourn.papers.claim import CAUSES, NOT_FOUND, NOT_RUN, VERDICTS, Claim
from sojourn.papers.claims import SEEDS
from sojourn.papers.experiment import Experiment
from sojourn.papers.paper import InPrint, Paper, figures_in_print, papers
from sojourn.papers.points import claims_of
from sojourn.papers.reproduce import seeds_by_host

DEFAULT = Path("docs/evidence/ledger.md")
LEDGER = Path("docs/evidence/ledger.json")
_HOSTS = {"sim": "simulator", "linux": "Linux"}

_HEAD = """\
<!-- SPDX-FileCopyrightText: 2026 The Sojourn authors -->
<!-- SPDX-License-Identifier: MIT OR GPL-2.0-only -->
# Papers, figure by figure and claim by claim

<!-- Made from the experiments and docs/evidence/ledger.json by `python -m
sojourn.papers.papers_page`. -->

`sojourn reproduce` runs every experiment of every paper and writes an index, and for each paper a
page with its tables beside ours, its figures redrawn with their numbers as CSV, and why numbers
differ. `sojourn reproduce PAPER` does it for one. A printed number is inside where it is
[met](../guide/papers.md#what-is-not-in-print), by one rule for all papers, and off otherwise.
[Verdicts](../guide/papers.md#verdicts) have one rule, too. “Drop” are cells whose algorithms
drop packets, “ecn” those whose algorithms mark them. “Not run” says that this page has no run of
the experiment as its files are now, not that it cannot run. A verdict of fewer than ten seeds is
provisional, and has their number beside it; the ten pieces of one long run count as seeds.
"""


def text(path: Path = LEDGER) -> str:
    """Write the page as it is published."""
    data = ledger.read(path)
    by_name = {paper["paper"]: paper for paper in data["papers"]}
    parts = [_HEAD, _made_with(data)]
    for paper in papers():
        parts += _paper_section(paper, by_name.get(paper.name, {}), path.parent)
    return "\n".join(parts)


def _made_with(data: Mapping[str, Any]) -> str:
    entries = [entry for paper in data["papers"] for entry in paper["experiments"]]
    cores, by_host = set(), {}
    for host in HOSTS:
        ran = [entry for entry in entries if entry["hosts"][host]["core"]]
        # On Linux, "Sojourn VERSION, Linux RELEASE".
        made = (entry["hosts"][host]["core"] for entry in ran)
        cores |= {part for core in made for part in core.replace(ledger.AND, ", ").split(", ")}
        counts = [count for entry in ran for count in entry["hosts"][host]["seeds"]]
        if counts:
            by_host[host] = min(counts), max(counts)
    machine = data["machine"]
    quick = " --quick" if data["quick"] else ""
    provisional = " With so few seeds verdicts are provisional." if data["quick"] else ""
    return (
        f"This page: `sojourn reproduce{quick}`, {seeds_by_host(by_host) or 'no seeds'}, "
        f"by {', '.join(sorted(cores, reverse=True)) or 'nothing'}, on {machine['processor']} with "
        f"{machine['cores']} cores.{provisional}\n"
    )


def _paper_section(paper: Paper, data: Mapping[str, Any], folder: Path) -> Iterator[str]:
    entries = {
        entry["experiment"]: entry
        for entry in data.get("experiments", ())
        for experiment in paper.experiments
        if entry["experiment"] == experiment.id
        and entry["definition"] == ledger.definition(experiment)
    }
    verdicts = _verdicts(paper, data, entries)
    yield f"## {paper.home.title}\n"
    about = f"../reference/algorithms/{paper.name}.md"
    more = f" More: [{paper.name}]({about})." if (DEFAULT.parent / about).is_file() else ""
    yield f"{paper.experiments[0].data['source']}.{more}\n"
    yield from _answer(paper, entries, verdicts, folder)
    yield _counts(verdicts)
    yield "### Figures and tables\n"
    yield _figures(figures_in_print(paper), entries)
    yield "### Experiments\n"
    yield _experiments(paper, entries)
    yield "### Claims\n"
    yield _claims(verdicts)
    if paper.home.search:
        yield "### The search\n"
        yield _search(paper, data.get("search"), whole=len(entries) == len(paper.experiments))


def _answer(
    paper: Paper, entries: Mapping[str, Mapping[str, Any]], verdicts: Verdicts, folder: Path
) -> Iterator[str]:
    """Write the sentences that answer the paper, and the place of its picture. The picture itself
    follows where the folder has it and its experiment is as it ran.

    Those in the ledger have the words of the day on which it was written, and numbers of
    experiments whose files have changed since then.
    """
    simulated = {claim: by_host["sim"][0] for claim, (_, by_host) in verdicts.items()}
    for text in answer.sentences(paper.home, ledger.look(entries.values()), simulated):
        yield f"- {markdown_cell(text)}"
    experiment, _, figure = str(paper.home.shared.get("picture", "")).partition("/")
    if experiment:
        command = f"sojourn reproduce {paper.name}/{experiment}"
        yield f"- Picture: “{figure}” of `{command}`.\n"
        kept = folder / f"{paper.name}.svg"
        if kept.is_file() and f"{paper.name}/{experiment}" in entries:
            yield f"![{_words_of(kept)}]({kept.name})\n"


def _words_of(picture: Path) -> str:
    """Read the text alternative of a picture that sojourn.show.drawing wrote."""
    found = re.search(r'aria-label="([^"]*)"', picture.read_text(encoding="utf-8"))
    return markdown_cell(unescape(found[1])) if found else ""


def _take(path: Path) -> None:
    """Take what ran for another ledger, and the pictures that were drawn with it."""
    taken = ledger.joined(ledger.read(LEDGER), ledger.read(path))
    LEDGER.write_text(json_text(taken) + "\n", encoding="utf-8")
    for paper in papers():
        picture = path.with_name(f"{paper.name}.svg")
        if picture.is_file():
            LEDGER.with_name(picture.name).write_bytes(picture.read_bytes())


# By id, the claim, and on each host its verdict, measurement, and seeds where these are fewer than
# a verdict needs.
Verdicts = dict[str, tuple[Claim, dict[str, tuple[str, str, str]]]]


def _verdicts(
    paper: Paper, data: Mapping[str, Any], entries: Mapping[str, Mapping[str, Any]]
) -> Verdicts:
    """List every claim of today's files. A claim on several experiments needs all of these
    experiments, and itself, unchanged since the ledger."""
    several = {entry["id"]: entry for entry in data.get("claims", ())}
    verdicts: Verdicts = {}
    for claim in paper.claims():
        entry = several.get(claim.id)
        fresh = all(name in entries for name in paper.needed(claim))
        if entry and entry["definition"] != ledger.claim_definition(claim):
            fresh = False
        verdicts[claim.id] = claim, _by_host(entry if fresh else None)
    for experiment in paper.experiments:
        claims = entries.get(experiment.id, {}).get("claims", ())
        by_id = {entry["id"]: entry for entry in claims}
        for claim in experiment.claims()[0]:
            verdicts[claim.id] = claim, _by_host(by_id.get(claim.id))
    return verdicts


def _by_host(entry: Mapping[str, Any] | None) -> dict[str, tuple[str, str, str]]:
    if entry is None:
        return dict.fromkeys(HOSTS, (NOT_RUN, "", ""))
    return {
        host: (
            entry["verdicts"][host],
            entry["measured"][host],
            seeds_text(count, count) if 0 < count < SEEDS else "",
        )
        for host, count in entry["seeds"].items()
    }


def _counts(verdicts: Verdicts) -> str:
    found = {host: [by_host[host] for _, by_host in verdicts.values()] for host in HOSTS}
    rows = [
        (verdict, *(sum(word == verdict for word, _, _ in found[host]) for host in HOSTS))
        for verdict in VERDICTS
    ]
    rows.append(
        ("of these provisional", *(sum(bool(few) for *_, few in found[host]) for host in HOSTS))
    )
    columns = ("claims", *map(_HOSTS.__getitem__, HOSTS))
    table = markdown(columns, rows, range(1, len(columns)))
    by_cause = [f"{_HOSTS[host]}: {text}" for host in HOSTS for text in [_causes(verdicts, host)]]
    missed = [text for text in by_cause if not text.endswith(": ")]
    return f"{table}\nNot found here, {'; '.join(missed)}.\n" if missed else table


def _causes(verdicts: Verdicts, host: str) -> str:
    missed = [claim.cause for claim, by_host in verdicts.values() if by_host[host][0] == NOT_FOUND]
    return ", ".join(f"{missed.count(cause)} {cause}" for cause in CAUSES if cause in missed)


def _figures(figures: Sequence[InPrint], entries: Mapping[str, Mapping[str, Any]]) -> str:
    rows = []
    for figure in figures:
        if figure.why_not:
            rows.append((figure.number, figure.caption, f"not here: {figure.why_not}", ""))
            continue
        if figure.command:
            rows.append((figure.number, figure.caption, "drawn", f"`{figure.command}`"))
            continue
        if figure.is_network:
            answer = f"picture of the network of {', '.join(figure.experiments)}"
            command = f"`sojourn show --network {figure.experiments[0]}`"
            rows.append((figure.number, figure.caption, answer, command))
            continue
        kind = "table" if figure.number.startswith("Table") else "figure"
        place = f"{kind} “{figure.cell}”" if figure.cell else f"{kind}s"
        gone = [name for name in figure.experiments if name not in entries]
        not_run = f"; not run: {', '.join(gone)}" if gone else ""
        answer = f"{place} of {', '.join(figure.experiments)}{not_run}"
        command = f"`sojourn reproduce {' '.join(figure.experiments)}`"
        rows.append((figure.number, figure.caption, answer, command))
    return markdown(("in print", "what it shows", "here", "command"), rows)


def _experiments(paper: Paper, entries: Mapping[str, Mapping[str, Any]]) -> str:
    rows = []
    for experiment in paper.experiments:
        entry = entries.get(experiment.id)
        cells = [_cells(entry, host, experiment) for host in HOSTS]
        command = entry["command"] if entry else f"sojourn reproduce {experiment.id}"
        seeds = str(entry["seeds"]) if entry else ""
        rows.append((experiment.title, f"`{command}`", seeds, *cells))
    head = ("experiment", "command", "seeds", "printed cells, simulator", "Linux")
    return markdown(head, rows, right=(2,))


def _cells(entry: Mapping[str, Any] | None, host: str, experiment: Experiment) -> str:
    """Write the counts of printed cells inside, off and not run. An experiment without a number in
    print has no counts."""
    if entry is None:
        return NOT_RUN
    ran = entry["hosts"][host]
    counted = _words(ran["cells"])
    if ran["can_miss"] != ran["cells"]:
        counted += f"; of those that can miss {_words(ran['can_miss']) or 'none'}"
    calibrated = experiment.published.keys() & claims_of(experiment)[1]
    if calibrated and ran["core"]:
        counted += f"; {len(calibrated)} of them settled a setting"
    least, most = ran["seeds"]
    seeds = "" if least == most == entry["seeds"] else seeds_text(least, most)
    words = _with(counted or "no number in print", seeds) if ran["core"] else NOT_RUN
    if not ran["why"]:
        return words
    head, *problems = map(str.strip, ran["why"].splitlines())
    return f"{words}: {head} {'; '.join(problems)}".rstrip()


def _words(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)


def _claims(verdicts: Verdicts) -> str:
    rows = []
    for claim, by_host in verdicts.values():
        measured = " · ".join(
            f"{_HOSTS[host]}: {words}" if host != "sim" else words
            for host, (_, words, _) in by_host.items()
            if words
        )
        if NOT_FOUND in (by_host[host][0] for host in HOSTS):
            measured = f"{claim.reason}. {measured}"
        words_by_host = (_with(by_host[host][0], by_host[host][2]) for host in HOSTS)
        rows.append(map(markdown_cell, (claim.said, claim.source, *words_by_host, measured)))
    return markdown(("claim", "in print", "simulator", "Linux", "measured"), rows)


def _search(paper: Paper, search: Mapping[str, Any] | None, *, whole: bool) -> str:
    """Write the effect of the open points: the count of printed numbers that each set-up meets."""
    command = f"`sojourn reproduce {paper.name} --search`"
    if not paper.published:
        return "Print has no number that a search could meet.\n"
    if not search or not whole or search["definition"] != ledger.open_points(paper.home):
        return f"{command}: not run with the experiments as they are.\n"
    half, other = search["cells"]["searched"], search["cells"]["other"]
    rows = [
        (row["which"], row["searched"], row["other"], markdown_cell(row["label"]))
        for row in search["judged"]
    ]
    head = ("set-up", f"met of {half} searched", f"of {other} others", "what is not as in the text")
    return f"{command}: {search['counts']}.\n\n{markdown(head, rows, right=(1, 2))}"


def _with(words: str, seeds: str) -> str:
    return f"{words} ({seeds})" if seeds else words


def main(arguments: Sequence[str]) -> int:
    """Write or check the page, and return the exit status."""
    words = list(arguments)
    try:
        if "--take" in words:
            at = words.index("--take")
            if at + 1 == len(words):
                print("papers_page: --take LEDGER.json names a file", file=sys.stderr)
                return 2
            _take(Path(words[at + 1]))
            del words[at : at + 2]
        return write_page(words, DEFAULT, text)
    except SojournError as error:
        print(f"papers_page: {error}", file=sys.stderr)
        return error.exit_status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
