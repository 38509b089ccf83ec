# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A recorded link: the moments at which packets could leave, in mahimahi's format.

A file has a line for each opportunity, its time in whole milliseconds from the start; times do
not fall, and where the file ends it begins again. (Netravali et al., "Mahimahi: accurate
record-and-replay for HTTP", USENIX ATC 2015; manual of mm-link, and its `link_queue.cc`.)
"""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

NS_PER_MS = 1_000_000
# Bytes of an opportunity in mahimahi, and of the header of its tunnel, which it counts beside each
# IP packet.
OPPORTUNITY_BYTES = 1504
HEADER_BYTES = 4
# The capacity of an opportunity that is one packet's: a full frame.
FRAME_BYTES = 1514
BIN_MS = 100
# 100,000 s of bins: more than a day.
MAX_DURATION_NS = 1_000_000 * BIN_MS * NS_PER_MS
# The lowest rate of the engine.
LEAST_RATE_BPS = 8
# More than 10^8 lines: over half an hour of a link that sends each 20 us.
_MOST_BYTES = 1 << 30
# The engine keeps times in ms in 32 bits.
MAX_MS = 2**32 - 1


def text(path: Path, what: str, most_bytes: int) -> str:
    """Read a text file; raise ValueError with the reason if it is none, or larger than
    `most_bytes`."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ValueError(f"'{path}' is no plain file")
    try:
        if path.stat().st_size > most_bytes:
            raise ValueError(f"'{path}' is larger than {most_bytes >> 20} MiB")
        with io.TextIOWrapper(io.BytesIO(path.read_bytes()), encoding="utf-8-sig") as read_as_text:
            return read_as_text.read()
    except OSError as error:
        raise ValueError(f"'{path}' cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"'{path}' is no {what}: it is not text") from error


def read(path: Path) -> tuple[int, ...]:
    """Read the times of a file, in ms; raise ValueError with the reason and the line of a
    mistake."""
    lines = text(path, "trace", _MOST_BYTES).split("\n")
    if not lines[-1]:
        del lines[-1]
    times = []
    for number, line in enumerate(lines, 1):
        word = line.strip()
        if not (word.isascii() and word.isdigit()) or len(word) > len(str(MAX_MS)):
            raise ValueError(
                f"'{path}', line {number}: {line[:40]!r} is no time in whole milliseconds"
            )
        times.append(int(word))
    try:
        return checked(times)
    except ValueError as error:
        raise ValueError(f"'{path}': {error}") from error


def checked(times_ms: Sequence[int]) -> tuple[int, ...]:
    """Return the times if they make a trace; else raise ValueError."""
    if not times_ms or not times_ms[-1]:
        raise ValueError("a trace needs at least one opportunity after 0 ms")
    if times_ms[0] < 0 or max(times_ms) > MAX_MS:
        raise ValueError(f"a time is outside 0 to {MAX_MS} ms")
    for number, (earlier, later) in enumerate(pairwise(times_ms), 2):
        if later < earlier:
            raise ValueError(f"time {number} of the trace, {later} ms, is before {earlier} ms")
    return tuple(times_ms)


def to_engine(times_ms: tuple[int, ...], duration_ns: int, *, by_packet: bool) -> dict[str, object]:
    """Make the keys of an engine's link for a run: the times until its end and the last, which ends
    the cycle, and the rates that Linux has in their place. With `by_packet` each opportunity is one
    packet's."""
    each_bytes = FRAME_BYTES if by_packet else OPPORTUNITY_BYTES
    end_ms = -(-duration_ns // NS_PER_MS)
    within = bisect_right(times_ms, end_ms)
    return {
        "rate": mean_rate_bps(times_ms, each_bytes),
        "schedule": binned(times_ms, duration_ns, each_bytes),
        "trace": [*times_ms[:within], *times_ms[within:][-1:]],
        "traced": True,
        **({} if by_packet else {"header": HEADER_BYTES}),
    }


def mean_rate_bps(times_ms: Sequence[int], each_bytes: int) -> int:
    """Return the capacity of a whole cycle."""
    rate_bps = len(times_ms) * each_bytes * 8 * 1000 // times_ms[-1]
    return max(LEAST_RATE_BPS, rate_bps)


def binned(times_ms: tuple[int, ...], duration_ns: int, each_bytes: int) -> list[dict[str, int]]:
    """Make rates of BIN_MS each of a trace, in the form of the engine's schedule. At a rate of zero
    a packet would never leave: a bin without an opportunity has the rate of one."""
    import numpy as np

    bins = -(-duration_ns // (BIN_MS * NS_PER_MS))
    times, cycle_ms = np.asarray(times_ms, np.int64), times_ms[-1]
    # Opportunities before the edge of each bin: those of whole cycles, and of the current one.
    # Opportunities at the very end of a cycle are not before that end.
    edges = np.arange(bins + 1, dtype=np.int64) * BIN_MS
    cycles, within = np.divmod(edges, cycle_ms)
    before = cycles * len(times) + np.searchsorted(times, within)
    before -= np.where((within == 0) & (cycles > 0), times_ms.count(cycle_ms), 0)
    counts = np.diff(before)
    rates_bps = np.maximum(counts, 1) * (each_bytes * 8 * 1000 // BIN_MS)
    changes = np.flatnonzero(np.diff(rates_bps, prepend=-1))
    return [{"at": int(i) * BIN_MS * NS_PER_MS, "rate": int(rates_bps[i])} for i in changes]
