# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The signals that stop a command: SIGINT of Ctrl-C, SIGTERM of `timeout` and of supervisors, and
SIGHUP of a terminal that closes. Each ends it as Ctrl-C does: finished runs are kept."""

from __future__ import annotations

import signal

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_heard = signal.SIGINT


def hear() -> None:
    """Take the other signals for Ctrl-C, but those that `nohup` or a caller has ignored."""
    for stop in STOPS:
        if signal.getsignal(stop) is signal.SIG_DFL:
            signal.signal(stop, _interrupt)


def _interrupt(number: int, _: object) -> None:
    global _heard
    _heard = signal.Signals(number)
    raise KeyboardInterrupt


def status() -> int:
    """Return the exit status of a command that the last signal stopped, as shells count it."""
    return 128 + _heard
