# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The memory of a guest, which holds the records of all packets until the end.

The kernel's command line names the memory, and is mixed into the guest's random numbers. So the
memory depends on the scenario alone, never on the machine. A scenario runs with the usual memory
where that is enough.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

from sojourn.linux.ends import end_of, parts, recorded

USUAL_MB = 768
# TCP may hold three quarters of the usual memory; records take the memory that TCP leaves.
_USUAL_LOG_BYTES = 400_000_000
# A coarse step: similar scenarios run with the same memory.
_STEP_MB = 512
# A queue's own record of a packet, and that of a tap behind its shaper.
_LOG_BYTES_OF_PACKET = 64
# Small packets among the full ones, and drops: more packets than the rate alone says.
_MARGIN = 2
IP_BYTES = 1500
# The module keeps at most this many records (`records` of linux/qdisc/store.c).
MOST_PKTS = 1 << 26


def packets(scenario: Mapping[str, Any]) -> float:
    """Estimate how many records there may be, with a margin."""
    links = scenario["links"]
    bits = sum(_bits(link, scenario) for link in links if recorded(link, scenario))
    return _MARGIN * bits / 8 / IP_BYTES


def _bits(link: Mapping[str, Any], scenario: Mapping[str, Any]) -> float:
    """Count the bits that the link, or each stage of its end, can send in the whole run."""
    if end_of(link):
        return sum(part.most_bps for part in parts(link)) * float(scenario["duration"]) / 1e9
    rates = [(0, link["rate"])]
    rates += [(step["at"], step["rate"]) for step in link["schedule"]]
    ends = [*(at_ns for at_ns, _ in rates[1:]), scenario["duration"]]
    spans = zip(rates, ends, strict=True)
    end_ns = scenario["duration"]
    sent: int = sum(int(rate) * max(0, min(to, end_ns) - at) for (at, rate), to in spans)
    return sent / 1e9


def guest_mb(scenario: Mapping[str, Any]) -> int:
    """Compute the guest's memory from the records that it must hold."""
    more_bytes = packets(scenario) * _LOG_BYTES_OF_PACKET - _USUAL_LOG_BYTES
    steps = max(0, -int(-more_bytes // (_STEP_MB * 10**6)))
    return USUAL_MB + steps * _STEP_MB


def most_mb() -> int:
    """Return the largest memory of a guest: half of the machine's, but at least the usual."""
    machine_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(USUAL_MB, machine_bytes // 2 // 2**20)


def _floor(seconds: float) -> str:
    """Round seconds down: to two digits below 10 s, to whole seconds from there."""
    step = 10.0 ** (math.floor(math.log10(seconds)) - 1)
    return f"{math.floor(seconds / step) * step:.2g}" if step < 1 else f"{math.floor(seconds)}"


def refusal(scenario: Mapping[str, Any]) -> str:
    """Explain why its packets cannot be kept until the end; return "" where they can."""
    seconds, count = scenario["duration"] / 1e9, packets(scenario)
    wanted_mb, here_mb = guest_mb(scenario), most_mb()
    if count > MOST_PKTS:
        fits = seconds * MOST_PKTS / count
        return (
            f"too many packets to keep until the end: up to {count / 1e6:.0f} million, where "
            f"{MOST_PKTS / 1e6:.0f} million are kept; allowed at these rates: up to "
            f"{_floor(fits)} s"
        )
    if wanted_mb > here_mb:
        room = _USUAL_LOG_BYTES + (here_mb - USUAL_MB) // _STEP_MB * _STEP_MB * 10**6
        fits = seconds * room / (count * _LOG_BYTES_OF_PACKET)
        return (
            f"too many packets to keep until the end: a guest of {wanted_mb} MB, and half of this "
            f"machine's memory is {here_mb} MB; allowed here at these rates: up to {_floor(fits)} s"
        )
    return ""
