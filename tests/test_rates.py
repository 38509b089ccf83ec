# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""docs/reference/rates.md: very slow links, very fast ones, and rates that dip."""

from __future__ import annotations

import re

import pytest
from sojourn import algorithms

from validation import rates

AT_LEAST_PCT = 90
KEPT_IN_DIPS = 0.85


@pytest.mark.parametrize(
    "name", [name for name in algorithms.algorithms() if name not in rates.IDLE]
)
def test_links_of_10_kbit_and_100_gbit_are_used(name: str) -> None:
    assert rates.used_pct(rates.SLOW, rates.slow(name))[0] >= AT_LEAST_PCT
    assert rates.used_pct(rates.FAST, rates.fast(name))[0] >= AT_LEAST_PCT


@pytest.mark.parametrize("name", algorithms.algorithms())
def test_dips_of_the_rate_do_not_leave_the_link_idle(name: str) -> None:
    before, dips = rates.used_pct(rates.DIPS, rates.dipping(name))
    assert (dips >= KEPT_IN_DIPS * before) == (name not in rates.IDLE_IN_DIPS)


def test_the_page_has_what_runs_give() -> None:
    text = rates.PAGE.read_text()
    assert text.split(rates.BEGIN)[1].split(rates.END)[0].splitlines() == list(rates.lines())
    for name in rates.IDLE | rates.IDLE_IN_DIPS:
        assert re.search(rf"algorithms/{name}\.md#", text), name
