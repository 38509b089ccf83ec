# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What linux/uml/play.c counted, with the keys of the engine's report. The engine reckons it:
flows are reckoned in one place for both hosts."""

from __future__ import annotations

import json
from typing import Any

from sojourn import _native
from sojourn.core.errors import RunError


def read(known: _native.Scenario, played: str) -> _native.Flows:
    """All that was counted."""
    try:
        return known.flows(played)
    except RuntimeError as error:
        raise RunError(f"the guest: {error}") from error


def report_flows(found: _native.Flows) -> dict[str, Any]:
    """`flows`, `transport`, `goodput_mbps`, `jain`, `fct_s` as docs/guide/results.md has them."""
    report: dict[str, Any] = json.loads(found.report())
    return report
