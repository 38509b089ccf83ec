# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A small paper to begin with, from the data in `sample/`."""

from __future__ import annotations

from pathlib import Path

from sojourn.core.errors import InputError
from sojourn.scenario.known import without_licence
from sojourn.store.store import write_errors

SAMPLE = Path(__file__).parent / "sample"


def write(folder: Path) -> Path:
    """Write a paper of one experiment into a new folder. InputError where there is such a thing."""
    if folder.exists():
        raise InputError(f"{folder}: there is such a file or folder; nothing was written")
    for path in sorted(SAMPLE.rglob("*.toml")):
        place = folder / path.relative_to(SAMPLE)
        with write_errors(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(without_licence(path.read_text(encoding="utf-8")), encoding="utf-8")
    return folder
