# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What holds of every tree of queues, whatever it is: drawn files, run whole.

The engine refuses to report a run that loses or makes a packet, so each run here is also a check
of all books at all nodes.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import sojourn

from tests.random_trees import PACKET_BYTES, SECONDS, draw, parts

QUICK, ALL = 40, 1_000


def check(seed: int) -> None:
    """Run a drawn file and check its books, its rates and its shares."""
    drawn = draw(seed)
    scenario = sojourn.loads(drawn.text)
    (run,) = sojourn.run(scenario).runs
    link = scenario.to_engine()["links"][1]
    classes = {of["name"].rpartition("/")[2]: of for of in run.report["classes"]}
    queues = {of["name"].rpartition("/")[2]: of for of in run.report["queues"]}
    discipline(link["end"][0], classes, queues, seed)
    assert run.report["conservation"]["born"] > 0, seed


def discipline(stage: Any, classes: Any, queues: Any, seed: int) -> None:
    """Check a discipline and all inside it."""
    for entry in parts(stage):
        window = classes[entry["name"]]["windows"][0]
        below = [child for child in parts(stage) if child.get("parent") == entry["name"]]
        if entry.get("inner"):
            discipline(entry["inner"], classes, queues, seed)
            below = [child for child in parts(entry["inner"]) if not child.get("parent")]
        if below:
            left = sum(classes[child["name"]]["windows"][0]["sent_pkts"] for child in below)
        else:
            queue = queues[entry["name"]]
            probes = queue.get("probes", {}).get("left_pkts", 0)
            left = queue["windows"][0]["departed_pkts"] + probes
        # DRR looks at a packet before it pays: one may have left a class and not be sent.
        looked_at = left - window["sent_pkts"]
        assert 0 <= looked_at <= (stage["kind"] == "drr"), (seed, entry["name"])
        if stage["kind"] == "htb":
            htb(entry, window, bool(below) and not entry.get("inner"), seed)


def htb(entry: Any, window: Any, has_children: bool, seed: int) -> None:
    """Check a class of HTB against its tokens."""
    name = (seed, entry["name"])
    lent, borrowed = window["lent_pkts"], window["borrowed_pkts"]
    if not has_children:
        assert window["sent_pkts"] == lent + borrowed, name
    modes = [window[f"{mode}_pct"] for mode in ("can_send", "may_borrow", "cannot_send")]
    assert sum(modes) == pytest.approx(100), name
    steps = [{"at": 0, **entry}, *entry.get("schedule", ())]
    ends = [*(step["at"] / 1e9 for step in steps[1:]), SECONDS]
    spans = [end - step["at"] / 1e9 for step, end in zip(steps, ends, strict=True)]
    # A class without children is held by its ceiling. HTB holds no class below its children's sum.
    if not has_children:
        most = sum(step["ceil"] / 8 * span for step, span in zip(steps, spans, strict=True))
        debt = len(steps) * (max(entry["cburst"], entry["burst"]) + PACKET_BYTES)
        assert window["sent_bytes"] <= most + debt, name


@pytest.mark.parametrize("seed", range(QUICK))
def test_a_drawn_tree_keeps_its_books_and_its_ceilings(seed: int) -> None:
    check(seed)


@pytest.mark.deep
def test_a_thousand_drawn_trees_keep_their_books_and_their_ceilings() -> None:
    for seed in range(QUICK, ALL):
        check(seed)


@pytest.mark.parametrize("seed", range(1_000, 1_000 + QUICK))
def test_no_leaf_of_htb_is_held_below_its_rate(seed: int) -> None:
    """HTB starves nobody: a leaf that has packets sends its own rate, whatever its priority."""
    drawn = draw(seed, only_fifo=True)
    if 'kind = "ring"' in drawn.text or "inner" in drawn.text or "schedule" in drawn.text:
        pytest.skip("a ring, a discipline inside or a later rate holds it")
    scenario = sojourn.loads(drawn.text)
    (run,) = sojourn.run(scenario).runs
    entries = parts(scenario.to_engine()["links"][1]["end"][0])
    windows = {of["name"].rpartition("/")[2]: of["windows"][0] for of in run.report["classes"]}
    groups = itertools.count(1)
    for entry in entries:
        if "match" not in entry:
            continue
        offer_mbps = drawn.offers_mbps[f"g{next(groups)}"]
        assert offer_mbps is not None
        due = min(entry["rate"] / 1e6, offer_mbps * PACKET_BYTES / 1_472)
        # Flows start within the first second.
        sent_mbps = windows[entry["name"]]["sent_bytes"] * 8e-6 / (SECONDS - 1)
        assert sent_mbps > 0.97 * due - 0.05, (entry["name"], sent_mbps, due)
