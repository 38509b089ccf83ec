# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The hosts of a scenario: the simulator, and a Linux kernel in virtual time. And the
version, commit and machine that made a result."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from sojourn import _native
from sojourn.core.commit import commit
from sojourn.core.errors import InputError, nearest
from sojourn.core.units import UnitError, count

HOSTS = ("sim", "linux")
# Their names in tables and pages.
HOST_NAMES = {"sim": "simulated", "linux": "Linux"}
# Ticks per second: the choices for a kernel in virtual time, and the default of a scenario.
Ticks = Literal[250, 1000]
HZ: Literal[1000] = 1000
# Congestion controls of the guest's kernel that the engine does not have.
LINUX_ONLY_CONTROLS = ("bbr", "vegas")
# Controls of the engine that the kernel has under the same name, and the kernel's own.
LINUX_CONTROLS = ("cubic", "reno", "htcp", "dctcp", *LINUX_ONLY_CONTROLS)
# The end of a host's label where traces run as rates.
BINNED = ", binned"


def check_hosts(hosts: Sequence[str]) -> tuple[str, ...]:
    """Check names of hosts and drop repetitions, in the order given; the default is the simulator.
    Raise InputError for an unknown host."""
    for host in hosts:
        if host not in HOSTS:
            raise InputError(f"--host {host}: there is no such host.{nearest(host, HOSTS)}")
    return tuple(dict.fromkeys(hosts)) or ("sim",)


# The default: each host runs the experiment's number of seeds.
EXPERIMENTS_SEEDS: Mapping[str, int] = MappingProxyType({})
# No verdict needs nearly as many.
_MOST_SEEDS = 1000


def read_seeds(words: Iterable[str], hosts: Sequence[str]) -> dict[str, int]:
    """Read how many seeds each host runs: '3' applies to all of `hosts`, 'linux=3' to one. Raise
    InputError for an unknown host or a number that is not allowed."""
    counts: dict[str, int] = {}
    for word in words:
        host, is_of_one, text = word.rpartition("=")
        if is_of_one:
            check_hosts([host])
        try:
            number = count(text)
        except UnitError:
            raise InputError(
                f"--seeds {word}: a number N is wanted, or HOST=N, as in linux=3"
            ) from None
        if not 1 <= number <= _MOST_SEEDS:
            raise InputError(f"--seeds {word}: allowed: 1 to {_MOST_SEEDS}")
        counts |= dict.fromkeys([host] if is_of_one else hosts, number)
    return counts


def seeds_text(least: int, most: int) -> str:
    """Write a number of seeds: '10 seeds', or '1 to 3 seeds' where `least` and `most` differ."""
    count = f"{least}" if least == most else f"{least} to {most}"
    return f"{count} seed{'' if most == 1 else 's'}"


def made_by() -> dict[str, Any]:
    """Describe what makes a result: time, version, commit where it is known, machine."""
    found = commit()
    return {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "core": _native.core_version(),
        **({"commit": found} if found else {}),
        "host": machine(),
    }


def machine() -> dict[str, str | int]:
    """Describe this machine: system, processor, cores, version of Python."""
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text().splitlines() if cpu.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count() or 1,
        "python": platform.python_version(),
    }
