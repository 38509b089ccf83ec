# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""page.py: docs/validation.md as text, from the compared cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import product, takewhile
from typing import TYPE_CHECKING

from sojourn.core.table import markdown

from validation import harnesses
from validation.cell import QUEUES, WINDOWS
from validation.figures import AIMED, FAIR, SHOWN, Verdict
from validation.lines import WORDS, figure, ranged, ratio
from validation.recorded import COMMAND, Recorded
from validation.tcp_script import scripts

if TYPE_CHECKING:
    from validation.compare import Compared

# The order of columns.
COLUMNS = (AIMED[0], AIMED[1], SHOWN[0], AIMED[2], *SHOWN[1:], *FAIR)

INTRODUCTION = """\
<!-- SPDX-FileCopyrightText: 2026 The Sojourn authors -->
<!-- SPDX-License-Identifier: MIT OR GPL-2.0-only -->

# The engine beside Linux

<!-- Made by validation/compare.py; edit that, or validation/causes.toml, not this. -->

Each cell is one dumbbell, run twice: on Linux's own stack and queueing disciplines in
virtual time, and on the engine with its own TCP and the same algorithm's C file.

- The cells are sweeps: `validation/dumbbells/*.toml`. `sojourn sweep` runs each of them on both
  hosts, in the simulator and with the package's own Linux host.
- {kernel}; what it gave is kept in `validation/linux/`: [two harnesses](#two-harnesses-on-linux)
  recorded it. `{command}` records all cells anew, with the
  package's. `make validation` runs the engine's side and writes this page (some minutes);
  `make test` fails when the page is not what the engine gives.
- Cells: {rates} Mbit/s × {flows} flows × round trips of {rtts} ms × pfifo (1000 packets),
  codel and pie (stock defaults, limit 1000) × cubic and reno; ECN off. HTB with a burst of
  two packets has the queue as its only leaf; the whole delay is on the way back.
- Flow i starts at 25 ms × i plus up to 1 ms that differs between seeds: the same instants on
  both sides. Offloads are off, and no end builds segments larger than a packet.
- Windows: *start* is the first {steady} s, slow start included; *steady* is the rest, up to
  {durations}.
- Further cells change one thing at a time, at 10 Mbit/s with 20 ms and at 100 Mbit/s with 100 ms,
  10 reno or 40 cubic flows: all flows start at one instant (*together*); receivers ask for
  {rcvbuf} MB by SO_RCVBUF (*rcvbuf*); round trips of {mixed} ms in turn. Six of them have {back}
  flows back through a queue of the same kind (*back*).
- CoDel and PIE run in Linux's form (`form = "linux"`; PIE with `tupdate = "16 ms"`, which is what
  15 ms become on a timer wheel of 1 ms). What our form, the default, gives stands beside it.
- On Linux each packet's delay is taken outside the queue, by packet sockets before and
  behind it. Delay counts packets that left in the window; loss is dropped packets
  per arrived packet; retransmissions and timeouts are the sender's counters; goodput is what
  reached a receiver in order.
- Figures are means over seeds, as many on either side: {seeds}. A ratio is engine over Linux.
  A seed moves the flows' starts and PIE's draws. Without PIE, cells of one flow hardly move.

Aims: utilisation within 2 points, mean delay within 10 % or 1 ms, loss within 20 %; Jain's index
within 0.03, the least flow within 0.1 of the fair share. Linux's own spread is its mean ± 3
standard deviations over the seeds. What misses its aim lies inside the spread, or outside both;
where the spread is wider than three times the aim, being inside says nothing: undecidable. What
misses its aim is marked **bold** and listed at the end with its cause: a trial in which one thing
was changed, and what it then gave; otherwise "unexplained". Retransmissions and timeouts have no
aim.
"""

TRUST = """\
## How far the simulator can be trusted

- In steady state {steady} of {all_steady} windows of the grid meet the aims for utilisation, mean
  delay and loss together; in the first {seconds} s, slow start included, {start} of {all_start}.
- A single flow's first seconds at 100 ms, and how flows of 500 Mbit/s share at 100 ms, hang on the
  place of single packets: look at several seeds and round trips before you build on such a figure.
- Not compared here: `duk`, `choke` and `sfb` (in a kernel they make the same verdicts, packet by
  packet: [linux.md](linux.md)), ECN, short transfers, UDP, traces of links.
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


def cell_row(row: Compared) -> list[str]:
    """One cell: what it is, then Linux, engine and ratio of each figure, then our form."""
    cell = row.cell
    more = cell.name.split(f"-{cell.queue}")[1].replace("-", " ")
    words = ["+".join(map(str, cell.rtts_ms)), str(cell.flows), cell.queue + more, cell.control]
    for key in COLUMNS:
        if key in FAIR and cell.flows == 1:
            words.append("")
            continue
        linux, engine = row.mean("linux", key), row.mean("engine", key)
        text = f"{figure(linux)} / {figure(engine)} / {ratio(linux, engine)}"
        words.append(f"**{text}**" if key in row.missed else text)
    ours = [figure(row.mean("ours", key)) for key in AIMED] if row.ours else []
    return [*words, " / ".join(ours)]


def count(rows: Sequence[Compared], verdict: Verdict) -> str:
    return str(sum(row.verdict == verdict for row in rows))


def summary(compared: Sequence[Compared], groups: Sequence[tuple[str, Sequence[Compared]]]) -> str:
    """How many windows of each group meet each aim."""
    lines = []
    for name, rows in [*groups, ("all", compared)]:
        each = [sum(row.verdicts[key] == Verdict.AIM for row in rows) for key in AIMED]
        inside = f"**{count(rows, Verdict.AIM)}** of {len(rows)}"
        rest = [count(rows, verdict) for verdict in list(Verdict)[1:]]
        lines.append([name, *map(str, each), inside, *rest])
    titles = [key.title.removesuffix(" ms").removesuffix(" %") for key in AIMED]
    header = ["windows", *titles, "all three by the aim", "by the spread", "undecidable", "outside"]
    return markdown(header, lines)


def fairness(compared: Sequence[Compared]) -> str:
    """Jain's index and the least flow, of windows with several flows."""
    rows = [row for row in compared if row.cell.flows > 1]
    lines = []
    for key in FAIR:
        found = [row.verdicts[key] for row in rows]
        aim, near, open_, out = (found.count(verdict) for verdict in Verdict)
        share = 100 * aim / max(1, len(rows) - open_)
        inside = f"**{aim}** of {len(rows) - open_} ({share:.0f} %)"
        lines.append([key.title, inside, str(near), str(open_), str(out)])
    header = ["", "by the aim, of the decidable", "by the spread", "undecidable", "outside"]
    return markdown(header, lines)


def forms(compared: Sequence[Compared]) -> str:
    """What our forms of CoDel and PIE do beside Linux's."""
    lines = []
    for queue in QUEUES:
        rows = [row for row in compared if row.cell.queue == queue and row.ours]
        counts = []
        for side in ("engine", "ours"):
            verdicts = [row.verdicts_of(side) for row in rows]
            counts.append(sum(max(v[k] for k in AIMED) == Verdict.AIM for v in verdicts))
        if rows:
            lines.append([queue, *(f"**{n}** of {len(rows)}" for n in counts)])
    return markdown(["windows by the aim", "Linux's form", "our form"], lines)


def listed(key: str) -> str:
    """How an outsider's line begins."""
    return f"- `{key}`:"


def outsider(row: Compared, causes: dict[str, str]) -> str:
    """A window that misses an aim: by what, and why."""
    parts = []
    for key in row.missed:
        linux, engine = (ranged(row.values(side, key)) for side in ("linux", "engine"))
        verdict = row.verdicts[key]
        found = [
            text for cell, text in causes.items() if re.fullmatch(cell, f"{row.key}: {key.title}")
        ]
        none = "unexplained" if verdict == Verdict.OUTSIDE else "Linux's own seeds differ so"
        why = f"{WORDS[verdict]}; {found[0] if found else none}"
        parts.append(f"{key.title} {linux} on Linux, {engine} on the engine ({why})")
    return f"{listed(row.key)} {'; '.join(parts)}"


def missed(compared: Sequence[Compared], causes: dict[str, str]) -> Iterable[str]:
    """Every window that misses an aim."""
    for row in compared:
        if max(row.verdicts.values()) != Verdict.AIM:
            yield outsider(row, causes)


def tables(compared: Sequence[Compared]) -> Iterable[str]:
    """All cells, the grid first."""
    columns = ["RTT ms", "flows", "queue", "cc", *(key.title for key in COLUMNS)]
    columns.append("our form: " + " / ".join(key.title for key in AIMED))
    for further, rate, window in product((False, True), rates(compared), WINDOWS):
        rows = [
            cell_row(row)
            for queue in QUEUES
            for row in compared
            if (row.cell.further, row.cell.rate_mbps) == (further, rate)
            and (row.window, row.cell.queue) == (window, queue)
        ]
        if rows:
            name = f"{rate} Mbit/s, {window}" + (", further cells" if further else "")
            yield f"### {name}\n\n{markdown(columns, rows)}"


def headed(text: str) -> set[tuple[str, str]]:
    """Each line of the tables of cells, with the heading that it stands under."""
    found, heading = set(), ""
    for line in text.splitlines():
        if line.startswith("#"):
            heading = line
        elif line.startswith("| ") and heading.startswith("### "):
            found.add((heading, line))
    return found


def grouped(compared: Sequence[Compared]) -> list[tuple[str, list[Compared]]]:
    """The grid by rate and window, the further cells by what they change."""
    found: dict[str, list[Compared]] = {}
    for row in compared:
        cell = row.cell
        name = f"{cell.rate_mbps} Mbit/s, {row.window}"
        if cell.further:
            name = "together" if cell.together else "rcvbuf" if cell.rcvbuf_bytes else "mixed RTTs"
        found.setdefault(name, []).append(row)
    return list(found.items())


def seeds(compared: Sequence[Compared]) -> str:
    """How many there are, by rate."""
    words = []
    for rate in rates(compared):
        counts = sorted({len(row.linux) for row in compared if row.cell.rate_mbps == rate})
        number = " to ".join(map(str, sorted({counts[0], counts[-1]})))
        words.append(f"{number} at {rate} Mbit/s")
    return ", ".join(words)


def rates(compared: Sequence[Compared]) -> list[int]:
    """Of the links, in Mbit/s."""
    return sorted({row.cell.rate_mbps for row in compared})


def numbers(found: Iterable[int], last: str = ", ") -> str:
    """Each once."""
    words = [*map(str, sorted({*found} - {0}))]
    return last.join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def introduction(compared: Sequence[Compared], kernel: str) -> str:
    """What was run, how, and what is aimed at."""
    grid = [row.cell for row in compared if not row.cell.further]
    more = [row.cell for row in compared if row.cell.further]
    ends = {row.cell.rate_mbps: row.edges_s[-1] for row in compared}
    return INTRODUCTION.format(
        kernel=kernel,
        command=COMMAND,
        rates=numbers(cell.rate_mbps for cell in grid),
        flows=numbers(cell.flows for cell in grid),
        rtts=numbers((rtt for cell in grid for rtt in cell.rtts_ms), " and "),
        steady=compared[0].edges_s[1],
        durations=", ".join(f"{ends[rate]} s at {rate} Mbit/s" for rate in rates(compared)),
        rcvbuf=numbers(cell.rcvbuf_bytes >> 20 for cell in more),
        mixed=numbers(rtt for cell in more if len(cell.rtts_ms) > 1 for rtt in cell.rtts_ms),
        back=numbers(cell.back for cell in more),
        seeds=seeds(compared),
    )


def write(compared: Sequence[Compared], linux: Recorded, causes: dict[str, str]) -> str:
    """The whole page."""
    parts = [introduction(compared, linux.kernel), trust(compared), "## Summary\n"]
    for title, of in (("The grid", False), ("Further cells", True)):
        rows = [row for row in compared if row.cell.further == of]
        if rows:
            parts.append(
                f"{title}: windows by how near they are.\n\n{summary(rows, grouped(rows))}"
            )
    parts.append("Fairness among the flows forth, all cells of several flows:\n")
    parts.append(fairness(compared))
    parts.append("Forms of CoDel and PIE, all cells:\n")
    parts.append(forms(compared))
    parts.append(harnesses.section(compared, linux))
    parts.append("## All cells\n\nEach figure: Linux / engine / ratio.\n")
    parts.extend(tables(compared))
    parts.append("## What misses an aim\n")
    parts.append(("\n".join(missed(compared, causes)) or "None.") + "\n")
    parts.append(scripted())
    return "\n".join(parts)


def trust(compared: Sequence[Compared]) -> str:
    """What the summary comes to."""
    words: dict[str, int] = {"seconds": compared[0].edges_s[1]}
    for window in WINDOWS:
        rows = [row for row in compared if row.window == window and not row.cell.further]
        words[window] = sum(row.verdict == Verdict.AIM for row in rows)
        words[f"all_{window}"] = len(rows)
    return TRUST.format(**words)


def scripted() -> str:
    """What the TCP scripts show, each in its own first words."""
    rows = []
    for path in scripts():
        lines = path.read_text().splitlines()[2:]
        said = [line.removeprefix("#").strip() for line in takewhile(is_comment, lines)]
        rows.append([f"`{path.stem}`", " ".join(said)])
    return f"{SCRIPTED}\n{markdown(['script', 'shows'], rows)}"


def is_comment(line: str) -> bool:
    return line.startswith("#")
