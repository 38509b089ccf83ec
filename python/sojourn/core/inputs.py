# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Files that a check reads besides the scenario, noted for whoever keeps what it came to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass
class Inputs:
    """Digests by path."""

    traces: dict[str, str] = field(default_factory=dict)
    libraries: dict[str, str] = field(default_factory=dict)  # users' C files, with their headers


_noted: ContextVar[Inputs | None] = ContextVar("noted", default=None)


@contextmanager
def noting() -> Iterator[Inputs]:
    """What is read in here."""
    inputs = Inputs()
    token = _noted.set(inputs)
    try:
        yield inputs
    finally:
        _noted.reset(token)


def noted() -> Inputs:
    """Where to note what is read; nobody looks at it outside of `noting`."""
    return _noted.get() or Inputs()
