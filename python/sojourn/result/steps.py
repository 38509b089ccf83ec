# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Words for the changes of a scenario, as a run's report lists them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def spell(changes: Iterable[Mapping[str, Any]]) -> str:
    """Write all changes of one time in words."""
    return ", ".join(map(_spell, changes))


def _spell(change: Mapping[str, Any]) -> str:
    of = change["of"]
    match change["kind"]:
        case "rate":
            return f"{of} {change['rate_mbps']:.6g} Mbit/s"
        case "delay":
            return f"{of} delay {change['delay_ms']:.6g} ms"
        case kind:
            flows = "flow" if change["flows"] == 1 else "flows"
            return f"{change['flows']} {flows} {of} {kind}{'s' if change['flows'] == 1 else ''}"
