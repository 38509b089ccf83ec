# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""short_flows.py: which packets of short transfers CoDel with ECN drops, on Linux and simulated.

    python -m validation.short_flows             the simulator beside the recording
    python -m validation.short_flows --anew      the recording again, in the virtual kernel

The recording is validation/linux/RELEASE/short_flows.json. It has the packets by kind at the
crowded queue, and for a flow alone the time from the packet before each SYN to the SYN.
"""

from __future__ import annotations

import argparse
import io
import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import sojourn
from numpy.typing import NDArray
from sojourn import _native
from sojourn.linux.run import run as run_on_linux

from validation.recorded import folder

SEEDS = (1, 2, 3)
CROWD = """
format = 2
name = "short flows with ECN"
duration = "60 s"

[dumbbell]
rate = "20 Mbit/s"
rtt = "50 ms"
aqm = { algorithm = "codel", ecn = true }

[[dumbbell.flows]]
count = 40
app = { kind = "respawn", size = "100 kB" }
transport = { kind = "tcp", ecn = true }

[record]
events = true
"""
ALONE = CROWD.replace("count = 40\n", "").replace('"60 s"', '"6 s"')
FILE = folder() / "short_flows.json"

# On the wire, with 12 bytes of timestamps: a SYN has 8 of options more.
SYN_BYTES, ACK_BYTES = 74, 66
NOT_ECT = 0
Events = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Crowd:
    """Packets at the queue and those dropped, and marks; connections with data, and those of them
    that never sent an ECT packet."""

    packets: int
    dropped: int
    marked: int
    syns: int
    syns_dropped: int
    acks: int
    acks_dropped: int
    connections: int
    connections_without_ecn: int

    @property
    def dropped_pct(self) -> float:
        """Of all packets."""
        return 100 * self.dropped / self.packets

    @property
    def marked_pct(self) -> float:
        """Of all packets."""
        return 100 * self.marked / self.packets

    @property
    def syns_dropped_pct(self) -> float:
        """Of all SYNs."""
        return 100 * self.syns_dropped / self.syns


def events(text: str, seed: int, *, linux: bool) -> Events:
    """Run a scenario; each packet of its queue."""
    scenario = json.dumps(sojourn.loads(text).to_engine())
    done = (
        run_on_linux(scenario, seed, lambda share: True) if linux else _native.run(scenario, seed)
    )
    assert done
    table = pq.read_table(io.BytesIO(done[1]["events.parquet"]))
    return {name: table[name].to_numpy() for name in table.schema.names if name != "queue"}


def crowd(found: Events) -> Crowd:
    """Count the packets of a run by kind."""
    size, ecn, flow = found["len_bytes"], found["ecn"], found["flow"]
    dropped = found["why"] != 0
    syn, ack = size == SYN_BYTES, size == ACK_BYTES
    data = ~syn & ~ack
    with_data = np.unique(flow[data])
    capable = np.unique(flow[data & (ecn != NOT_ECT)])
    return Crowd(
        packets=len(size),
        dropped=int(dropped.sum()),
        marked=int(((ecn == 3) & ~dropped).sum()),
        syns=int(syn.sum()),
        syns_dropped=int((syn & dropped).sum()),
        acks=int(ack.sum()),
        acks_dropped=int((ack & dropped).sum()),
        connections=len(with_data),
        connections_without_ecn=len(with_data) - len(capable),
    )


def before_syns_us(found: Events) -> list[float]:
    """Time from the last packet of a connection to the SYN of the one behind it, as they come to
    the queue."""
    order = np.argsort(found["enq_ns"], kind="stable")
    at_ns, size = found["enq_ns"][order].astype(np.int64), found["len_bytes"][order]
    [syns] = np.nonzero(size[1:] == SYN_BYTES)
    return [float(ns) / 1000 for ns in (at_ns[syns + 1] - at_ns[syns])]


def of_host(*, linux: bool) -> dict[str, Any]:
    """Both scenarios on a host."""
    return {
        "crowd": [asdict(crowd(events(CROWD, seed, linux=linux))) for seed in SEEDS],
        "before_syns_us": before_syns_us(events(ALONE, SEEDS[0], linux=linux)),
    }


def recorded() -> dict[str, Any]:
    """The recording."""
    kept: dict[str, Any] = json.loads(FILE.read_text())
    return kept


def total(runs: list[dict[str, int]]) -> Crowd:
    """All seeds together."""
    return Crowd(**{name: sum(run[name] for run in runs) for name in runs[0]})


def line(host: str, runs: list[dict[str, int]]) -> str:
    """A row of the table in docs/reference/linux-host.md."""
    of = total(runs)
    return (
        f"| {host} | {of.dropped_pct:.2f} | {of.marked_pct:.1f} "
        f"| {of.syns_dropped} of {of.syns} | {of.acks_dropped} of {of.acks} "
        f"| {of.connections_without_ecn} of {of.connections} |"
    )


def main() -> None:
    """Print both hosts; with --anew record Linux before."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--anew", action="store_true", help="record Linux again")
    if parser.parse_args().anew:
        FILE.write_text(json.dumps(of_host(linux=True), indent=1) + "\n")
    kept, simulated = recorded(), of_host(linux=False)
    print("| host | drops, % | marks, % | SYNs dropped | ACKs dropped | connections without ECN |")
    print("|---|---|---|---|---|---|")
    for host, found in (("Linux", kept), ("simulator", simulated)):
        print(line(host, found["crowd"]))
    for host, found in (("Linux", kept), ("simulator", simulated)):
        longest = max(found["before_syns_us"])
        print(f"{host}: a SYN comes {longest:g} us at most behind the last packet before it")


if __name__ == "__main__":
    main()
