# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Where a scenario can run: the simulator, and a Linux kernel in virtual time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from sojourn.core.errors import InputError, nearest

HOSTS = ("sim", "linux")
# As tables and pages have them.
HOST_NAMES = {"sim": "simulated", "linux": "Linux"}
# Ticks per second that a kernel in virtual time can have, and those that it has unless a scenario
# asks for others.
Ticks = Literal[250, 1000]
HZ: Literal[1000] = 1000
# Congestion controls of the guest's kernel that the engine does not have.
LINUX_ONLY_CONTROLS = ("bbr", "vegas")
# The engine's that the kernel has under the same name, and the kernel's own.
LINUX_CONTROLS = ("cubic", "reno", "htcp", "dctcp", *LINUX_ONLY_CONTROLS)
# Ends the label of a host where traces run as rates.
BINNED = ", binned"


def check_hosts(hosts: Sequence[str]) -> tuple[str, ...]:
    """Each host once, in the order given; the simulator where none is."""
    for host in hosts:
        if host not in HOSTS:
            raise InputError(f"--host {host}: there is no such host.{nearest(host, HOSTS)}")
    return tuple(dict.fromkeys(hosts)) or ("sim",)


# Where no number of seeds is asked for: each host has the experiment's.
EXPERIMENTS_SEEDS: Mapping[str, int] = MappingProxyType({})
# No verdict needs nearly as many.
_MOST_SEEDS = 1000


def read_seeds(words: Iterable[str], hosts: Sequence[str]) -> dict[str, int]:
    """How many seeds each host runs: '3' says it for all of `hosts`, 'linux=3' for one."""
    found: dict[str, int] = {}
    for word in words:
        host, is_of_one, text = word.rpartition("=")
        if is_of_one:
            check_hosts([host])
        try:
            count = int(text)
        except ValueError:
            raise InputError(
                f"--seeds {word}: a number N is wanted, or HOST=N, as in linux=3"
            ) from None
        if not 1 <= count <= _MOST_SEEDS:
            raise InputError(f"--seeds {word}: allowed: 1 to {_MOST_SEEDS}")
        found |= dict.fromkeys([host] if is_of_one else hosts, count)
    return found


def seeds_text(least: int, most: int) -> str:
    """'10 seeds', or '1 to 3 seeds' where not all have as many."""
    count = f"{least}" if least == most else f"{least} to {most}"
    return f"{count} seed{'' if most == 1 else 's'}"
