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
    sent_pkts = sum(window_of(classes, root)["sent_pkts"] for root in roots(link["end"][0]))
    for stage in link["end"][1:]:
        sent_pkts = hand_on(stage, sent_pkts, classes, queues, seed)
    assert run.report["conservation"]["born"] > 0, seed


def roots(stage: Any) -> list[Any]:
    """List the classes without a parent."""
    return [entry for entry in parts(stage) if not entry.get("parent")]


def window_of(rows: Any, entry: Any) -> Any:
    """Read the first window of what has this name."""
    return rows[entry["name"]]["windows"][0]


def hand_on(stage: Any, sent_pkts: int, classes: Any, queues: Any, seed: int) -> int:
    """Check that a lower stage gets what the one above sends; return what it sends."""
    if stage["kind"] == "ring":
        ring = window_of(classes, stage)
        # Beside the ring's, one is on the line.
        assert 0 <= sent_pkts - ring["sent_pkts"] <= stage["packets"] + 1, seed
        bits = stage["rate"] * SECONDS
        assert ring["sent_bytes"] * 8 <= bits, seed
        return int(ring["sent_pkts"])
    leaf = (parts(stage) or [stage])[0]
    queue = window_of(queues, leaf)
    # One may be on the line of a queue above.
    assert 0 <= sent_pkts - queue["arrived_pkts"] <= 1, seed
    probes = queues[leaf["name"]].get("probes", {}).get("left_pkts", 0)
    return int(queue["departed_pkts"]) + int(probes)


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
            children = [] if entry.get("inner") else below
            htb(entry, window, children, seed)
            most = most_bytes(entry, "ceil", "cburst")
            own = sum(own_bytes(stage, child) for child in children)
            # HTB holds no class below its own rate: children may send more than a parent's ceiling.
            assert window["sent_bytes"] <= most + own, (seed, entry["name"])
    if stage["kind"] == "htb":
        lent = sum(window_of(classes, entry)["lent_pkts"] for entry in parts(stage))
        assert lent == sum(window_of(classes, root)["sent_pkts"] for root in roots(stage)), seed


def most_bytes(entry: Any, rate: str, burst: str) -> float:
    """Add up what a rate allows, with a bucket and a packet for each step of it."""
    steps = [{"at": 0, **entry}, *entry.get("schedule", ())]
    ends = [*(step["at"] / 1e9 for step in steps[1:]), SECONDS]
    spans = [end - step["at"] / 1e9 for step, end in zip(steps, ends, strict=True)]
    most = sum(step[rate] / 8 * span for step, span in zip(steps, spans, strict=True))
    return float(most + len(steps) * (entry[burst] + PACKET_BYTES))


def own_bytes(stage: Any, entry: Any) -> float:
    """Add up what a class and those below can send by their own rates."""
    below = [child for child in parts(stage) if child.get("parent") == entry["name"]]
    return most_bytes(entry, "rate", "burst") + sum(own_bytes(stage, child) for child in below)


def htb(entry: Any, window: Any, children: list[Any], seed: int) -> None:
    """Check what a class of HTB has counted."""
    name = (seed, entry["name"])
    if not children:
        assert window["sent_pkts"] == window["lent_pkts"] + window["borrowed_pkts"], name
    modes = [window[f"{mode}_pct"] for mode in ("can_send", "may_borrow", "cannot_send")]
    assert sum(modes) == pytest.approx(100), name


@pytest.mark.parametrize("seed", range(QUICK))
def test_a_drawn_tree_keeps_its_books_and_its_ceilings(seed: int) -> None:
    check(seed)


@pytest.mark.deep
@pytest.mark.timeout(1800)
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


def able_bytes(stage: Any, queues: Any) -> float:
    """Count what a discipline can send in a second, if nothing but its own ceilings holds it."""

    def able(entry: Any) -> float:
        below = [child for child in parts(stage) if child.get("parent") == entry["name"]]
        if below:
            most = sum(map(able, below))
        elif entry.get("inner"):
            most = able_bytes(entry["inner"], queues)
        else:
            most = window_of(queues, entry)["arrived_pkts"] * PACKET_BYTES
        if stage["kind"] != "htb":
            return most
        # A root has nobody to borrow from.
        return float(min(most, entry["ceil" if entry.get("parent") else "rate"] / 8))

    return sum(map(able, roots(stage)))


def check_work(seed: int) -> None:
    """Nothing that could be sent waits: a tree under datagrams sends all that its ceilings let it.
    Turns with a shaper inside wait for it, as Linux's do."""
    text = draw(seed, only_fifo=True).text
    if "schedule" in text or '"drr"' in text:
        return
    # Flows start within the first second.
    text += 'windows = [{ name = "late", from = "1 s", to = "2 s" }]\n'
    scenario = sojourn.loads(text)
    (run,) = sojourn.run(scenario).runs
    top, *below = scenario.to_engine()["links"][1]["end"]
    classes = {of["name"].rpartition("/")[2]: of for of in run.report["classes"]}
    queues = {of["name"].rpartition("/")[2]: of for of in run.report["queues"]}
    able = able_bytes(top, queues)
    if below and below[0]["kind"] == "ring":
        able = min(able, below[0]["rate"] / 8)
    sent = sum(window_of(classes, root)["sent_bytes"] for root in roots(top))
    assert sent >= 0.97 * able - (len(queues) + 3) * PACKET_BYTES, (seed, sent, able)


@pytest.mark.parametrize("seed", range(1_000, 1_000 + QUICK))
def test_a_tree_sends_all_that_its_ceilings_let_it(seed: int) -> None:
    check_work(seed)


@pytest.mark.deep
@pytest.mark.timeout(1800)
def test_a_thousand_trees_send_all_that_their_ceilings_let_them() -> None:
    for seed in range(1_000 + QUICK, 2_000):
        check_work(seed)
