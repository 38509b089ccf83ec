# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Where a scenario can run: the simulator, and a Linux kernel in virtual time."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.errors import InputError, nearest

HOSTS = ("sim", "linux")
# Ends the label of a host where traces run as rates.
BINNED = ", binned"


def check_hosts(hosts: Sequence[str]) -> tuple[str, ...]:
    """Each host once, in the order given; the simulator where none is."""
    for host in hosts:
        if host not in HOSTS:
            raise InputError(f"--host {host}: there is no such host.{nearest(host, HOSTS)}")
    return tuple(dict.fromkeys(hosts)) or ("sim",)
