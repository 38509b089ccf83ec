# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Runs for other programs: a data file of flent's for each queue, a capture for each run."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from sojourn.core.errors import InputError, nearest
from sojourn.core.progress import Progress
from sojourn.result.cases import Case, cases, names
from sojourn.result.export import flent, pcapng
from sojourn.result.result import Result, Run
from sojourn.store.store import digest, write_errors


class Format(Protocol):
    """The functions and the suffix that the module of each format has."""

    SUFFIX: str

    def parts(self, run: Run) -> Sequence[str]:
        """List the parts of a run that have a file each. InputError: the run lacks data of this
        format."""

    def write(
        self,
        path: Path,
        about: Mapping[str, str],
        run: Run,
        part: str,
        advance: Callable[[float], None],
    ) -> None:
        """Write the file of one part; `advance` gets the share that is written, if it takes
        long."""


FORMATS: Mapping[str, Format] = {"flent": flent, "pcapng": pcapng}
# Variants with many parameters have longer names, which are cut: file systems allow 255 bytes.
_LONGEST = 160


def export(
    result: Result, form: str, folder: Path, aqms: Sequence[str] = (), seeds: Sequence[int] = ()
) -> Iterator[Path]:
    """Write the files of the chosen runs one by one, and yield the path of each."""
    if form not in FORMATS:
        raise InputError(f"--format {form}: there is no such format.{nearest(form, FORMATS)}")
    module = FORMATS[form]
    wanted = list(_wanted(result, aqms, seeds))
    of_runs = [(name, run, part) for name, run in wanted for part in module.parts(run)]
    with write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    title = str(tomllib.loads(result.scenario)["name"])
    taken: set[str] = set()
    with Progress(f"exporting {title}", len(of_runs)) as progress:
        for done, (name, run, part) in enumerate(of_runs):
            words = [title, name, f"seed {run.seed}", *([part] if part else [])]
            path = folder / (_file_name(words, taken) + module.SUFFIX)
            about = {
                "scenario": title,
                "run": ", ".join(words[1:3]),
                "version": str(result.meta.get("core", "")),
                "made": str(result.meta.get("made", "")),
                "command": str(result.meta.get("command", "")),
            }
            with write_errors(path):
                module.write(path, about, run, part, partial(_advance, progress, done))
            progress.update(done + 1)
            yield path


def _advance(progress: Progress, files: int, share: float) -> None:
    progress.update(files + share)


def _wanted(result: Result, aqms: Sequence[str], seeds: Sequence[int]) -> Iterator[tuple[str, Run]]:
    by_case = cases({"": result})
    _check("--aqm", aqms, list(dict.fromkeys(case.aqm for case in by_case)))
    _check("--seed", list(map(str, seeds)), [str(run.seed) for run in result])
    of_case = names(by_case)
    for case, runs in by_case.items():
        if not aqms or case.aqm in aqms:
            for run in runs:
                if not seeds or run.seed in seeds:
                    yield _name(case, of_case[case]), run


def _name(case: Case, name: str) -> str:
    return name if case.host in ("sim", name.rpartition(", ")[2]) else f"{name}, {case.host}"


def _check(option: str, asked: Sequence[str], known: Sequence[str]) -> None:
    for word in asked:
        if word not in known:
            raise InputError(f"{option} {word}: the result has none.{nearest(word, set(known))}")


def _file_name(words: Sequence[str], taken: set[str]) -> str:
    whole = "-".join(words)
    name = re.sub(r"[^A-Za-z0-9._=@-]+", "_", whole)
    if len(name) > _LONGEST or name in taken:
        name = f"{name[:_LONGEST]}-{digest(whole.encode())[:8]}"
    taken.add(name)
    return name
