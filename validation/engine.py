# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""engine.py: a cell on the engine, in the same words as a record of Linux."""

from __future__ import annotations

import json
from typing import Any

from sojourn import _native

from validation.cells import BUFFER_MAX_BYTES, HTB_BURST_BYTES, WINDOWS, Cell

# The kernel's names and defaults, as rows of ours in canonical units. Linux arms PIE's timer for
# tupdate in whole jiffies, of which the one under way does not count: 15 ms are 16 at HZ = 1000.
FORMS = ("ours", "linux")
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
LINUX_ROWS = {"codel": {"form": 1}, "pie": {"form": 1, "tupdate": 16_000_000}}
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
# One flow ties with none, and is given no noise: at 500 Mbit/s and 100 ms a few hundred nanoseconds
# can make two overshoots of its one.
CLOCK_NOISE_NS = 1_000
# One process in the guest opens the flows one after another, so that flows of one instant do not
# begin at one: the first has its segments before the others' in every burst. Gaps of 1.5, 5 and
# 20 us give the same figures; without one, noise shuffles them and 100M-100ms-40xcubic-pfifo drops
# 2.7 % instead of 2.1 %, Linux's figure.
CONNECT_NS = 1_500
MS = 1_000_000
# The guest makes its queue a second or two before the traffic: Linux's PIE, which updates for the
# first time after half a second, is in its stride by then.
LEAD_NS = 2_000 * MS


# What netem and a wire hold.
PLAIN_LINK: dict[str, Any] = {
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


def queue_of(cell: Cell, form: str) -> dict[str, Any]:
    """The queue under test; pfifo has one form."""
    queue = QUEUES[cell.queue]
    more = LINUX_ROWS.get(cell.queue, {}) if form == "linux" else {}
    return {**queue, "rows": {**queue["rows"], **more}}


def links(cell: Cell, form: str) -> list[dict[str, Any]]:
    """Bottleneck forth, the whole delay back; with flows back a bottleneck behind the delay."""
    bottleneck = {
        **PLAIN_LINK,
        "rate_bps": cell.rate_mbps * 1_000_000,
        "shaper": "htb",
        "queue": queue_of(cell, form),
    }
    end = "r" if cell.back else "c"
    found = [
        {**PLAIN_LINK, "name": "in", "from": "c", "to": "r"},
        {**bottleneck, "name": "bottleneck", "from": "r", "to": "s"},
    ]
    for rtt_ms in cell.rtts_ms:
        delayed = {"name": f"back{rtt_ms}", "delay_ns": rtt_ms * MS}
        found.append({**PLAIN_LINK, **delayed, "from": "s", "to": end})
    if cell.back:
        found.append({**bottleneck, "name": "bottleneck-back", "from": "r", "to": "c"})
    return found


def start_ns(flow: int, start_us: int) -> int:
    """When a flow's connection is opened, on the run's clock."""
    return LEAD_NS + start_us * 1_000 + flow * CONNECT_NS


def flows(cell: Cell, seed: int) -> list[dict[str, Any]]:
    """Bulk flows forth and back, each with its start and its round trip."""
    options = dict(TCP_OPTIONS)
    if cell.rcvbuf_bytes:
        # Linux counts what SO_RCVBUF asks for twice, and then leaves it.
        options |= {"rcvbuf_bytes": 2 * cell.rcvbuf_bytes, "rcvbuf_moderation": False}
    flow = {
        "count": 1,
        "transport": {"kind": "tcp", "cc": cell.control, "ecn": False, "options": options},
        "app": {"kind": "bulk", "bytes": None},
        "start_spread_ns": 0,
        "stop_ns": None,
        "send_jitter_ns": CLOCK_NOISE_NS if cell.flows + cell.back > 1 else 0,
    }
    forth = ["in", "bottleneck"]
    behind = ["bottleneck-back"] if cell.back else []
    found = []
    for i, start_us in enumerate(cell.starts_us(seed)):
        back = [f"back{cell.rtt_ms(i)}", *behind]
        ends = {"from": "c", "to": "s", "path": forth, "reverse_path": back}
        found.append({**flow, **ends, "name": f"forth{i}", "start_ns": start_ns(i, start_us)})
    for i, start_us in enumerate(cell.starts_back_us(seed)):
        back = [f"back{cell.rtts_ms[0]}", *behind]
        ends = {"from": "s", "to": "c", "path": back, "reverse_path": forth}
        found.append({**flow, **ends, "name": f"back{i}", "start_ns": start_ns(i, start_us)})
    return found


def scenario(cell: Cell, seed: int, form: str) -> dict[str, Any]:
    """The guest's dumbbell."""
    edges = cell.edges_ms
    return {
        "format": 1,
        "name": cell.name,
        "duration_ns": LEAD_NS + edges[-1] * MS,
        "nodes": ["c", "r", "s"],
        "one_host": True,
        "links": links(cell, form),
        "flows": flows(cell, seed),
        "record": {
            "queues": ["bottleneck"],
            "windows": [
                {"name": name, "from_ns": LEAD_NS + start * MS, "to_ns": LEAD_NS + end * MS}
                for name, start, end in zip(WINDOWS, edges, edges[1:], strict=False)
            ],
            "series_ns": 100 * MS,
            "events": False,
        },
    }


def run(cell: Cell, seed: int, form: str) -> dict[str, Any]:
    """One run's report."""
    answer = _native.run(json.dumps(scenario(cell, seed, form)), seed)
    if answer is None:
        raise RuntimeError("the run was stopped")
    report: dict[str, Any] = json.loads(answer[0])
    return report


def measure(cell: Cell, seed: int, form: str) -> dict[str, Any]:
    """A record like those of Linux, with the goodput of each flow forth in each window."""
    report = run(cell, seed, form)
    wanted = ("arrived_pkts", "departed_pkts", "dropped_pkts", "queue_delay_ms", "utilisation_pct")
    windows: dict[str, Any] = {}
    for i, seen in enumerate(report["queues"][0]["windows"]):
        groups = report["transport"][i]["groups"][: cell.flows]
        windows[seen["name"]] = {
            **{key: seen[key] for key in wanted},
            **{k: sum(g[k] for g in groups) for k in ("retransmitted_pkts", "timeouts")},
            "goodputs_mbps": [group["goodput_mbps"] for group in groups],
        }
    return {"cell": cell.name, "seed": seed, "windows": windows}
