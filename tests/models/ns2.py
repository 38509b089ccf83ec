# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""ns2.py: inputs and outputs of a queue of ns-2's own.

    python -m tests.models.ns2 [NAME ...]

records anew those of tests/models/witnessed that come from there: ns2.tcl is the network, and
ns2_NAME.tcl sets the queue of one algorithm. It needs `ns` (Debian: ns2); the models only read
the recordings.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.models.follow import CE, CHILDREN, KINDS, NS2_TOO
from tests.models.inputs import SECOND
from tests.models.witnessed import ARRIVED, ASKED, CLOCK_NS, COLUMNS, FOLDER, NS2, with_times

NAMES = sorted(name for name, (kind, _) in CHILDREN.items() if KINDS[kind].of == NS2)
# Event, time in s, nodes, kind, bytes, flags, flow, addresses, sequence number, packet's number.
EVENT = re.compile(r"([+d-]) (\S+) \d+ \d+ \S+ (\d+) (\S+) (\d+) \S+ \S+ \S+ (\d+)")
# Letter, time in s, probability.
CHANGE = re.compile(r"p (\S+) (\S+)")
ECT0 = 2
# Places of a packet's flags.
MARKED, CAPABLE = 4, 6


def release() -> str:
    """The version of Debian's package, since `ns` says none."""
    words = ["dpkg-query", "-W", "-f", "${Version}", "ns2"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def record(name: str) -> dict[str, NDArray[Any]]:
    """Run ns-2; the columns of a recording."""
    kind, child = CHILDREN[name]
    with tempfile.TemporaryDirectory(prefix="sojourn-") as scratch:
        events, changes = Path(scratch) / "events", Path(scratch) / "changes"
        scripts = "ns2", f"ns2_{kind.removesuffix(NS2_TOO)}"
        network, settings = (Path(__file__).with_name(f"{of}.tcl") for of in scripts)
        of = [settings, name, int(child.ecn), events, changes]
        subprocess.run(["ns", network, *map(str, of)], check=True, capture_output=True)
        found = columns(events.read_text())
        return found | probabilities(changes.read_text(), with_times(found)["ns"])


def columns(text: str) -> dict[str, NDArray[Any]]:
    """From a trace of ns-2. Its packets have numbers from 0 on, ours from 1."""
    rows: list[dict[str, int]] = []
    arrivals: dict[int, dict[str, int]] = {}
    drops = held = 0
    for event, time_s, size, flags, flow, uid in EVENT.findall(text):
        number = int(uid) + 1
        ecn = CE if flags[MARKED] == "E" else ECT0 if flags[CAPABLE] == "N" else 0
        ns = round(float(time_s) * 1e6) * 1000
        if event == "d":
            # A packet is dropped as it arrives: the record before this one is its arrival.
            drops, held = drops + 1, held - 1
            rows[-1] |= {"let_in": 0, "drops": drops, "held": held}
            assert rows[-1]["packet"] == number
            continue
        held += 1 if event == "+" else -1
        row = {"ns": ns, "packet": number, "len": int(size), "flow": int(flow), "drops": drops}
        row |= {"jiffies": 0, "held": held, "kind": ARRIVED if event == "+" else ASKED, "let_in": 1}
        row |= {"ecn_before": ecn, "ecn_after": ecn}
        if event == "+":
            arrivals[number] = row
        else:
            # The queue marks an arrival; the trace shows it when the packet leaves.
            arrivals[number]["ecn_after"] = ecn
            row["ecn_before"] = ecn
        rows.append(row)
    times = np.array([row["ns"] for row in rows], np.uint64) - np.uint64(CLOCK_NS)
    found = {
        column: np.array([row[column] for row in rows], of)
        for column, of in COLUMNS.items()
        if column != "step_ns"
    }
    return found | {"step_ns": np.diff(times, prepend=np.uint64(0))}


def probabilities(text: str, ns: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """The queue's own probability at each record, if it traced one, in 10^-12: it has six digits,
    as its time."""
    found = CHANGE.findall(text)
    changes = [(0, 0), *((float(time_s) * SECOND, float(p) * 1e12) for time_s, p in found)]
    if not found:
        return {}
    times, values = np.array(changes).round().astype(np.uint64).T
    return {"prob_e12": values[np.searchsorted(times, ns, side="right") - 1]}


def main() -> None:
    """Renew the recordings."""
    parser = argparse.ArgumentParser(description="Record queues of ns-2 anew.")
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], help="some of them")
    for name in parser.parse_args().names or NAMES:
        everything: Any = record(name) | {"release": np.array(f"ns-2 {release()}")}
        path = FOLDER / f"{name}.npz"
        np.savez_compressed(path, **everything)
        print(f"{path.name}: {len(everything['kind'])} records, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
