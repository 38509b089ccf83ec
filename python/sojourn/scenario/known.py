# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Scenarios that people know by name, as data in scenarios/NAME.toml. `sojourn new --scenario rrul`
writes one as a beginning. A file is a scenario, and its first comment has lines that begin with

source:    the place of its description
differs:   properties of the original that it does not have

`sojourn list scenarios` prints its `description`. A trace that it follows is NAME.down, and is
written beside it. The copies belong to the user, and follow no later change of these files.
"""

from __future__ import annotations

import functools
import random
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sojourn.core.errors import InputError, nearest
from sojourn.core.text import write_page
from sojourn.store.store import write_whole
from sojourn.user_aqm.compiler import shown
from sojourn.user_aqm.library import absolute

KNOWN = Path(__file__).parents[1] / "scenarios"
# Editors find it by the first line of a scenario.
SCHEMA = "scenario.schema.json"
_SOURCE = re.compile(r"^# source: (.*(?:\n# {5}.*)*)", re.MULTILINE)


@dataclass(frozen=True)
class KnownScenario:
    """A scenario under its name."""

    name: str
    about: str
    source: str
    text: str


@functools.cache
def known_scenarios() -> dict[str, KnownScenario]:
    """Return every known scenario, by its name."""
    return {path.stem: _read(path) for path in sorted(KNOWN.glob("*.toml"))}


def without_licence(text: str) -> str:
    """Leave out the licence at the head of a file: the author of the copy chooses one."""
    return re.sub(r"\A(?:#.*SPDX-.*\n)+(?:#\n)?", "", text)


def _read(path: Path) -> KnownScenario:
    whole = path.read_text(encoding="utf-8")
    text = without_licence(whole)
    source = _SOURCE.search(text)
    assert source, path
    about = tomllib.loads(text)["description"]
    return KnownScenario(path.stem, about, " ".join(source[1].replace("\n#", " ").split()), text)


def remedy(path: str) -> str:
    """Say how to get a scenario where there is no file."""
    if path == "-":
        return "a pipe is /dev/stdin"
    name = path.removesuffix(".toml")
    known = name if name in known_scenarios() else "home"
    return f"'sojourn new --scenario {known}' writes {known}.toml"


# Other names that people call a scenario by.
_ALSO = {"lte": "cellular"}


def find_known(name: str) -> KnownScenario:
    """Find the scenario of that name; raise InputError with the valid names."""
    known = known_scenarios()
    name = _ALSO.get(name, name)
    if name not in known:
        meant = nearest(name, known)
        names = "" if "Valid names" in meant else f" Valid names: {', '.join(known)}."
        raise InputError(f"--scenario {name}: there is no such scenario.{meant}{names}")
    return known[name]


def write_known(name: str, path: Path | None) -> Path:
    """Write a scenario to a file, NAME.toml unless `path` is given, the trace that it follows, and
    the schema by which an editor checks it. Raise InputError if there is such a file."""
    from sojourn.scenario.reference import schema_text

    scenario = find_known(name)
    file = absolute(path or f"{scenario.name}.toml")
    if file.suffix != ".toml":
        raise InputError(f"{path}: a scenario is a TOML file: write FILE.toml")
    texts = {file: f"#:schema ./{SCHEMA}\n{scenario.text}"}
    trace = KNOWN / f"{scenario.name}.down"
    if trace.exists():
        beside, text = file.with_name(trace.name), trace.read_text(encoding="utf-8")
        if not _holds(beside, text):
            texts = {beside: text, **texts}
    for path in texts:
        if path.exists():
            raise InputError(
                f"{shown(path)}: there is such a file; nothing was written; give another name: "
                f"sojourn new --scenario {name} FILE.toml"
            )
    # A schema is of the version that wrote it; the newest is right for every file beside it.
    write_whole(file.with_name(SCHEMA), schema_text().encode())
    for path, text in texts.items():
        write_whole(path, text.encode())
    return file


def _holds(path: Path, text: str) -> bool:
    """Tell whether the file has this text already, from an earlier scenario."""
    try:
        return path.read_text(encoding="utf-8") == text
    except (OSError, UnicodeDecodeError):
        return False


# scenarios/cellular.down is a synthetic trace in mahimahi's format for a first try: no recording of
# any network. `python -m sojourn.scenario.known [--check] [FILE]` writes it, or checks that it is
# fresh. The capacity walks up and down a ladder of rates, as a phone's does while it moves. Now and
# then it stops, as at a handover. Within a step the opportunities are evenly spaced.
DEFAULT = KNOWN / "cellular.down"

_LENGTH_MS, _STEP_MS = 12_000, 100
# Opportunities of a step: of 1,504 bytes each, 0.5 to 18 Mbit/s.
_LADDER = (4, 8, 17, 33, 66, 100, 150)
# The mean number of steps between outages, and the steps of an outage.
_STEPS_BETWEEN_OUTAGES, _OUTAGE_STEPS = 40, 3


def times_ms() -> Iterator[int]:
    """Draw the moment of each opportunity, always the same."""
    draw = random.Random(1)
    level, outage_steps = len(_LADDER) // 2, 0
    for begin_ms in range(0, _LENGTH_MS, _STEP_MS):
        level = min(max(level + draw.randrange(3) - 1, 0), len(_LADDER) - 1)
        outage_steps = max(outage_steps - 1, 0)
        if draw.randrange(_STEPS_BETWEEN_OUTAGES) == 0:
            outage_steps = _OUTAGE_STEPS
        count = 0 if outage_steps else _LADDER[level]
        yield from (begin_ms + number * _STEP_MS // count for number in range(count))
    # The end is an opportunity too: there the trace begins again.
    yield _LENGTH_MS


def text() -> str:
    """Write the trace out, a line for each opportunity."""
    return "".join(f"{ms}\n" for ms in times_ms())


if __name__ == "__main__":
    sys.exit(write_page(sys.argv[1:], DEFAULT, text))
