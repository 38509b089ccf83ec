# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The counts of linux/uml/play.c, with the keys of the engine's report. The engine computes them:
both hosts compute the figures of flows in one place."""

from __future__ import annotations

import json
from typing import Any

from sojourn import _native
from sojourn.core.errors import RunError


def read(known: _native.Scenario, played: str) -> _native.Flows:
    """Read all counts; raise RunError where the engine refuses them."""
    try:
        return known.flows(played)
    except RuntimeError as error:
        raise RunError(f"the guest: {error}") from error


def report_flows(found: _native.Flows) -> dict[str, Any]:
    """Return `flows`, `transport`, `goodput_mbps`, `jain`, `fct_s` as in docs/guide/results.md."""
    report: dict[str, Any] = json.loads(found.report())
    return report
