# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Decisions of other people's code on arrivals of ours, kept beside those of our core.

A file of tests/models/outside has several cases of one algorithm: rows, seed, arrivals, requests,
and each loss and mark that the other code decided, in two ways. `unmapped` is that code as it
stands; in `mapped` it has what its file calls `mapping`, the differences that the algorithm's page
declares. The other code drew from the generator of generator.py, by the seed of the case. It is
not part of this project: `source` names it, `recorded` says how it was driven, as
`python -m tests.models.outside` prints, with the decisions that differ from ours.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.models.library import ARRIVE, EVENT, SENT, Case, core

FOLDER = Path(__file__).with_name("outside")
NAMES = sorted(path.stem for path in FOLDER.glob("*.npz"))
ACT = np.dtype([("event", "u4"), ("packet", "u4"), ("what", "u1")])
WAYS = ("unmapped", "mapped")
HEAD = ("source", "recorded", "mapping")
COUNTED = ("events", *WAYS)
# Times are whole ones of these.
US = np.uint64(1000)

Acts = NDArray[np.void]


@dataclass(frozen=True)
class Decided:
    """A case, and what the other code did: `mapped` should be what ours does."""

    case: Case
    unmapped: Acts
    mapped: Acts

    def ours(self) -> Acts:
        """The same of our core."""
        out = core().replay(self.case).out
        lost_or_marked = out[out["what"] != SENT]
        found = np.zeros(len(lost_or_marked), ACT)
        for column in ACT.names or ():
            found[column] = lost_or_marked[column]
        return found


def otherwise(ours: Acts, theirs: Acts) -> int:
    """How many arrivals and requests were answered in another way."""
    mine, other = ({tuple(act) for act in acts.tolist()} for acts in (ours, theirs))
    return len({event for event, *_ in mine ^ other})


def head(algorithm: str) -> dict[str, str]:
    """Where the other code is from, how it was driven, what was mapped."""
    with np.load(FOLDER / f"{algorithm}.npz") as kept:
        return {name: str(kept[name]) for name in HEAD}


def load(algorithm: str) -> list[Decided]:
    """All cases of one algorithm."""
    with np.load(FOLDER / f"{algorithm}.npz") as kept:
        columns = {name: kept[name] for name in kept.files}
    listed: list[dict[str, Any]] = json.loads(str(columns["cases"]))
    events = np.zeros(len(columns["kind"]), EVENT)
    for column in ("kind", "len", "ds"):
        events[column] = columns[column]
    events["flow"] = columns["flows"][columns["flow"]]
    events["now_ns"] = columns["step_us"].astype(np.uint64) * US
    acts = {}
    for way in WAYS:
        acts[way] = np.zeros(len(columns[f"{way}_event"]), ACT)
        for column in ACT.names or ():
            acts[way][column] = np.cumsum(columns[f"{way}_{column}"])
    ends = {name: np.cumsum([of[name] for of in listed]) for name in COUNTED}
    found = []
    for number, of in enumerate(listed):
        mine = {name: slice(last[number] - of[name], last[number]) for name, last in ends.items()}
        own = events[mine["events"]].copy()
        own["now_ns"] = np.cumsum(own["now_ns"])
        case = Case(f"{algorithm}-outside-{number}", algorithm, of["rows"], own, of["seed"])
        found.append(Decided(case, *(acts[way][mine[way]] for way in WAYS)))
    return found


def save(algorithm: str, about: dict[str, str], cases: list[Decided]) -> Path:
    """Compact: times, events and packets as differences, flows as numbers, all cases one behind the
    other."""
    listed = []
    names = ("step_us", "kind", "flow", "len", "ds")
    columns: dict[str, list[NDArray[Any]]] = {name: [] for name in names}
    acts: dict[str, list[Acts]] = {way: [] for way in WAYS}
    for of in cases:
        events = of.case.events
        assert not (events["now_ns"] % US).any()
        steps = np.diff(events["now_ns"] // US, prepend=np.uint64(0))
        counts = dict(zip(COUNTED, map(len, (events, of.unmapped, of.mapped)), strict=True))
        listed.append({"rows": dict(of.case.rows), "seed": of.case.seed, **counts})
        columns["step_us"].append(steps.astype(np.uint32))
        for name, size in (("kind", "u1"), ("flow", "u4"), ("len", "u2"), ("ds", "u1")):
            columns[name].append(events[name].astype(size))
        for way in WAYS:
            acts[way].append(getattr(of, way))
    together = {name: np.concatenate(parts) for name, parts in columns.items()}
    flows, flow = np.unique(together["flow"], return_inverse=True)
    kept: dict[str, Any] = {**about, "cases": json.dumps(listed)}
    kept |= together | {"flows": flows, "flow": flow.astype(np.uint8)}
    for way in WAYS:
        every = np.concatenate(acts[way])
        for name in ACT.names or ():
            kept[f"{way}_{name}"] = np.diff(every[name].astype(np.int32), prepend=np.int32(0))
    path = FOLDER / f"{algorithm}.npz"
    np.savez_compressed(path, **kept)
    return path


def main() -> None:
    """Print what the files say, and how many decisions differ."""
    parser = argparse.ArgumentParser(description="Compare decisions with other people's code.")
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], help="some of them")
    for name in parser.parse_args().names or NAMES:
        print(f"{name}:")
        for key, words in head(name).items():
            print(f"  {key}: {words}")
        for of in load(name):
            ours, events = of.ours(), of.case.events
            differ = ", ".join(f"{otherwise(ours, getattr(of, way))} {way}" for way in WAYS)
            came = int((events["kind"] == ARRIVE).sum())
            rows = " ".join(f"{row}={value}" for row, value in of.case.rows.items())
            print(f"  {came} arrivals, {len(events) - came} requests, differ: {differ} ({rows})")


if __name__ == "__main__":
    main()
