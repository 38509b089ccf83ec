# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""shell.py: cases of tdc as a script of busybox, for a guest that has no Python.

The script runs the commands and prints; what tdc.py would say of that is said here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sojourn.algorithms import algorithms

from tests.linux.tdc import refusals, rows
from tests.linux.tdc.case import DEVICE, NO_DEVICE, Case
from tests.linux.tdc.groups import covering
from tests.linux.tdc.memory import Memory

HEAD = """
export PATH=/bin TC_LIB_DIR=/ TC=/sbin/tc IP=/sbin/ip DUMMY=d0
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
insmod /dummy.ko numdummies=0
insmod /sch_sojourn.ko
"""
_CASE = """
{setup}
{command} >/dev/null 2>&1
echo "case {number} status $?"
{verify}
echo "case {number} ends"
{teardown}
"""
# How many queues fit the memory depends on the processor.
_OF_MEMORY = re.compile(r"flows at its upper bound|too large")


def cases() -> list[Case]:
    """Rows and refusals of algorithms with every kind of row; tc and nothing else is needed."""
    unknown = Memory({})
    every = (
        case
        for name in sorted(covering(), key=list(algorithms()).index)
        for case in (*rows.cases(name, unknown), *refusals.cases(name))
    )
    return [case for case in every if _needs_tc_alone(case) and not _OF_MEMORY.search(case.name)]


def _needs_tc_alone(case: Case) -> bool:
    words = " ".join((*case.setup, case.command, case.verify))
    return "$RAW" not in words and "$FRAMES" not in words


def script(cases: Iterable[Case]) -> str:
    """Write the script that plays them all, and ends the guest."""
    parts = [
        _CASE.format(
            number=number,
            setup="\n".join((DEVICE, *case.setup)),
            command=case.command,
            verify=case.verify,
            teardown=NO_DEVICE,
        )
        for number, case in enumerate(cases)
    ]
    return "\n".join([HEAD, *parts, "rmmod sch_sojourn && echo all is played", "poweroff -f"])


def fault(console: str, cases: Sequence[Case]) -> str:
    """Describe the first cases that went otherwise than they say; empty where all is well."""
    if "all is played\n" not in console:
        return f"the script did not come to its end:\n{console[-3000:]}"
    wrong = [_wrong(console, number, case) for number, case in enumerate(cases)]
    told = [f"{case.name}: {why}" for case, why in zip(cases, wrong, strict=True) if why]
    return "\n".join([f"{len(told)} of {len(cases)} cases failed", *told[:5]]) if told else ""


def _wrong(console: str, number: int, case: Case) -> str:
    found = re.search(
        rf"^case {number} status (\d+)\n(.*?)^case {number} ends$", console, re.M | re.S
    )
    if not found:
        return "did not end"
    if int(found[1]) != case.code:
        return f"status {found[1]}, not {case.code}"
    count = len(re.findall(case.pattern, found[2], re.M | re.S))
    return "" if count == case.count else f"found {count} times in {found[2]!r}: {case.pattern}"
