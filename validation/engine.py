# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""engine.py: a cell on the engine, in the same words as a record of Linux."""

from __future__ import annotations

import json
from typing import Any

from sojourn import _native

from validation.cells import BUFFER_MAX_BYTES, HTB_BURST_BYTES, WINDOWS, Cell

# The kernel's names and defaults, as rows of ours in canonical units.
QUEUES: dict[str, dict[str, Any]] = {
    "pfifo": {"algorithm": "fifo", "rows": {"limit": 1000}},
    "codel": {
        "algorithm": "codel",
        "rows": {"limit": 1000, "target": 5_000_000, "interval": 100_000_000, "ecn": 0},
    },
    "pie": {
        "algorithm": "pie",
        "rows": {"limit": 1000, "target": 15_000_000, "tupdate": 15_000_000, "ecn": 0},
    },
}
# As in the guest: no segments larger than a packet, buffers that never limit, a reader
# that is woken for 16 kB. A device without scatter lists linearises each packet into a
# buffer in which a second segment finds room; its size is what `ss -m` shows there.
TCP_OPTIONS = {
    "gso": False,
    "rcvbuf_max_bytes": BUFFER_MAX_BYTES,
    "read_at_least_bytes": 16_384,
    "rx_segments_per_buffer": 2,
    "rx_overhead_bytes": 832,
}
# Each reading of the clock costs the guest 256 ns, so that packets which one event sends
# leave up to a microsecond apart; without it flows would tie at the queue and one would win.
CLOCK_NOISE_NS = 1_000
MS = 1_000_000


def scenario(cell: Cell, seed: int, end_ms: int) -> dict[str, Any]:
    """The guest's dumbbell: bottleneck forth, the whole delay back."""
    edges = [edge for edge in cell.edges_ms if edge <= end_ms]
    link: dict[str, Any] = {
        "rate_bps": None,
        "schedule": [],
        "shaper": "wire",
        "burst_bytes": HTB_BURST_BYTES,
        "ring_pkts": 0,
        "delay_ns": 0,
        "jitter": None,
        "loss": 0.0,
        "queue": {"algorithm": "fifo", "rows": {"limit": 1_000_000}},
    }
    bottleneck = {"rate_bps": cell.rate_mbps * 1_000_000, "shaper": "htb"}
    transport = {"kind": "tcp", "cc": cell.control, "ecn": False, "options": TCP_OPTIONS}
    flow = {
        "count": 1,
        "from": "c",
        "to": "s",
        "path": ["in", "bottleneck"],
        "reverse_path": ["back"],
        "transport": transport,
        "app": {"kind": "bulk", "bytes": None},
        "start_spread_ns": 0,
        "stop_ns": None,
        "send_jitter_ns": CLOCK_NOISE_NS,
    }
    return {
        "format": 1,
        "name": cell.name,
        "duration_ns": end_ms * MS,
        "nodes": ["c", "r", "s"],
        "links": [
            {**link, "name": "in", "from": "c", "to": "r"},
            {
                **link,
                "name": "bottleneck",
                "from": "r",
                "to": "s",
                **bottleneck,
                "queue": QUEUES[cell.queue],
            },
            {**link, "name": "back", "from": "s", "to": "c", "delay_ns": cell.rtt_ms * MS},
        ],
        "flows": [
            {**flow, "name": f"flow{i}", "start_ns": start_us * 1_000}
            for i, start_us in enumerate(cell.starts_us(seed))
        ],
        "record": {
            "queues": ["bottleneck"],
            "windows": [
                {"name": name, "from_ns": start * MS, "to_ns": end * MS}
                for name, start, end in zip(WINDOWS, edges, edges[1:], strict=False)
            ],
            "series_ns": 100 * MS,
            "events": False,
        },
    }


def run(cell: Cell, seed: int, end_ms: int) -> dict[str, Any]:
    """One run's report."""
    answer = _native.run(json.dumps(scenario(cell, seed, end_ms)), seed)
    if answer is None:
        raise RuntimeError("the run was stopped")
    report: dict[str, Any] = json.loads(answer[0])
    return report


def measure(cell: Cell, seed: int) -> dict[str, Any]:
    """A record like those of Linux. Counters of flows cover a whole run, so a second run
    that ends with the first window tells the windows' shares apart: a run's beginning
    does not depend on its end."""
    reports = [run(cell, seed, end_ms) for end_ms in cell.edges_ms[1:]]
    seen = reports[-1]["queues"][0]["windows"]
    windows: dict[str, Any] = {}
    before = dict.fromkeys(("retransmitted_pkts", "timeouts"), 0)
    for name, report, window in zip(WINDOWS, reports, seen, strict=True):
        wanted = ("arrived_pkts", "departed_pkts", "dropped_pkts", "queue_delay_ms")
        windows[name] = {key: window[key] for key in (*wanted, "utilisation_pct")}
        for key, earlier in before.items():
            total = sum(flow[key] for flow in report["flows"])
            windows[name][key] = total - earlier
            before[key] = total
    return {"cell": cell.name, "seed": seed, "windows": windows}
