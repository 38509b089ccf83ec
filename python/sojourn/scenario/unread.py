# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A scenario that nobody has read yet: a result of runs that were checked before has one."""

from __future__ import annotations

from pathlib import Path


class Unread:
    """The scenario in a file, which is read when it is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def to_toml(self) -> str:
        """As a scenario's own."""
        from sojourn.scenario.toml import load

        return load(self.path).to_toml()
