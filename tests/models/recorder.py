# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Renews the recordings that record.py reads: `python -m tests.models.recorder` runs the engine,
which must be installed, for each algorithm that acts on packets.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.models.library import ARRIVE, EVENT, REQUEST, Events
from tests.models.record import DATA, load

SECONDS = 8
SEED = 1


def scenario(algorithm: str) -> dict[str, Any]:
    """Eight flows, half of them with ECN, on 10 Mbit/s and 40 ms."""
    from sojourn.algorithms import algorithms

    second = 10**9
    rows = {"limit": 1000, "ecn": 1}
    if algorithms()[algorithm].needs_rate:
        rows["bandwidth"] = 1_250_000
    bottleneck = {"rate": 10_000_000, "delay": 20_000_000}
    queue = {"algorithm": algorithm, **rows}
    flow = {"count": 4, "from": "s", "to": "d", "app": {"kind": "bulk", "size": None}}
    return {
        "format": 2,
        "name": f"closed-loop-{algorithm}",
        "duration": SECONDS * second,
        "nodes": ["s", "r", "d"],
        "links": [
            {"name": "in", "from": "s", "to": "r", "rate": 100_000_000, "delay": 0},
            {"name": "bottleneck", "from": "r", "to": "d", "queue": queue} | bottleneck,
            {"name": "back", "from": "d", "to": "s", "rate": None, "delay": 20_000_000},
        ],
        "flows": [
            flow | {"name": name, "transport": {"kind": "tcp", "cc": cc, "ecn": ecn}}
            for name, cc, ecn in (("marked", "cubic", True), ("dropped", "reno", False))
        ],
        "record": {"queues": ["bottleneck"], "events": True},
    }


def as_events(columns: dict[str, NDArray[Any]]) -> Events:
    """Packets as they came and went; an arrival goes before a departure of the same instant."""
    sent = columns["at_ns"][columns["why"] == 0]
    found = np.zeros(len(columns["enq_ns"]) + len(sent), EVENT)
    came = found[: len(columns["enq_ns"])]
    came["now_ns"], came["kind"] = columns["enq_ns"], ARRIVE
    came["flow"], came["len"] = columns["flow"], columns["len_bytes"]
    came["ds"] = np.where(columns["ecn"] == 0, 0, 2)
    asked = found[len(columns["enq_ns"]) :]
    asked["now_ns"], asked["kind"] = sent, REQUEST
    return found[np.lexsort((found["kind"], found["now_ns"]))]


def save(path: Path, events: Events) -> None:
    """Compact: times as differences, flows as numbers."""
    flows, flow = np.unique(events["flow"], return_inverse=True)
    np.savez_compressed(
        path,
        step_ns=np.diff(events["now_ns"], prepend=0).astype(np.uint32),
        kind=events["kind"].astype(np.uint8),
        flows=flows,
        flow=flow.astype(np.uint8),
        len=events["len"].astype(np.uint16),
        ds=events["ds"].astype(np.uint8),
    )


def main() -> None:
    """Renew every recording: of all algorithms that act on packets."""
    from pyarrow import parquet
    from sojourn import _native

    for algorithm in (known["name"] for known in _native.algorithms() if known["acts"]):
        done = _native.run(json.dumps(scenario(algorithm)), SEED)
        assert done is not None
        table = parquet.ParquetFile(io.BytesIO(done[1]["events.parquet"])).read()
        events = as_events({name: table[name].to_numpy() for name in table.column_names})
        path = DATA / f"{algorithm}.npz"
        save(path, events)
        assert (load(path) == events).all()
        print(f"{path.name}: {len(events)} events, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
