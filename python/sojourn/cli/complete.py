# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Words by which a shell may complete the beginning of one."""

from __future__ import annotations

from pathlib import Path


def aqms(incomplete: str) -> list[str]:
    from sojourn import algorithms

    # Presets are many: they are offered only once the word has an '@'.
    every = algorithms.presets() if "@" in incomplete else algorithms.every()
    return [name for name in every if name.startswith(incomplete)] + _files(incomplete)


def checkable(incomplete: str) -> list[str]:
    from sojourn import algorithms

    ours = algorithms.algorithms()
    return [name for name in ours if name.startswith(incomplete)] + _files(incomplete)


def _files(incomplete: str) -> list[str]:
    """List C files, and folders that may hold some."""
    head, slash, tail = incomplete.rpartition("/")
    folder = Path(head + slash).expanduser()
    try:
        found = [path for path in sorted(folder.iterdir()) if path.name.startswith(tail)]
    except OSError:
        return []
    files = [path.name for path in found if path.suffix == ".c"]
    files += [f"{path.name}/" for path in found if path.is_dir() and incomplete]
    return [head + slash + name for name in files]


def experiments(incomplete: str) -> list[str]:
    from sojourn.papers.experiment import experiments

    return [e.id for e in experiments() if e.id.startswith(incomplete)]


def hosts(incomplete: str) -> list[str]:
    return [name for name in ("sim", "linux") if name.startswith(incomplete)]


def scenarios(incomplete: str) -> list[str]:
    from sojourn.scenario.known import known_scenarios

    return [name for name in known_scenarios() if name.startswith(incomplete)]


def lists(incomplete: str) -> list[str]:
    names = ("algorithms", "presets", "tcp", "experiments", "scenarios", "traffic")
    return [name for name in names if name.startswith(incomplete)]


def table_formats(incomplete: str) -> list[str]:
    from sojourn.core.text import FORMATS

    return [name for name in FORMATS if name.startswith(incomplete)]


def figures(incomplete: str) -> list[str]:
    from sojourn.show.figures import FIGURES

    return [name for name in FIGURES if name.startswith(incomplete)]


def formats(incomplete: str) -> list[str]:
    from sojourn.result.export import FORMATS

    return [name for name in FORMATS if name.startswith(incomplete)]
