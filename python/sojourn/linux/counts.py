# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What linux/uml/traffic.c and play.c counted, with the keys of the engine's report. The engine
reckons it: flows are reckoned in one place for both hosts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sojourn import _native
from sojourn.errors import RunError
from sojourn.scenario.engine import without_foreign


def report_flows(scenario: Mapping[str, Any], counts: str, played: str = "") -> dict[str, Any]:
    """`flows`, `transport`, `goodput_mbps`, `jain`, `fct_s` as docs/metrics.md has them."""
    try:
        text = _native.reckon_flows(json.dumps(without_foreign(scenario)), counts, played)
    except RuntimeError as error:
        raise RunError(f"the guest: {error}") from error
    found: dict[str, Any] = json.loads(text)
    return found
