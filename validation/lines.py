# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""lines.py: numbers and ranges as the page has them."""

from __future__ import annotations

from collections.abc import Sequence

from validation.figures import Verdict

WORDS = {
    Verdict.SPREAD: "inside the spread",
    Verdict.UNDECIDABLE: "undecidable",
    Verdict.OUTSIDE: "outside",
}


def figure(value: float) -> str:
    """Three significant digits; three decimals, and more only for what would look like nothing."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    if abs(value) >= 0.1:
        return f"{value:.2f}"
    return f"{value:.3f}" if abs(value) >= 0.001 else f"{value:.1g}"


def ratio(linux: float, engine: float) -> str:
    if linux == 0:
        return "1.00" if engine == 0 else "–"
    return f"{engine / linux:.2f}"


def ranged(values: Sequence[float]) -> str:
    low, high = figure(min(values)), figure(max(values))
    return low if low == high else f"{low}–{high}"
