# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Runs for other programs: data files of flent's, a capture for each run.

flent: flent.org, doc/data-format.rst, version 4. A queue's file is of flent's own test
`qdisc-stats`: its plots `delay` and `backlog` draw it. A run of the scenario `rrul` also has a file
of flent's test of that name. A run records groups, so that each TCP flow has the mean of its group.

pcapng: draft-ietf-opsawg-pcapng. Each recorded queue is an interface. A packet is listed at the
time when it left the queue or was dropped, and its comment gives its verdict. A run keeps of a
packet its flow, length and ECN field, and no header. In the capture a packet therefore has an
Ethernet and an IPv4 header with these values. Its addresses stand for the hash of its flow, and its
protocol is 253, for experiments. The rest of the packet is cut off.
"""

from __future__ import annotations

import gzip
import heapq
import json
import math
import re
import struct
import tomllib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from sojourn import _native
from sojourn.core.errors import InputError, nearest
from sojourn.core.progress import Progress
from sojourn.result.compare import cases, check_known, names
from sojourn.result.result import Result, Run
from sojourn.store.store import digest, replacing, write_errors, write_whole

# Variants with many parameters have longer names, which are cut: file systems allow 255 bytes.
_LONGEST = 160


def export(
    result: Result, form: str, folder: Path, aqms: Sequence[str] = (), seeds: Sequence[int] = ()
) -> Iterator[Path]:
    """Write the files of the chosen runs one by one, and yield the path of each."""
    if form not in FORMATS:
        raise InputError(f"--format {form}: there is no such format.{nearest(form, FORMATS)}")
    chosen = FORMATS[form]
    wanted = list(_wanted(result, aqms, seeds))
    of_runs = [(name, run, part) for name, run in wanted for part in chosen.parts(run)]
    with write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    title = str(tomllib.loads(result.scenario)["name"])
    taken: set[str] = set()
    with Progress(f"exporting {title}", len(of_runs)) as progress:
        for done, (name, run, part) in enumerate(of_runs):
            words = [title, name, f"seed {run.seed}", *([part] if part else [])]
            path = folder / (_file_name(words, taken) + chosen.suffix)
            about = {
                "scenario": title,
                "run": ", ".join(words[1:3]),
                "version": str(result.meta.get("core", "")),
                "made": str(result.meta.get("made", "")),
                "command": str(result.meta.get("command", "")),
            }
            with write_errors(path):
                chosen.write(path, about, run, part, partial(_advance, progress, done))
            progress.update(done + 1)
            yield path


def _advance(progress: Progress, files: int, share: float) -> None:
    progress.update(files + share)


def _wanted(result: Result, aqms: Sequence[str], seeds: Sequence[int]) -> Iterator[tuple[str, Run]]:
    by_case = cases({"": result})
    check_known("--aqm", aqms, list(dict.fromkeys(case.aqm for case in by_case)))
    check_known("--seed", list(map(str, seeds)), [str(run.seed) for run in result])
    of_case = names(by_case)
    for case, runs in by_case.items():
        if not aqms or case.aqm in aqms:
            for run in runs:
                if not seeds or run.seed in seeds:
                    name = of_case[case]
                    shown = case.host in ("sim", name.rpartition(", ")[2])
                    yield name if shown else f"{name}, {case.host}", run


def _file_name(words: Sequence[str], taken: set[str]) -> str:
    whole = "-".join(words)
    name = re.sub(r"[^A-Za-z0-9._=@-]+", "_", whole)
    if len(name) > _LONGEST or name in taken:
        name = f"{name[:_LONGEST]}-{digest(whole.encode())[:8]}"
    taken.add(name)
    return name


_FLENT_VERSION = 4
_FLENT_TEST = "qdisc-stats"
# Columns of the series by flent's names for its test; the others keep their own.
_FLENT_SERIES = {
    f"{_FLENT_TEST}::delay": ("queue_delay_ms", "ms"),
    f"{_FLENT_TEST}::backlog_pkts": ("queue_pkts", "packets"),
    "system delay": ("system_delay_ms", "ms"),
    "utilisation": ("utilisation_pct", "%"),
    "dropped share": ("drop_pct", "%"),
    "marked share": ("mark_pct", "%"),
}


_RRUL = "rrul"
# The flows of that test; each direction is a group of the scenario.
_RRUL_TCP = ("BE", "BK", "CS5", "EF")
_RRUL_PINGS = ("UDP EF", "UDP BK", "UDP BE", "ICMP")
# It pings for so long before and after the TCP flows.
_RRUL_DELAY_S = 5


def _flent_parts(run: Run) -> Sequence[str]:
    """List the run's recorded queues, and the test itself. InputError: no queue was recorded."""
    if not run.report["queues"]:
        raise InputError(
            "no queue was recorded: one is measured where its link has a rate or a trace"
        )
    queues = [str(queue["name"]) for queue in run.report["queues"]]
    return [*queues, *([_RRUL] if _is_rrul(run) and _RRUL not in queues else [])]


def _is_rrul(run: Run) -> bool:
    """Tell whether the run has the flows of flent's test."""
    groups = Counter(str(flow["name"]) for flow in run.report["flows"])
    are_four = groups["download"] == groups["upload"] == len(_RRUL_TCP)
    return are_four and len(run.report.get("echoes") or ()) == len(_RRUL_PINGS)


def _write_flent(
    path: Path,
    about: Mapping[str, str],
    run: Run,
    part: str,
    advance: Callable[[float], None],
) -> None:
    """Write the file of one queue, or of the test."""
    text = json.dumps(_flent_data(path.name, about, run, part), indent=1, sort_keys=True)
    # The same bytes each time.
    write_whole(path, gzip.compress(text.encode(), mtime=0))


@dataclass(frozen=True)
class _Series:
    """A curve of flent's: a value at each time, and the samples behind it."""

    values: Sequence[float | None]
    unit: str
    raw: Sequence[Mapping[str, float | None]] = ()


def _numbers(column: Any) -> list[float | None]:
    return [None if math.isnan(number) else float(number) for number in column]


def _of_queue(run: Run, queue: str) -> tuple[list[float], dict[str, _Series]]:
    """Return the times and curves of a queue."""
    import numpy as np

    table = run.series()
    rows = np.array(table["queue"].to_pylist()) == queue
    time_s = _times(table, rows)
    curves = {
        name: _Series(_numbers(table[column].to_numpy()[rows]), unit)
        for name, (column, unit) in _FLENT_SERIES.items()
    }
    raw = [
        {"t": t, **{k.partition("::")[2]: s.values[i] for k, s in curves.items() if "::" in k}}
        for i, t in enumerate(time_s)
    ]
    return time_s, {**curves, _FLENT_TEST: _Series((), "", raw)}


def _times(table: Any, rows: Any) -> list[float]:
    return [float(t) for t in table["t_s"].to_numpy()[rows]]


def _of_rrul(run: Run) -> tuple[list[float], dict[str, _Series]]:
    """Return the times and curves of the test."""
    import numpy as np

    table = run.group_series()
    assert table is not None  # where a queue has a series, groups have one
    groups = np.array(table["group"].to_pylist())
    time_s = _times(table, groups == "download")
    curves: dict[str, _Series] = {}
    totals = np.zeros(len(time_s))
    for way in ("upload", "download"):
        mbps = table["goodput_mbps"].to_numpy()[groups == way]
        totals += mbps
        mean = _Series(_numbers(mbps / len(_RRUL_TCP)), "Mbits/s")
        curves |= {f"TCP {way} {name}": mean for name in (*_RRUL_TCP, "avg")}
        curves[f"TCP {way} sum"] = _Series(_numbers(mbps), "Mbits/s")
    curves["TCP totals"] = _Series(_numbers(totals), "Mbits/s")
    pings = np.full((len(_RRUL_PINGS), len(time_s)), np.nan)
    for own, name, entry in zip(pings, _RRUL_PINGS, run.report["echoes"], strict=True):
        came = [
            (sent_s, rtt_ms)
            for sent_s, rtt_ms in zip(entry["sent_s"], entry["rtt_ms"], strict=True)
            if rtt_ms is not None
        ]
        # The step in which it was sent; steps are named by their ends.
        for sent_s, rtt_ms in came:
            own[min(bisect_right(time_s, sent_s), len(time_s) - 1)] = rtt_ms
        raw = [{"t": sent_s, "val": rtt_ms} for sent_s, rtt_ms in came]
        curves[f"Ping (ms) {name}"] = _Series(_numbers(own), "ms", raw)
    counts = np.sum(~np.isnan(pings), axis=0)
    means = np.nansum(pings, axis=0) / np.where(counts, counts, np.nan)
    curves["Ping (ms) avg"] = _Series(_numbers(means), "ms")
    return time_s, curves


def _flent_data(name: str, about: Mapping[str, str], run: Run, part: str) -> dict[str, Any]:
    """Return the data of the file."""
    is_rrul = part not in [str(queue["name"]) for queue in run.report["queues"]]
    time_s, curves = _of_rrul(run) if is_rrul else _of_queue(run, part)
    scenario = run.entry.scenario()
    meta: dict[str, dict[str, Any]] = {}
    for series, curve in curves.items():
        measured = [number for number in curve.values if number is not None]
        mean = sum(measured) / len(measured) if measured else None
        meta[series] = {"UNITS": curve.unit, "MEAN_VALUE": mean}
    try:
        begin = datetime.fromisoformat(about["made"]).astimezone(UTC)
    except ValueError:
        begin = datetime.fromtimestamp(0, UTC)  # a simulated run has no other date
    raw = {
        series: [{**sample, "t": begin.timestamp() + (sample["t"] or 0)} for sample in curve.raw]
        for series, curve in curves.items()
        if curve.raw
    }
    length_s = scenario["duration"] / 1e9
    stamp = begin.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    metadata = {
        "NAME": _RRUL if is_rrul else _FLENT_TEST,
        "TITLE": f"{about['scenario']}: {about['run']}, {part}",
        "TIME": stamp,
        "T0": stamp,
        "LENGTH": length_s - 2 * _RRUL_DELAY_S if is_rrul else length_s,
        "TOTAL_LENGTH": length_s,
        "STEP_SIZE": scenario["record"]["series"] / 1e9,
        "HOST": str(run.labels["host"]),
        "HOSTS": [str(run.labels["host"])],
        "LOCAL_HOST": "sojourn",
        "NOTE": about["command"],
        "DATA_FILENAME": name,
        "TEST_PARAMETERS": {} if is_rrul else {"interface": part},
        "SERIES_META": meta,
        # Flent has no names for the aggregates; they are as in result.json.
        "SOJOURN": {"version": about["version"], "labels": dict(run.labels), **run.report},
    }
    return {
        "version": _FLENT_VERSION,
        "x_values": time_s,
        "results": {series: curve.values for series, curve in curves.items() if curve.values},
        "raw_values": raw,
        "metadata": metadata,
    }


_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_BYTE_ORDER = 0x1A2B3C4D
_COMMENT, _NAME, _APPLICATION, _RESOLUTION, _FLAGS = 1, 2, 4, 9, 2
_ETHERNET = 1
_OUTBOUND = 2
_HEADER_BYTES = 14 + 20
_COLUMNS = ("at_ns", "enq_ns", "flow", "len_bytes", "ecn", "why")
# Packets between two reports of progress.
_TOLD_EVERY = 1 << 16


def _pcapng_parts(run: Run) -> Sequence[str]:
    """Return one part: one file holds all queues. InputError: the run kept no packets."""
    if run.entry.event_batches(_COLUMNS) is None:
        raise InputError(
            f"{', '.join(map(str, run.labels.values()))}: its packets were not kept; a run keeps "
            "them where the scenario says record.events = true"
        )
    return [""]


def _write_pcapng(
    path: Path,
    about: Mapping[str, str],
    run: Run,
    part: str,
    advance: Callable[[float], None],
) -> None:
    """Write the file, block by block."""
    queues = [str(queue["name"]) for queue in run.report["queues"]]
    with replacing(path) as file:
        file.write(_head(about, run))
        for queue in queues:
            options = [(_NAME, queue.encode()), (_RESOLUTION, b"\x09")]
            file.write(_block(_INTERFACE, struct.pack("<HHI", _ETHERNET, 0, 0), options))
        for done, block in enumerate(_packets(run, queues)):
            file.write(block)
            if done % _TOLD_EVERY == 0:
                advance(done / run.entry.event_count())


def _head(about: Mapping[str, str], run: Run) -> bytes:
    left_out = sum(int(queue["events_left_out"]) for queue in run.report["queues"])
    comment = f"{about['scenario']}: {about['run']}"
    if left_out:
        comment += f"; {left_out} packets at the end were too many to keep"
    options = [
        (_COMMENT, comment.encode()),
        (_APPLICATION, f"Sojourn {about['version']}".encode()),
    ]
    return _block(_SECTION, struct.pack("<IHHq", _BYTE_ORDER, 1, 0, -1), options)


def _packets(run: Run, queues: Sequence[str]) -> Iterator[bytes]:
    """Yield the packets of all queues in the order of time; a run keeps them queue by queue."""
    reasons = _native.reason_names()
    passages = [_passages(run, queue, number) for number, queue in enumerate(queues)]
    for at, interface, enq, flow, length, ecn, why in heapq.merge(*passages):
        packet = _header(flow, length, ecn)[:length]
        waited = f"after {(at - enq) / 1e6:.6f} ms in the queue"
        verdict = f"dropped: {reasons[why]}" if why else "sent"
        body = struct.pack("<IIIII", interface, at >> 32, at & 0xFFFFFFFF, len(packet), length)
        options = [
            (_COMMENT, f"{verdict}, {waited}".encode()),
            (_FLAGS, struct.pack("<I", _OUTBOUND)),
        ]
        yield _block(_PACKET, body + _padded(packet), options)


def _passages(run: Run, queue: str, number: int) -> Iterator[tuple[int, ...]]:
    import pyarrow.compute as pc

    for piece in run.entry.event_batches(("queue", *_COLUMNS)) or ():
        mine = piece.filter(pc.equal(piece["queue"], queue))
        columns = [mine[name].to_pylist() for name in _COLUMNS]
        yield from zip(columns[0], [number] * len(mine), *columns[1:], strict=True)


@lru_cache(maxsize=4096)
def _header(flow: int, length: int, ecn: int) -> bytes:
    """Build the Ethernet and IPv4 headers of a packet; its length includes Ethernet's header."""
    source, target = (
        bytes((10, side, half >> 8, half & 255))
        for side, half in ((0, flow >> 16), (1, flow & 0xFFFF))
    )
    total = min(max(length - 14, 20), 0xFFFF)
    words = struct.pack(">BBHHHBBH", 0x45, ecn, total, 0, 0x4000, 64, 253, 0) + source + target
    checksum = sum(struct.unpack(">10H", words))
    checksum = (checksum & 0xFFFF) + (checksum >> 16)
    checksum = ~((checksum & 0xFFFF) + (checksum >> 16)) & 0xFFFF
    ethernet = b"\x02\0" + target + b"\x02\0" + source + b"\x08\0"
    return ethernet + words[:10] + struct.pack(">H", checksum) + words[12:]


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _block(kind: int, body: bytes, options: Sequence[tuple[int, bytes]]) -> bytes:
    encoded = b"".join(
        struct.pack("<HH", code, len(value)) + _padded(value) for code, value in options
    )
    length = 12 + len(body) + len(encoded) + 4
    return struct.pack("<II", kind, length) + body + encoded + bytes(4) + struct.pack("<I", length)


@dataclass(frozen=True)
class _Format:
    """A kind of file."""

    suffix: str
    # List the parts of a run that have a file each. InputError: the run lacks data of this format.
    parts: Callable[[Run], Sequence[str]]
    # Write the file of one part; the function gets the share that is written, if it takes long.
    write: Callable[[Path, Mapping[str, str], Run, str, Callable[[float], None]], None]


FORMATS = {
    "flent": _Format(".flent.gz", _flent_parts, _write_flent),
    "pcapng": _Format(".pcapng", _pcapng_parts, _write_pcapng),
}
