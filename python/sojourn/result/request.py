# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The request of a result: it repeats the result, and it grows when runs are added."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Self

from sojourn.core import seeds as of_seeds
from sojourn.core.errors import InputError
from sojourn.result.inputs import unversioned
from sojourn.scenario.variant import read_value, write_value


@dataclass(frozen=True)
class Request:
    """A scenario with its changes, run with every algorithm on every host under every seed. Files
    have the names of `sojourn.result.inputs`."""

    scenario: str  # in TOML, before the changes
    aqms: tuple[str, ...]  # none: the scenario's own
    changes: Mapping[str, object]
    seeds: range
    hosts: tuple[str, ...]
    # For each of the algorithms that names a preset, the same variant without the preset.
    presets: Mapping[str, str] = field(default_factory=dict)

    def words(self) -> Iterator[str]:
        """Yield the words of the command line that repeats it, beside `scenario.toml`."""
        yield from ("sojourn", "run", "scenario.toml")
        for aqm in self.aqms:
            yield from ("--aqm", aqm)
        for key, value in self.changes.items():
            yield from ("--set", f"{key}={write_value(value)}")
        yield from ("--seeds", str(of_seeds.write(self.seeds)))
        for host in self.hosts:
            yield from ("--host", host)

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `result.json`."""
        import shlex

        return {
            "command": shlex.join(self.words()),
            "aqms": list(self.aqms),
            "presets": dict(self.presets),
            "changes": {key: write_value(value) for key, value in self.changes.items()},
            "hosts": list(self.hosts),
        }

    @classmethod
    def from_json(cls, head: Mapping[str, Any], scenario: str) -> Self | None:
        """Read a request from `result.json`; None where another command made it."""
        if "aqms" not in head:
            return None
        changes = {key: read_value(value) for key, value in head["changes"].items()}
        seeds = range(min(head["seeds"]), max(head["seeds"]) + 1)
        presets = head.get("presets", {})
        return cls(scenario, tuple(head["aqms"]), changes, seeds, tuple(head["hosts"]), presets)

    def added_to(self, earlier: Request, folder: str | Path) -> Request:
        """Join both requests. A file that changed takes the place of its earlier version.

        InputError: no single command would run both.
        """
        other = f"or name another folder: --out {_beside(Path(folder))}"
        if earlier._network() != self._network():
            raise InputError(
                f"{folder}: holds runs of another scenario, or with other changes; give those "
                f"again, {other}"
            )
        if bool(earlier.aqms) != bool(self.aqms):
            raise InputError(
                f"{folder}: holds runs {'with' if earlier.aqms else 'without'} --aqm; give "
                f"{'it' if earlier.aqms else 'none'}, {other}"
            )
        for aqm, rows in earlier.presets.items():
            if self.presets.get(aqm, rows) != rows:
                one_word = "".join(rows.split())
                raise InputError(
                    f"{folder}: holds runs of {aqm} as it was: --aqm {one_word}; give that, {other}"
                )
        newer = set(map(unversioned, self.aqms))
        kept = [aqm for aqm in earlier.aqms if aqm in self.aqms or unversioned(aqm) not in newer]
        earlier = replace(earlier, aqms=tuple(kept))
        both = replace(
            self,
            presets={**earlier.presets, **self.presets},
            aqms=tuple(dict.fromkeys((*earlier.aqms, *self.aqms))),
            seeds=range(
                min(earlier.seeds.start, self.seeds.start), max(earlier.seeds.stop, self.seeds.stop)
            ),
            hosts=tuple(dict.fromkeys((*earlier.hosts, *self.hosts))),
        )
        if both._runs() != earlier._runs() | self._runs():
            raise InputError(
                f"{folder}: holds {earlier._options()}. In a result every algorithm has every seed "
                f"and host: ask for {both._options()}, {other}"
            )
        return both

    def beyond(self, asked: Request) -> str:
        """Name what this request has beyond the one that was asked for; empty where nothing."""
        seeds = f"seeds {self.seeds.start} to {self.seeds.stop - 1}"
        parts = (
            *(aqm for aqm in self.aqms if aqm not in asked.aqms),
            *(f"host {host}" for host in self.hosts if host not in asked.hosts),
            *([seeds] if self.seeds != asked.seeds else []),
        )
        return ", ".join(parts)

    def _network(self) -> tuple[str, list[str]]:
        """Return what two requests of one result share."""
        values = (f"{key}={write_value(value)}" for key, value in self.changes.items())
        return unversioned(self.scenario), sorted(map(unversioned, values))

    def _runs(self) -> set[tuple[str, str, int]]:
        return set(product(self.aqms or ("",), self.hosts, self.seeds))

    def _options(self) -> str:
        words = [f"--aqm {aqm}" for aqm in self.aqms]
        words += [
            f"--seeds {of_seeds.write(self.seeds)}",
            *(f"--host {host}" for host in self.hosts),
        ]
        return " ".join(words)


def _beside(folder: Path) -> Path:
    """Name a folder next to this one; '.' and '..' are not names."""
    if folder.name in ("", ".."):
        return folder / ".." / f"{folder.resolve().name}-2"
    return folder.with_name(f"{folder.name}-2")
