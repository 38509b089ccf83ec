# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A search for readers: the words that terminal and page share, the data of a page, and a page of
its own. Another page takes `data` and the macro `searched` of search_parts.html."""

from __future__ import annotations

from typing import Any

from sojourn.papers.search import setups
from sojourn.papers.search.inside import RULE
from sojourn.papers.search.measure import SEEDS
from sojourn.papers.search.reasons import Effect, Reason
from sojourn.papers.search.result import Searched
from sojourn.result.metrics import METRICS
from sojourn.show.page import number, render, spread

names = {"text": "the text's own", "best": "best", "median": "median"}


def counts(found: Searched) -> str:
    """Write the number of set-ups tried, and the experiments of each half."""
    spec = found.search
    within = len(found.ranked.order)
    outside = f", and {len(spec.outside)} outside the text" if spec.outside else ""
    half, other = found.cells
    return (
        f"{within} of {setups.count(spec)} set-ups{outside}, {len(SEEDS)} seeds; searched: "
        f"experiments {', '.join(spec.searched)} ({half} numbers); the other half, which ran when "
        f"the search had ended: {', '.join(e.name for e in spec.other)} ({other} numbers)"
    )


def moved(effect: Effect) -> str:
    """Name the cell that moves most, with its figures."""
    if not effect.most:
        return "nothing"
    before, after = effect.most
    unit = METRICS[before.cell.metric].unit
    return (
        f"{before.cell.label} {number(before.found.mean)} → {number(after.found.mean)} {unit} "
        f"(print {number(before.published)})"
    )


def numbers(reason: Reason) -> tuple[str, str, str]:
    """Write the printed and the measured number, and the reason in words."""
    printed, ours = number(reason.text.published), spread(reason.text.found)
    return printed, ours, why(reason)


def why(reason: Reason) -> str:
    """Write the reason's run and its figure, or "unexplained" with the nearest run."""
    by = reason.by
    if reason.said != "unexplained" and by:
        head = "only together: " if reason.said == "several things" else ""
        return f"{head}{by[0].label}: {spread(by[1].found)}"
    near = f"; nearest, {by[0].label}: {spread(by[1].found)}" if by else ""
    return f"unexplained{near}"


def data(found: Searched) -> dict[str, Any]:
    """Collect the data that the macro `searched` shows."""
    half, other = found.cells
    return {
        "paper": found.search.paper,
        "counts": counts(found),
        "rule": RULE,
        "cells": {"searched": half, "other": other},
        "judged": [
            {
                "which": names[which],
                "setup": setup.number,
                "label": setup.label,
                "searched": count,
                "other": count_2,
            }
            for which, setup, count, count_2 in found.judged()
        ],
        "points": found.search.points,
        "setups": [
            {"number": setup.number, "label": setup.label, "inside": found.ranked.count(setup)}
            for setup in [*found.ranked.order, *found.ranked.outside]
        ],
        "effects": [
            (title, [(effect, moved(effect)) for effect in found.effects(half=is_half)])
            for is_half, title in ((True, "searched half"), (False, "other half"))
        ],
        "reasons": [(reason, *numbers(reason)) for reason in found.reasons],
        "adopt": found.adopt(),
    }


def html(found: Searched) -> str:
    """Render one self-contained page."""
    return render("search.html", search=data(found))
