# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""page.py: docs/evidence/validation.md as text, from the compared cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sojourn.core.text import markdown

from validation import cells, harnesses
from validation.cell import QUEUES, WINDOWS
from validation.figures import AIMED, FAIR, Verdict
from validation.lines import ranged
from validation.recorded import COMMAND, Recorded
from validation.tcp_script import scripts

if TYPE_CHECKING:
    from validation.compare import Compared

INTRODUCTION = """\
<!-- SPDX-FileCopyrightText: 2026 The Sojourn authors -->
<!-- SPDX-License-Identifier: MIT OR GPL-2.0-only -->

# The engine beside Linux

<!-- Made by validation/compare.py; edit that, or validation/causes.toml, not this. -->

{networks} dumbbells run twice. One run is on Linux's own stack and queueing disciplines, in virtual
time. The other is on the engine, with its own TCP and the algorithm's C file.
[validation.csv](validation.csv) has every figure of every window.
"""

TRUST = """\
## How far the simulator can be trusted

**Agrees.** In steady state {steady} of {all_steady} windows of the grid meet the aims for
utilisation, mean delay and loss together. In the first {seconds} s, slow start included, {start} of
{all_start} do. Of the further cells {further} of {all_further} do.

**Does not agree.** {outside} windows are outside an aim and outside Linux's own spread;
[they are listed below](#outside-both). {undecided} more miss an aim where Linux's own seeds differ
too much to decide.

**Take care.** A single flow's first seconds at 100 ms hang on the place of single packets. So does
the share of each flow at 500 Mbit/s and 100 ms. Look at several seeds and round trips before you
build on such a figure.

**Not compared here:** ECN, short transfers, UDP, and traces of links. `duk`, `choke` and `sfb` are
compared packet by packet instead: [parity](parity.md).
"""

METHOD = """\
## How it is measured

- **Grid:** {rates} Mbit/s × {flows} flows × round trips of {rtts} ms × pfifo, codel and pie × cubic
  and reno. pfifo holds 1000 packets; codel and pie have stock defaults with a limit of 1000. ECN is
  off. The queue is the only leaf of an HTB with a burst of two packets. The whole delay is on the
  way back.
- **Further cells** change one thing, at 10 Mbit/s with 20 ms and at 100 Mbit/s with 100 ms, with 10
  reno or 40 cubic flows. All flows start at one instant (*together*). Or receivers ask for {rcvbuf}
  MB by SO_RCVBUF (*rcvbuf*). Or round trips are {mixed} ms in turn (*mixed RTTs*). Six of them have
  {back} flows back through a queue of the same kind.
- **Starts:** flow i starts at 25 ms × i plus up to 1 ms that differs between seeds, at the same
  instants on both sides. Offloads are off, and no end builds segments larger than a packet.
- **Windows:** *start* is the first {steady} s, slow start included. *Steady* is the rest, up to
  {durations}.
- **Forms:** CoDel and PIE run in Linux's form (`form = "linux"`). PIE has `tupdate = "16 ms"`, as
  a timer wheel of 1 ms makes of 15 ms. The column `our_form` has the figures of our form, the
  default.
- **Figures** are means over seeds, as many on either side: {seeds}. Delay counts the packets that
  left in the window. Loss is dropped packets per arrived packet. Goodput is payload that reached a
  receiver in order. On Linux packet sockets before and behind the queue take each delay.

| figure | aim |
| --- | --- |
| utilisation | within 2 points |
| mean delay | within 10 % or 1 ms |
| loss | within 20 % |
| Jain's index | within 0.03 |
| least flow | within 0.1 of the fair share |

Linux's own spread is its mean ± 3 standard deviations over the seeds. A figure that misses its aim
lies inside the spread or outside both. Where the spread is wider than three times the aim, to lie
inside says nothing: the figure is undecidable. Retransmissions and timeouts have no aim.

- The cells are sweeps, `validation/dumbbells/*.toml`; `sojourn sweep` runs each of them on both
  hosts.
- Linux is {kernel}. `validation/linux/` keeps what it gave, and `{command}` records it again.
- `make validation` runs the engine's side and writes this page and its data, in some minutes.
  `make test` fails when they are not what the engine gives.
"""

DATA = """\
## The data

[validation.csv](validation.csv) has a line for each figure of each window:

| column | meaning |
| --- | --- |
| `cell`, `window`, `figure` | what the line is of |
| `rate_mbps`, `rtt_ms`, `flows`, `queue`, `control` | the network |
| `change` | the change of a further cell |
| `linux`, `engine`, `ratio` | means over the seeds, and engine over Linux |
| `verdict` | `aim`, `inside the spread`, `undecidable`, `outside`; empty where there is no aim |
| `linux_least` to `engine_most` | the least and the most of the seeds |
| `our_form` | the engine with our form of CoDel and PIE |
| `linux_again`, `again_verdict` | Linux by the second harness, and its verdict beside the first |
| `cause` | why a figure misses its aim: a trial in which one thing changed, and its figure |

A cell's name is `RATE-RTT-FLOWSxCONTROL-QUEUE`, and the change.
"""

SCRIPTED = """\
## TCP, segment by segment

`validation/tcp/NAME.script` says what one end of a connection meets, in {scripts} scripts.
`NAME.linux.trace` beside it has Linux's answers, with the kernel and the command that made them
(`python -m validation.tcp_record NAME`). `cargo test --test tcp_scripts` feeds the same inputs at
the same microseconds to the engine's TCP and compares each segment: flags but PSH, sequence and
acknowledgement numbers, length, SACK blocks, timestamp echo and ECN. Its time must be within 0.1 ms
and its window within 10 %; a script with a wider tolerance gives the reason.

They cover handshakes, slow start and CUBIC, RACK and tail loss probes, undo, ECN and DCTCP, delayed
acknowledgements, receive windows, and whole bottlenecks with drop-tail. The first lines of each
script say what it shows.
"""


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


def outside(compared: Sequence[Compared], causes: dict[str, str]) -> str:
    """List each figure that is outside its aim and Linux's spread, with its cause."""
    lines = []
    for row in compared:
        for key in row.missed:
            if row.verdicts[key] == Verdict.OUTSIDE:
                sides = (ranged(row.values(side, key)) for side in ("linux", "engine"))
                lines.append([f"`{row.key}`", key.title, *sides, cells.cause(row, key, causes)])
    return markdown(["window", "figure", "Linux", "engine", "cause"], lines)


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


def method(compared: Sequence[Compared], linux: Recorded) -> str:
    """Say what was run, how, and with which aims."""
    grid = [row.cell for row in compared if not row.cell.further]
    more = [row.cell for row in compared if row.cell.further]
    ends = {row.cell.rate_mbps: row.edges_s[-1] for row in compared}
    return METHOD.format(
        kernel=linux.kernel,
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
    """Return the whole page."""
    parts = [
        INTRODUCTION.format(networks=len({row.cell.name for row in compared})),
        trust(compared),
        "## Summary\n",
    ]
    for title, further in (("The grid", False), ("Further cells", True)):
        rows = [row for row in compared if row.cell.further == further]
        if rows:
            parts.append(
                f"{title}: windows by how near they are.\n\n{summary(rows, grouped(rows))}"
            )
    parts.append("Fairness among the flows forth, all cells of several flows:\n")
    parts.append(fairness(compared))
    parts.append("Forms of CoDel and PIE, all cells:\n")
    parts.append(forms(compared))
    parts.append(f"### Outside both\n\n{outside(compared, causes)}")
    parts.append(method(compared, linux))
    parts.append(harnesses.section(compared, linux))
    parts.append(DATA)
    parts.append(SCRIPTED.format(scripts=len(scripts())))
    return "\n".join(parts)


def trust(compared: Sequence[Compared]) -> str:
    """Say what the summary comes to."""
    counts: dict[str, int] = {"seconds": compared[0].edges_s[1]}
    for window in WINDOWS:
        rows = [row for row in compared if row.window == window and not row.cell.further]
        counts[window] = sum(row.verdict == Verdict.AIM for row in rows)
        counts[f"all_{window}"] = len(rows)
    rows = [row for row in compared if row.cell.further]
    worst = [max(row.verdicts.values()) for row in compared]
    return TRUST.format(
        **counts,
        further=sum(row.verdict == Verdict.AIM for row in rows),
        all_further=len(rows),
        outside=worst.count(Verdict.OUTSIDE),
        undecided=worst.count(Verdict.UNDECIDABLE),
    )
