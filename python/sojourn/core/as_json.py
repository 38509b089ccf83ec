# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""JSON of measured values. JSON has no NaN and no infinity; such a value becomes null."""

from __future__ import annotations

import json
from typing import Any


def spell(data: Any) -> str:
    """Write data as JSON, a line for each value."""
    return json.dumps(_finite(data), indent=1, allow_nan=False)


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    if isinstance(data, float) and not abs(data) < float("inf"):
        return None
    return data
