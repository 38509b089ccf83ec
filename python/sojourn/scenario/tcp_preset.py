# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""TCP of an age, as data in tcp/NAME.toml: `tcp = "linux_3_9"` sets every switch of a flow's TCP.

about      one sentence
source     where the values are from; each key has a comment with its place
cc         the congestion control, unless the flow names one
differs    properties of that TCP that no switch sets
[options]  switches that are not at their default, by the names of docs/inside/tcp.md
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sojourn.algorithms import comments
from sojourn.core.errors import InputError, nearest

ROOT = Path(__file__).parents[1] / "tcp"

Option = bool | int | float | str


@dataclass(frozen=True)
class TcpPreset:
    """The TCP of a system, of one age."""

    name: str
    about: str
    source: str
    cc: str
    differs: tuple[str, ...]
    options: Mapping[str, Option]
    file: Path

    def sources(self) -> dict[str, str]:
        """Read the comment of each key, `cc` among them."""
        return comments(self.file)


@functools.cache
def tcp_presets() -> dict[str, TcpPreset]:
    """Return every preset, by its name."""
    return {path.stem: _read(path) for path in sorted(ROOT.glob("*.toml"))}


def _read(path: Path) -> TcpPreset:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    differs = tuple(data.get("differs", ()))
    return TcpPreset(
        path.stem, data["about"], data["source"], data["cc"], differs, data["options"], path
    )


def find(name: str) -> TcpPreset:
    """Find the preset of that name; raise InputError with the nearest."""
    if name not in tcp_presets():
        raise InputError(f"there is no TCP '{name}'.{nearest(name, tcp_presets())}")
    return tcp_presets()[name]
