# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Drawn trees at a link's end on both hosts: datagrams, and what each class sent of them."""

from __future__ import annotations

import pytest
import sojourn

from tests.random_trees import draw

pytestmark = [pytest.mark.timeout(1800), pytest.mark.usefixtures("kernel")]

FIRST, QUICK, ALL = 5_000, 2, 100


def differences(seed: int) -> list[str]:
    """Name the classes that sent more than 2 % and three packets more on one host."""
    scenario = sojourn.loads(draw(seed, only_fifo=True).text)
    runs = sojourn.run(scenario, hosts=["sim", "linux"]).runs
    on_sim, on_linux = (
        {of["name"]: of["windows"][0]["sent_pkts"] for of in run.report["classes"]} for run in runs
    )
    assert on_sim.keys() == on_linux.keys()
    return [
        f"{seed}: {name}: {ours} and {on_linux[name]} packets"
        for name, ours in on_sim.items()
        if abs(ours - on_linux[name]) > 0.02 * max(ours, on_linux[name]) + 3
    ]


@pytest.mark.parametrize("seed", range(FIRST, FIRST + QUICK))
def test_classes_of_a_drawn_tree_send_as_much_on_linux(seed: int) -> None:
    assert differences(seed) == []


@pytest.mark.deep
def test_a_hundred_drawn_trees_send_as_much_on_linux() -> None:
    assert [one for seed in range(FIRST + QUICK, FIRST + ALL) for one in differences(seed)] == []
