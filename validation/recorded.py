# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""recorded.py: the Linux side of the comparison as two files, written and read.

validation/linux/RELEASE/windows.json    a line for each run: the cell's axes, the seed, and for
                                         each window what the queue did and the counters' growth
validation/linux/RELEASE/flows.parquet   cell, seed, way, flow, second, bytes: what reached each
                                         receiver in order in each second, so that windows may move

Runs of the first recording did not count flows: in windows.json they have `"flows_seen": false`,
and nothing in flows.parquet.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from validation.cells import WINDOWS, Cell, cells

LINUX = Path(__file__).resolve().parent / "linux"
RELEASE = "6.12.117"


def rows(record: dict[str, Any]) -> dict[str, Any]:
    """A run's flows and seconds as columns."""
    of_ways = record["bytes_each_second"].items()
    flows = [(way, int(flow), each) for way, of in of_ways for flow, each in of.items()]
    seconds = len(flows[0][2])
    n = len(flows) * seconds
    return {
        "cell": [record["cell"]] * n,
        "seed": np.full(n, record["seed"], np.int16),
        "way": [way for way, _, _ in flows for _ in range(seconds)],
        "flow": np.repeat(np.array([flow for _, flow, _ in flows], np.int16), seconds),
        "second": np.tile(np.arange(seconds, dtype=np.int16), len(flows)),
        "bytes": np.concatenate([np.array(each, np.int32) for _, _, each in flows]),
    }


def folder() -> Path:
    return LINUX / RELEASE


def whole() -> dict[str, Any]:
    """windows.json; before the first recording one without records."""
    path = folder() / "windows.json"
    if not path.exists():
        return {"records": []}
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def flows_seen(record: dict[str, Any]) -> bool:
    """Has flows.parquet the bytes of this run?"""
    return bool(record.get("flows_seen", True))


def rows_of(record: dict[str, Any]) -> int:
    """How many rows of flows.parquet are this run's."""
    ways: int = record["flows"] + record["back"]
    return ways * seconds_of(record) if flows_seen(record) else 0


def runs() -> set[tuple[str, int]]:
    """Cell and seed of each run that the files hold with its flows."""
    return {(record["cell"], record["seed"]) for record in whole()["records"] if flows_seen(record)}


def add(records: list[dict[str, Any]]) -> None:
    """Put runs into both files, in the place of those that they held of the same cell and seed.
    Each file is written beside and renamed."""
    held = {(r["cell"], r["seed"]): (r, None) for r in whole()["records"]}
    if held:
        table = pq.read_table(folder() / "flows.parquet")
        begin = 0
        for key, (record, _) in held.items():
            held[key] = (record, table.slice(begin, rows_of(record)))
            begin += rows_of(record)
    for record in records:
        table = pa.table(rows(record))
        plain = {key: value for key, value in record.items() if key != "bytes_each_second"}
        held[record["cell"], record["seed"]] = (plain, table)
    order = {cell.name: i for i, cell in enumerate(cells())}
    keys = sorted((key for key in held if key[0] in order), key=lambda key: (order[key[0]], key[1]))
    folder().mkdir(parents=True, exist_ok=True)
    new = folder() / "flows.new"
    tables = pa.concat_tables([held[key][1] for key in keys])
    pq.write_table(tables, new, compression="zstd", compression_level=19)
    new.rename(folder() / "flows.parquet")
    lines = ",\n".join(json.dumps(held[key][0]) for key in keys)
    head = {
        "kernel": f"Linux {RELEASE} (User-Mode Linux, time-travel=inf-cpu, HZ=1000)",
        "command": "python -m validation.record --anew --jobs 2",
        "format": 2,
    }
    new = folder() / "windows.new"
    new.write_text(f'{json.dumps(head)[:-1]}, "records": [\n{lines}\n]}}\n')
    new.rename(folder() / "windows.json")


def seconds_of(record: dict[str, Any]) -> int:
    """How long a run lasted."""
    return cell_of(record).edges_ms[-1] // 1000


def cell_of(record: dict[str, Any]) -> Cell:
    """The cell that a record's axes describe."""
    axes = {field.name: record[field.name] for field in fields(Cell)}
    return Cell(**axes | {"rtts_ms": tuple(axes["rtts_ms"])})


def add_goodputs(record: dict[str, Any], payload: Any) -> None:
    """Each window's goodput of each flow forth, from bytes (flows, seconds)."""
    edges = cell_of(record).edges_ms
    for name, from_ms, to_ms in zip(WINDOWS, edges, edges[1:], strict=False):
        bits = 8 * payload[:, from_ms // 1000 : to_ms // 1000].sum(axis=1)
        record["windows"][name]["goodputs_mbps"] = list(bits / (to_ms - from_ms) / 1e3)


def read() -> tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]:
    """The head, and for each cell the windows of each seed, with the goodput of each flow.
    SystemExit where the files are damaged, or not of one recording."""
    try:
        return _read()
    except (OSError, ValueError, KeyError, TypeError, IndexError, pa.ArrowException) as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise SystemExit(f"{folder()}: not a whole recording ({reason}); fetch it anew") from error


def _read() -> tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]:
    head: dict[str, Any] = json.loads((folder() / "windows.json").read_text())
    table = pq.read_table(folder() / "flows.parquet", filters=[("way", "==", "forth")])
    payload = table["bytes"].to_numpy()
    place = {key: table[key].to_pylist() for key in ("cell", "seed", "flow", "second")}
    found: dict[str, list[dict[str, Any]]] = {}
    begin = 0
    for record in head.pop("records"):
        seconds = seconds_of(record)
        found.setdefault(record["cell"], []).append(record["windows"])
        if not flows_seen(record):
            continue
        end = begin + record["flows"] * seconds
        first, last = ([place[key][i] for key in place] for i in (begin, end - 1))
        run = [record["cell"], record["seed"]]
        if [first, last] != [[*run, 0, 0], [*run, record["flows"] - 1, seconds - 1]]:
            raise ValueError(f"flows.parquet has other rows than {run} from row {begin} on")
        add_goodputs(record, payload[begin:end].reshape(record["flows"], seconds))
        begin = end
    if begin != len(payload):
        raise ValueError(
            f"windows.json has {begin} rows of flows.parquet, which has {len(payload)}"
        )
    return head, found
