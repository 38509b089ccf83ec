# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The comparisons reach the algorithms whole."""

from __future__ import annotations

from tests.models.coverage import AT_LEAST, measure


def test_branches_of_each_algorithm_are_taken() -> None:
    low = [file for file in measure() if file.share < AT_LEAST]
    assert not low, "\n".join(f"{f.name}: {100 * f.share:.1f} %, lines {f.missed}" for f in low)
