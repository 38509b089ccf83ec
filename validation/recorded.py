# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""recorded.py: the Linux side of the comparison as files.

validation/linux/RELEASE/windows.json    the first recording, of a harness that is no more: a line
                                         for each run with the cell's axes, the seed, and for each
                                         window what the queue did and the counters' growth
validation/linux/RELEASE/flows.parquet   its cell, seed, way, flow, second, bytes: what reached
                                         each receiver in order in each second
validation/linux/RELEASE/host.json       runs of the package's Linux host, as validation/record.py
                                         files them: what made each, and fairness in each window

The first recording is the reference where it has a cell, and the host's runs elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from sojourn._native import fairness

from validation.cell import WINDOWS, Cell

LINUX = Path(__file__).resolve().parent / "linux"
RELEASE = "6.12.117"
COMMAND = "python -m validation.record --anew"
# Seconds at the edges of the first recording's windows, by rate in Mbit/s.
EDGES_S = {10: (0, 5, 120), 100: (0, 5, 60), 500: (0, 5, 40)}

# By cell, the windows of each seed.
Runs = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Recorded:
    """What was recorded on a kernel, by which harness."""

    kernel: str
    first: Runs
    host: Runs

    def reference(self, cell: str) -> list[dict[str, Any]]:
        """What the engine is set beside."""
        return self.first.get(cell) or self.host.get(cell, [])

    def both(self, cell: str) -> list[dict[str, Any]]:
        """The host's runs of a cell that the first recording has too."""
        return self.host.get(cell, []) if cell in self.first else []


def folder() -> Path:
    return LINUX / RELEASE


def kernel() -> str:
    return f"Linux {RELEASE} (User-Mode Linux, time-travel=inf-cpu, HZ=1000)"


def held() -> dict[tuple[str, int], dict[str, Any]]:
    """By cell and seed, the runs of the package's host."""
    path = folder() / "host.json"
    if not path.exists():
        return {}
    return {(r["cell"], r["seed"]): r for r in json.loads(path.read_text())["records"]}


def add(records: Iterable[Mapping[str, Any]], order: Mapping[str, int]) -> None:
    """Put runs into host.json, in the place of those that it held of the same cell and seed.
    The file is written beside and renamed; cells that are no more are left out."""
    found = {**held(), **{(record["cell"], record["seed"]): record for record in records}}
    keys = sorted((key for key in found if key[0] in order), key=lambda k: (order[k[0]], k[1]))
    lines = ",\n".join(json.dumps(found[key]) for key in keys)
    head = {"kernel": kernel(), "command": COMMAND, "format": 3}
    folder().mkdir(parents=True, exist_ok=True)
    new = folder() / "host.new"
    new.write_text(f'{json.dumps(head)[:-1]}, "records": [\n{lines}\n]}}\n')
    new.rename(folder() / "host.json")


def read() -> Recorded:
    """All that is there. SystemExit where files are damaged, or not of one recording."""
    try:
        return Recorded(kernel(), _first(), _host())
    except (OSError, ValueError, KeyError, TypeError, IndexError, pa.ArrowException) as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise SystemExit(f"{folder()}: not a whole recording ({reason}); fetch it anew") from error


def _host() -> Runs:
    found: Runs = {}
    for (cell, seed), record in held().items():
        runs = found.setdefault(cell, [])
        if seed != len(runs) + 1:
            raise ValueError(f"host.json has seed {seed} of {cell}, and not {len(runs) + 1}")
        runs.append({window: record["windows"][window] for window in WINDOWS})
    return found


def _first() -> Runs:
    path = folder() / "windows.json"
    if not path.exists():
        return {}
    table = pq.read_table(folder() / "flows.parquet", filters=[("way", "==", "forth")])
    payload = table["bytes"].to_numpy()
    place = {key: table[key].to_pylist() for key in ("cell", "seed", "flow", "second")}
    found: Runs = {}
    begin = 0
    for record in json.loads(path.read_text())["records"]:
        cell = _cell_of(record)
        edges_s = EDGES_S[cell.rate_mbps]
        end = begin + cell.flows * edges_s[-1]
        first, last = ([place[key][i] for key in place] for i in (begin, end - 1))
        run = [record["cell"], record["seed"]]
        if [first, last] != [[*run, 0, 0], [*run, cell.flows - 1, edges_s[-1] - 1]]:
            raise ValueError(f"flows.parquet has other rows than {run} from row {begin} on")
        _add_fairness(record, payload[begin:end].reshape(cell.flows, edges_s[-1]), edges_s)
        found.setdefault(record["cell"], []).append(record["windows"])
        begin = end
    if begin != len(payload):
        raise ValueError(
            f"windows.json has {begin} rows of flows.parquet, which has {len(payload)}"
        )
    return found


def _cell_of(record: Mapping[str, Any]) -> Cell:
    """The cell that a record's axes describe."""
    axes = {field.name: record[field.name] for field in fields(Cell)}
    return Cell(**axes | {"rtts_ms": tuple(axes["rtts_ms"])})


def _add_fairness(record: dict[str, Any], payload: Any, edges_s: tuple[int, ...]) -> None:
    """Of the flows forth in each window, from bytes (flows, seconds)."""
    for name, begin, end in zip(WINDOWS, edges_s, edges_s[1:], strict=False):
        delivered_bytes = payload[:, begin:end].sum(axis=1)
        jain, least_share = fairness([int(of_flow) for of_flow in delivered_bytes])
        record["windows"][name] |= {"jain": jain, "least_share": least_share}
