# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What `sojourn run` asks for, found again where the same was checked before. Then neither the
classes of scenarios nor what reads and checks them is imported."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.cli import memo
from sojourn.core.errors import SojournError
from sojourn.runs.forms import Form
from sojourn.store.store import digest

if TYPE_CHECKING:
    from sojourn.core.algorithm import Library
    from sojourn.core.inputs import Inputs


def key_of(
    scenario: Path, aqms: Sequence[str], assignments: Sequence[str], hosts: Sequence[str]
) -> str:
    """Of the file's content, and algorithms, changes and hosts as they were written; empty where
    the file cannot be read twice."""
    try:
        if not scenario.is_file():
            return ""
        text = digest(scenario.read_bytes())
        # Files are named from here, from home, or from the scenario's folder.
        places = os.getcwd(), os.environ.get("HOME"), str(scenario)  # noqa: PTH109
    except OSError:
        return ""
    return memo.key_of("run", places, text, aqms, assignments, hosts)


def keep(key: str, name: str, forms: Sequence[Form], inputs: Inputs) -> None:
    """Have what came out of a check ready for the next time: the scenario's name, and what runs
    under each seed."""
    kept = [
        {
            "scenario": form.scenario,
            "labels": dict(form.labels),
            "host": form.host,
            "title": form.title,
            "files": [str(file.file) for file in form.files],
            "queues": dict(form.queues),
            "shorthand": form.shorthand,
        }
        for form in forms
    ]
    read = {"traces": inputs.traces, "libraries": inputs.libraries}
    memo.keep(key, {"name": name, "forms": kept, **read})


def recall(key: str) -> tuple[str, list[Form]] | None:
    """What the same came to before, if every file that was read for it is as it was then."""
    kept = memo.recall(key)
    if kept is None or not _are_as_they_were(kept["traces"]):
        return None
    libraries = _built(kept["libraries"])
    if libraries is None:
        return None
    forms = [
        Form(**{**form, "files": tuple(libraries[file] for file in form["files"])})
        for form in kept["forms"]
    ]
    _try(dict.fromkeys(file for form in forms for file in form.files))
    return kept["name"], forms


def _are_as_they_were(digests: Mapping[str, str]) -> bool:
    try:
        return all(digest(Path(path).read_bytes()) == found for path, found in digests.items())
    except OSError:
        return False


def _built(digests: Mapping[str, str]) -> dict[str, Library] | None:
    """Users' C files; None where one is another by now."""
    if not digests:
        return {}
    from sojourn.user_aqm import library

    try:
        found = {path: library.build(Path(path)) for path in digests}
    except SojournError:
        return None
    return found if all(found[path].digest == digests[path] for path in digests) else None


def _try(files: Iterable[Library]) -> None:
    """As before any run: what was found of a file may be gone, or of another compiler."""
    for file in files:
        from sojourn.user_aqm import trial

        trial.before_run(file)
