# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The transfers of one visit, such as a page, in several cases side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sojourn.core.errors import InputError, nearest
from sojourn.result.compare import Case, Cases, labels
from sojourn.result.result import Run

# The identity of a transfer within its visit: the same in each case of a seed.
_KEY = ("connection", "transfer", "bytes")
_TIMES = ("opened", "begun", "first_byte", "last_byte")


@dataclass(frozen=True)
class Visit:
    """The visit of a flow: the group, the flow in it, and the number of the visit."""

    group: str
    index: int  # of the flow, from 0
    number: int  # from 1


@dataclass(frozen=True)
class SideBySide:
    """Times in ms since the visit opened its first connection in that case."""

    seed: int
    cases: list[Case]
    # By connection, transfer and bytes, then by case and event; None where it did not happen.
    rows: Mapping[tuple[int, int, int], Mapping[Case, Mapping[str, float | None]]]

    def to_json(self) -> dict[str, Any]:
        """Return the value of `transfers` in `sojourn compare --transfers --json`."""
        columns = labels(self.cases)
        case_labels = [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ]
        rows = [
            {
                **dict(zip(_KEY, key, strict=True)),
                "cases": [
                    case_labels[number] | {f"{time}_ms": by_case[case][time] for time in _TIMES}
                    for number, case in enumerate(self.cases)
                    if case in by_case
                ],
            }
            for key, by_case in self.rows.items()
        ]
        return {"seed": self.seed, "transfers": rows}


def side_by_side(by_case: Cases, visit: Visit) -> SideBySide:
    """Collect the transfers of the first seed that all cases have.

    InputError: no seed is common, no result has the flows, or the visit has no transfer.
    """
    _check_group(by_case, visit.group)
    seeds = [{run.seed for run in runs} for runs in by_case.values()]
    common = set.intersection(*seeds)
    if not common:
        raise InputError("--transfers: the results have no seed in common")
    seed = min(common)
    rows: dict[tuple[int, int, int], dict[Case, dict[str, float | None]]] = {}
    cases = []
    for case, runs in by_case.items():
        run = next(run for run in runs if run.seed == seed)
        transfers = sorted(_run_rows(run, visit), key=lambda row: [row[key] for key in _KEY])
        if transfers:
            cases.append(case)
            begin_ns = min(row["opened_ns"] for row in transfers)
        for row in transfers:
            times = {time: _ms(row[f"{time}_ns"], begin_ns) for time in _TIMES}
            connection, transfer, size = (row[key] for key in _KEY)
            rows.setdefault((connection, transfer, size), {})[case] = times
    if not rows:
        raise InputError(
            f"--transfers {visit.group}: flow {visit.index} has no transfer in visit "
            f"{visit.number}; flows are numbered from 0, visits from 1 (--flow, --visit)"
        )
    return SideBySide(seed, cases, dict(sorted(rows.items())))


def _ms(at_ns: int | None, begin_ns: int) -> float | None:
    return None if at_ns is None else (at_ns - begin_ns) / 1e6


def _check_group(by_case: Cases, group: str) -> None:
    known = {
        entry["name"]
        for runs in by_case.values()
        for entry in runs[0].report["transport"][0]["groups"]
    }
    if group not in known:
        raise InputError(f"--transfers {group}: no result has such flows.{nearest(group, known)}")


def _run_rows(run: Run, visit: Visit) -> Iterator[dict[str, Any]]:
    import pyarrow.compute as pc

    pieces = run.entry.transfer_batches()
    if pieces is None:
        raise InputError(
            "--transfers: a run keeps its transfers where the scenario says record.transfers = "
            "true; run it again with --set record.transfers=true and another --out"
        )
    for piece in pieces:
        mine = pc.equal(piece["group"], visit.group).to_numpy(zero_copy_only=False)
        mine &= piece["index"].to_numpy() == visit.index
        mine &= piece["visit"].to_numpy() == visit.number
        for row in mine.nonzero()[0]:
            yield {name: piece[name][int(row)].as_py() for name in piece.schema.names}
