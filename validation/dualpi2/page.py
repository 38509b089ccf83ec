# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""page.py: tables of docs/reference/algorithms/dualpi2.md, between comments that name their
command."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/reference/algorithms/dualpi2.md"


def cell(value: float) -> str:
    """Three digits, and no more than two behind the point."""
    return (
        f"{value:.2f}"
        if abs(value) < 10
        else f"{value:.1f}"
        if abs(value) < 100
        else f"{value:.0f}"
    )


def put(begin: str, end: str, lines: Iterable[str]) -> None:
    """Renew what stands between the two comments."""
    text = PAGE.read_text()
    first, last = f"<!-- {begin} -->\n", f"<!-- {end} -->"
    assert text.count(first) == text.count(last) == 1, f"{PAGE.name}: {begin}"
    head, rest = text.split(first)
    PAGE.write_text(head + first + "\n".join(lines) + "\n" + last + rest.split(last)[1])


def kept(begin: str, end: str) -> list[str]:
    """The lines that stand there."""
    return PAGE.read_text().split(f"<!-- {begin} -->\n")[1].split(f"<!-- {end} -->")[0].splitlines()
