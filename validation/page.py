# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""page.py: docs/validation.md as text, from the compared cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from validation.cells import (
    DURATION_MS,
    FLOWS,
    QUEUES,
    RATES_MBPS,
    RTTS_MS,
    STEADY_FROM_MS,
    WINDOWS,
)
from validation.tcp_script import scripts

if TYPE_CHECKING:
    from validation.compare import Compared

NAMES = {
    "utilisation_pct": "utilisation %",
    "mean_ms": "mean delay ms",
    "p95_ms": "p95 delay ms",
    "loss_pct": "loss %",
    "retransmitted_pkts": "retransmissions",
    "timeouts": "timeouts",
}
AIMED = ("utilisation_pct", "mean_ms", "loss_pct")

INTRODUCTION = """\
<!-- SPDX-FileCopyrightText: 2026 The Sojourn authors -->
<!-- SPDX-License-Identifier: MIT OR GPL-2.0-only -->

# The engine beside Linux

<!-- Made by validation/compare.py; edit that, or validation/causes.toml, not this. -->

Each cell is one dumbbell, run twice: on Linux's own stack and queueing disciplines in
virtual time, and on the engine with its own TCP and the same algorithm's C file.

- {kernel}; results kept in `validation/linux/`, renewed by `{command}`.
- Cells: {rates} Mbit/s × {flows} flows × round trips of {rtts} ms × pfifo (1000 packets),
  codel and pie (stock defaults, limit 1000) × cubic and reno; ECN off. HTB with a burst of
  two packets has the queue as its only leaf; the whole delay is on the way back.
- Flow i starts at 25 ms × i plus up to 1 ms that differs between seeds: the same instants on
  both sides. Offloads are off, and no end builds segments larger than a packet.
- Windows: *start* is the first {steady} s, slow start included; *steady* is the rest, up to
  {durations}.
- On Linux each packet's delay is taken outside the queue, by packet sockets before and
  behind the router. Delay counts packets that left in the window; loss is dropped packets
  per arrived packet; retransmissions and timeouts are the sender's counters.
- Figures are means over {seeds} seeds, as many on either side; a ratio is engine over Linux.
  A seed moves the flows' starts and PIE's draws. Without PIE, cells of one flow hardly move.

Aims: utilisation within 2 points, mean delay within 10 % or 1 ms, loss within 20 %. What
lies outside is marked **bold** and listed at the end with its cause. Causes were tried, not
guessed: where one says "with Linux's form", the engine was built with that form in place of
ours for the trial, and the figure is what it then gave.
"""


SCRIPTED = """\
## TCP, segment by segment

`validation/tcp/NAME.script` says what one end of a connection meets; Linux's answers are kept
beside it in `NAME.linux.trace`, with the kernel and the command that made them (`python -m
validation.tcp_record NAME`). `cargo test --test tcp_scripts` feeds the same inputs at the same
microseconds to the engine's TCP and compares each segment: flags (but PSH), sequence and
acknowledgement numbers, length, SACK blocks, timestamp echo, ECN, time within 0.1 ms, window
within 10 %. A wider tolerance stands in its script, with the reason.
"""


def figure(value: float) -> str:
    """Three significant digits, and no more than three decimals."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3f}"


def ratio(linux: float, engine: float) -> str:
    if linux == 0:
        return "1.00" if engine == 0 else "–"
    return f"{engine / linux:.2f}"


def ranged(values: Sequence[float]) -> str:
    low, high = figure(min(values)), figure(max(values))
    return low if low == high else f"{low}–{high}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def cell_row(row: Compared) -> list[str]:
    """One cell: what it is, then Linux, engine and ratio of each figure."""
    words = [f"{row.cell.rtt_ms}", f"{row.cell.flows}", row.cell.queue, row.cell.control]
    missed = row.outside()
    for name in NAMES:
        linux, engine = row.linux.mean(name), row.engine.mean(name)
        text = f"{figure(linux)} / {figure(engine)} / {ratio(linux, engine)}"
        words.append(f"**{text}**" if name in missed else text)
    return words


def summary(compared: Sequence[Compared]) -> str:
    """How many windows meet each aim."""
    rows = []
    for rate in RATES_MBPS:
        for window in WINDOWS:
            these = [c for c in compared if c.cell.rate_mbps == rate and c.window == window]
            counts = [sum(name not in c.outside() for c in these) for name in AIMED]
            inside = sum(not c.outside() for c in these)
            line = [f"{rate} Mbit/s", window, *map(str, counts), f"**{inside}** of {len(these)}"]
            rows.append(line)
    inside = sum(not c.outside() for c in compared)
    counts = [sum(name not in c.outside() for c in compared) for name in AIMED]
    rows.append(["all", "", *map(str, counts), f"**{inside}** of {len(compared)}"])
    return table(["rate", "window", "utilisation", "mean delay", "loss", "inside"], rows)


def listed(key: str) -> str:
    """How an outsider's line begins."""
    return f"- `{key}`:"


def outsider(row: Compared, causes: dict[str, str]) -> str:
    """A window outside its aims: by what, and why."""
    parts = []
    for name in row.outside():
        linux, engine = getattr(row.linux, name), getattr(row.engine, name)
        part = f"{NAMES[name]} {ranged(linux)} on Linux, {ranged(engine)} on the engine"
        if row.overlaps(name):
            part += " (the seeds' ranges overlap)"
        parts.append(part)
    found = [text for pattern, text in causes.items() if re.fullmatch(pattern, row.key)]
    cause = found[0] if found else "unexplained"
    return f"{listed(row.key)} {'; '.join(parts)}. Cause: {cause}"


def write(compared: Sequence[Compared], kernel: str, command: str, causes: dict[str, str]) -> str:
    """The whole page."""
    seeds = sorted({len(c.linux.mean_ms) for c in compared})
    head = INTRODUCTION.format(
        kernel=kernel,
        command=command,
        rates=", ".join(map(str, RATES_MBPS)),
        flows=", ".join(map(str, FLOWS)),
        rtts=" and ".join(map(str, RTTS_MS)),
        steady=STEADY_FROM_MS // 1000,
        durations=", ".join(f"{ms // 1000} s at {r} Mbit/s" for r, ms in DURATION_MS.items()),
        seeds=f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0]),
    )
    parts = [head, "## Summary\n\nWindows inside each aim:\n", summary(compared)]
    parts.append("## All cells\n\nEach figure: Linux / engine / ratio.\n")
    columns = ["RTT ms", "flows", "queue", "cc", *NAMES.values()]
    for rate in RATES_MBPS:
        for window in WINDOWS:
            rows = [
                cell_row(c)
                for queue in QUEUES
                for c in compared
                if (c.cell.rate_mbps, c.window, c.cell.queue) == (rate, window, queue)
            ]
            if rows:
                parts.append(f"### {rate} Mbit/s, {window}\n\n{table(columns, rows)}")
    outside = [outsider(c, causes) for c in compared if c.outside()]
    parts.append("## Outside the aims\n\n" + ("\n".join(outside) or "None.") + "\n")
    parts.append(scripted())
    return "\n".join(parts)


def scripted() -> str:
    """What the TCP scripts show, each in its own first words."""
    rows = []
    for path in scripts():
        lines = path.read_text().splitlines()[2:]
        said = [line.removeprefix("#").strip() for line in takewhile(is_comment, lines)]
        rows.append([f"`{path.stem}`", " ".join(said)])
    return f"{SCRIPTED}\n{table(['script', 'shows'], rows)}"


def is_comment(line: str) -> bool:
    return line.startswith("#")
