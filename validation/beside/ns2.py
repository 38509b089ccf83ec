# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""ns2.py: our queues by themselves at a link of ns-2's, with the arrivals that its queue had.

The link asks when it has sent the last packet, so each queue has departures of its own. The
senders know nothing of that: they answer what ns-2's queue did.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Mapping, Sequence
from ctypes import c_char_p, c_uint64
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sojourn import algorithms
from sojourn.scenario.variant import read

from models.queue import Packet
from tests.models.beside import NS
from tests.models.follow import CE, follow, table
from tests.models.library import ARRIVE, DROPPED, EVENT, MARKED, OUT, REQUEST, SENT, core
from tests.models.witnessed import ARRIVED, AsRecorded, Row, load
from validation.beside.ns2_trials import make

QUEUES: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("ns2.toml").read_text())[
    "queue"
]
SEEDS = 16
# tests/models/ns2.tcl: 10 Mbit/s.
NS_OF_BYTE = 800
# As tests/models/inputs.py: Ethernet's largest packet.
MTU = 1514
METRICS = ("drops", "marks", "backlog_pkts")

Values = dict[str, list[float]]
Arrive = Callable[[Row], None]
Request = Callable[[int], int]


@dataclass
class Counted:
    """What a queue did."""

    drops: int = 0
    marks: int = 0
    held: int = 0
    held_ns: int = 0  # packets times nanoseconds
    at_ns: int = 0

    def until(self, now_ns: int) -> None:
        """The backlog was as it is until now."""
        self.held_ns += self.held * (now_ns - self.at_ns)
        self.at_ns = now_ns

    def values(self, begin_ns: int) -> tuple[float, float, float]:
        """As METRICS has them."""
        backlog = self.held_ns / (self.at_ns - begin_ns)
        return float(self.drops), float(self.marks), round(backlog, 4)


class Alone(AsRecorded):
    """Draws for itself: the recording has no say."""

    def below(self, what: str, value: float, bound: float) -> bool:
        return value < bound


def theirs(rows: Sequence[Row]) -> tuple[float, float, float]:
    """What ns-2's queue did."""
    found = Counted(at_ns=rows[0]["ns"])
    for row in rows:
        found.until(row["ns"])
        found.held = row["held"]
        found.marks += row["ecn_after"] == CE != row["ecn_before"]
    found.drops = rows[-1]["drops"]
    return found.values(rows[0]["ns"])


def at_link(rows: Sequence[Row], arrive: Arrive, request: Request, found: Counted) -> None:
    """The arrivals of a recording at a queue, and a link that asks it; `request` says how many
    bytes leave, 0 for none."""
    free_ns, busy = 0, False

    def serve(now_ns: int) -> None:
        nonlocal free_ns, busy
        size = request(now_ns)
        busy, free_ns = size > 0, now_ns + size * NS_OF_BYTE

    found.at_ns = rows[0]["ns"]
    for row in rows:
        if row["kind"] != ARRIVED:
            continue
        while busy and free_ns <= row["ns"]:
            found.until(free_ns)
            serve(free_ns)
        found.until(row["ns"])
        arrive(row)
        if not busy:
            serve(row["ns"])
    # As long as the recording.
    found.until(max(found.at_ns, rows[-1]["ns"]))


def canonical(spec: str) -> tuple[str, dict[str, int]]:
    """The algorithm of `--aqm`, and its rows in their units."""
    variant = read(spec)
    known = algorithms.find(variant.algorithm).rows
    return variant.algorithm, {name: known[name].read(v) for name, v in variant.all_rows.items()}


def by_core(spec: str, rows: Sequence[Row], seed: int) -> tuple[float, float, float]:
    """The C core on these arrivals."""
    lib, found = core().lib, Counted()
    algorithm, settings = canonical(spec)
    names = (c_char_p * len(settings))(*(name.encode() for name in settings))
    numbers = (c_uint64 * len(settings))(*settings.values())
    sizes = [row["len"] for row in rows if row["kind"] == ARRIVED]
    event, out = np.zeros(1, EVENT), np.zeros(2 * len(sizes) + 1, OUT)
    stats = np.zeros(64, np.uint64)
    places = event.ctypes.data, out.ctypes.data, stats.ctypes.data
    queue = lib.tm_open(algorithm.encode(), names, numbers, len(settings), MTU, seed, 0, len(sizes))
    sentence = lib.tm_sentence(queue)
    if sentence:
        raise ValueError(f"{spec}: {sentence.decode()}")

    def happen(now_ns: int, kind: int, flow: int = 0, size: int = 0, ecn: int = 0) -> int:
        event[0] = (now_ns, kind, flow, size, ecn)
        outs = lib.tm_run(queue, places[0], 1, places[1], len(out), places[2])
        assert outs >= 0, f"{spec}: packets were not conserved"
        sent = 0
        for _, packet, what, *_ in out[:outs].tolist():
            found.drops += what == DROPPED
            found.marks += what == MARKED
            found.held -= what in (DROPPED, SENT)
            sent = sizes[packet] if what == SENT else sent
        return sent

    def arrive(row: Row) -> None:
        found.held += 1
        happen(row["ns"], ARRIVE, row["flow"], row["len"], row["ecn_before"])

    try:
        at_link(rows, arrive, lambda now_ns: happen(now_ns, REQUEST), found)
    finally:
        lib.tm_close(queue)
    return found.values(rows[0]["ns"])


def by_trial(trial: str, name: str, rows: list[Row], seed: int) -> tuple[float, float, float]:
    """The model of a trial, with draws of its own."""
    model, found = make(trial, name, rows, Alone()), Counted()
    if hasattr(model, "uniform"):
        model.uniform = random.Random(seed).random
    sizes = {row["packet"]: row["len"] for row in rows}

    def count(outcome: Any) -> int:
        found.drops += len(outcome.dropped)
        found.marks += len(outcome.marked)
        found.held = len(model.all_waiting())
        return sizes[outcome.sent] if outcome.sent else 0

    def arrive(row: Row) -> None:
        packet = Packet(row["packet"], row["len"], row["flow"], row["ecn_before"] != 0)
        count(model.arrive(row["ns"] * NS, packet))

    at_link(rows, arrive, lambda now_ns: count(model.request(now_ns * NS)), found)
    return found.values(rows[0]["ns"])


def by_follower(name: str) -> tuple[float, float, float]:
    """The mapped model with ns-2's draws. That it holds as many packets after each event has been
    compared, or this raises."""
    recorded = load(name)
    found = follow(name, recorded)
    return float(found.drops), float(found.marks), theirs(table(recorded))[2]


def trials(entry: Mapping[str, Any]) -> dict[str, str]:
    """Trials, one thing more in each, and what they have as ns-2 has it."""
    found: dict[str, str] = dict(entry.get("trials", {}))
    return found


def measure(entry: Mapping[str, Any]) -> dict[str, Values]:
    """One queue of ns2.toml: ns-2's figures, and those of ours and of the trial, seed by seed."""
    rows = table(load(entry["name"]))
    seeds = range(1, SEEDS + 1)
    runs = {
        "ns-2": [theirs(rows)],
        "ours": [by_core(entry["ours"], rows, seed) for seed in seeds],
    }
    for trial in trials(entry):
        if trial == "followed":
            runs[trial] = [by_follower(entry["name"])]
        else:
            runs[trial] = [by_trial(trial, entry["name"], rows, seed) for seed in seeds]
    return {
        side: dict(zip(METRICS, map(list, zip(*found, strict=True)), strict=True))
        for side, found in runs.items()
    }
