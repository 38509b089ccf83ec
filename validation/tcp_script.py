# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""tcp_script.py: the text format of TCP scripts, and of the traces made from them.

A script says how one end of a connection, the one under test, is set up, what its
application does, and what it meets: a path to a scripted peer with stated losses,
or segments at stated times. Times are milliseconds from the start, data is counted
in full segments, the first being 1. `#` begins a comment.

    set KEY VALUE           a switch of the end under test (see SWITCHES)
    set rcvbuf BYTES        its application sets SO_RCVBUF
    path rtt MS [rate MBPS] [queue PKTS] [every N]
                            the peer acknowledges every Nth segment (default 1) after a
                            round trip; a rate adds a queue that loses what it cannot hold
    lose N[xK] ...          first (or first K) transmission of segment N is lost
    hold N MS               first transmission of segment N comes MS late
    mark FROM TO            first transmissions of these segments arrive marked CE
    mute FROM TO            whatever is sent between these times is lost
    late FROM TO MS         acknowledgements due between these times come MS later
    window BYTES            receive window of the peer
    at MS write BYTES       the application writes
    at MS close             the application has no more to say
    at MS data A[-B] [gap MS] [ce] [push] [cwr]
                            the peer sends segments A to B, `gap` apart
    at MS fin               the peer closes
    tolerance MS REASON     allowed difference in time, if not the usual one
    end MS                  the last moment recorded
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

# Switch of the engine's TCP -> sysctl under net.ipv4 and its value for off and on.
SWITCHES = {
    "ecn": ("tcp_ecn", "0", "1"),
    "sack": ("tcp_sack", "0", "1"),
    "dsack": ("tcp_dsack", "0", "1"),
    "timestamps": ("tcp_timestamps", "0", "1"),
    "rack": ("tcp_recovery", "0", "1"),
    "tlp": ("tcp_early_retrans", "0", "3"),
    "frto": ("tcp_frto", "0", "2"),
    "slow_start_after_idle": ("tcp_slow_start_after_idle", "0", "1"),
}
# `gso`: whether the stack may build segments larger than a packet.
SETTINGS = {
    "role": ("client", "server"),
    "cc": ("cubic", "reno", "htcp", "dctcp"),
    "gso": ("0", "1"),
}
DEFAULTS = {"role": "client", "cc": "cubic", "ecn": "0", "gso": "0"}
SEGMENT_BYTES = 1448


class ScriptError(Exception):
    """A line of a script that is not understood."""


@dataclass(frozen=True)
class Step:
    """One dated line: an action of the application or of the peer."""

    at_ms: float
    verb: str
    number: int = 0
    marks: frozenset[str] = frozenset()  # of "push", "ce", "cwr"


@dataclass
class Script:
    """A parsed script."""

    settings: dict[str, str] = field(default_factory=lambda: dict(DEFAULTS))
    rtt_ms: float = 50.0
    rate_mbps: float = 0.0
    queue_pkts: int = 1_000_000
    ack_every: int = 1
    lose: dict[int, int] = field(default_factory=dict)
    hold_ms: dict[int, float] = field(default_factory=dict)
    mark: list[tuple[int, int]] = field(default_factory=list)
    mute_ms: list[tuple[float, float]] = field(default_factory=list)
    late_ms: list[tuple[float, float, float]] = field(default_factory=list)
    window_bytes: int = 64 << 20
    steps: list[Step] = field(default_factory=list)
    end_ms: float = 1000.0


def parse(text: str) -> Script:
    """Read a script; the error names the line."""
    script = Script()
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        try:
            LINES[words[0]](script, words[1:])
        except (KeyError, ValueError, IndexError) as error:
            raise ScriptError(f"line {number}: {line.strip()!r}: {error!r}") from None
    return script


def _set(script: Script, words: list[str]) -> None:
    key, value = words
    if key == "rcvbuf" and int(value) > 0:
        script.settings[key] = value
        return
    if value not in SETTINGS.get(key, ("0", "1") if key in SWITCHES else ()):
        raise ValueError("unknown setting or value")
    script.settings[key] = value


def _path(script: Script, words: list[str]) -> None:
    for key, value in zip(words[::2], words[1::2], strict=True):
        if key == "rtt":
            script.rtt_ms = float(value)
        elif key == "rate":
            script.rate_mbps = float(value)
        elif key == "queue":
            script.queue_pkts = int(value)
        elif key == "every":
            script.ack_every = int(value)
        else:
            raise KeyError(key)


def _lose(script: Script, words: list[str]) -> None:
    for word in words:
        segment, _, times = word.partition("x")
        script.lose[int(segment)] = int(times or 1)


def _hold(script: Script, words: list[str]) -> None:
    script.hold_ms[int(words[0])] = float(words[1])


def _mark(script: Script, words: list[str]) -> None:
    script.mark.append((int(words[0]), int(words[1])))


def _mute(script: Script, words: list[str]) -> None:
    script.mute_ms.append((float(words[0]), float(words[1])))


def _late(script: Script, words: list[str]) -> None:
    script.late_ms.append((float(words[0]), float(words[1]), float(words[2])))


def _window(script: Script, words: list[str]) -> None:
    script.window_bytes = int(words[0])


def _end(script: Script, words: list[str]) -> None:
    script.end_ms = float(words[0])


def _tolerance(script: Script, words: list[str]) -> None:
    """Read by the comparison only, but a reason is due here."""
    if float(words[0]) <= 0 or len(words) < 2:
        raise ValueError("a tolerance needs its reason")


def _at(script: Script, words: list[str]) -> None:
    at_ms, verb, rest = float(words[0]), words[1], words[2:]
    if verb == "data":
        first, _, last = rest[0].partition("-")
        gap = float(rest[rest.index("gap") + 1]) if "gap" in rest else 0.0
        for i, segment in enumerate(range(int(first), int(last or first) + 1)):
            marks = frozenset(rest) & {"push", "ce", "cwr"}
            script.steps.append(Step(at_ms + i * gap, "data", segment, marks))
    elif verb in ("write", "close", "fin"):
        script.steps.append(Step(at_ms, verb, int(rest[0]) if rest else 0))
    else:
        raise KeyError(verb)


LINES = {
    "set": _set,
    "path": _path,
    "lose": _lose,
    "hold": _hold,
    "mark": _mark,
    "mute": _mute,
    "late": _late,
    "window": _window,
    "at": _at,
    "end": _end,
    "tolerance": _tolerance,
}


@dataclass
class Segment:
    """A segment with sequence numbers from its sender's SYN, which is at 0."""

    flags: str
    seq: int
    ack: int = 0
    length: int = 0
    window: int = 0
    ts_val: int = 0
    ts_ecr: int = 0
    sack: tuple[tuple[int, int], ...] = ()
    ecn: int = 0

    @property
    def end(self) -> int:
        """The number after the last one taken; SYN and FIN take one each."""
        return self.seq + self.length + ("S" in self.flags) + ("F" in self.flags)

    def line(self) -> str:
        """As a trace shows it."""
        text = f"{self.flags} seq {self.seq} len {self.length} ack {self.ack} win {self.window}"
        if self.ts_val:
            text += f" ts {self.ts_val} {self.ts_ecr}"
        if self.sack:
            text += " sack " + " ".join(f"{left}-{right}" for left, right in self.sack)
        return text + (f" ecn {self.ecn}" if self.ecn else "")


def scripts() -> list[Path]:
    """All scripts of the folder, by name."""
    return sorted((Path(__file__).resolve().parent / "tcp").glob("*.script"))
