# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A paper of two experiments that take a fraction of a second, for tests of its page and ledger."""

from __future__ import annotations

from pathlib import Path

import pytest

PAPER = """\
title = "Toy"
source = "A test, 2026"
seeds = 3
quick_seeds = 2
queue = "bottleneck"

[[algorithms]]
name = "CoDel"
algorithm = "codel"

[[algorithms]]
name = "Tail <drop>"
algorithm = "fifo"
"""
EXPERIMENT = """\
format = 1
title = "Toy, experiment {name}"
window = "all"

[[signals]]
name = "drop"
table = "Table {name}"
set = {{ "queue.ecn" = false }}
metrics = ["system_delay_mean_ms", "utilisation_pct"]
beside = ["drop_pct"]

[[ablations]]
of = "drop"
name = "five flows"
why = "what more flows do"
set = {{ "flows.bulk.count" = 5 }}

[figure]
series = "system_delay_ms"
average_s = 0.2
seed = 1
"""
SCENARIO = """\
format = 2
name = "toy"
description = "Two flows & a queue"
duration = "2 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "20 ms"
aqm = "codel"

[[dumbbell.flows]]
name = "bulk"
count = 2

[record]
series = "100 ms"
windows = [{ name = "all", from = "1 s", to = "2 s" }]
"""
# So that they share no run.
RTTS = {"a": "20 ms", "b": "30 ms"}
PUBLISHED = """\
[drop.CoDel]
system_delay_mean_ms = 5.0
utilisation_pct = 99.5

[drop."Tail <drop>"]
system_delay_mean_ms = 44.0
"""
CLAIMS = """\
[[claims]]
id = "toy/{name}/less"
text = "CoDel's delay is less than that of tail drop"
source = "Table {name}"
metrics = ["system_delay_mean_ms"]
relation = "less"
left = "CoDel"
right = "Tail <drop>"
"""
OF_SEVERAL = """\
[[claims]]
id = "toy/less"
text = "less than half in every experiment"
source = "§1"
metrics = ["system_delay_mean_ms"]
relation = "less"
factor = 0.5
left = "CoDel"
right = "Tail <drop>"
"""
FIGURES = """\
[[figures]]
number = "Table a"
caption = "Delays of the first"
experiments = ["a"]
cell = "drop"

[[figures]]
number = "Figure 1"
caption = "Delay over time"
experiments = ["a", "b"]

[[figures]]
number = "Figure 2"
caption = "The testbed"
not = "a photograph"

[[figures]]
number = "Figure 3"
caption = "The network"
experiments = ["a"]
network = true
"""


def write(root: Path) -> Path:
    """The paper's folder, of experiments a and b, in a root that holds nothing else."""
    paper = root / "toy"
    for name in RTTS:
        folder = paper / name
        folder.mkdir(parents=True)
        (folder / "experiment.toml").write_text(EXPERIMENT.format(name=name))
        (folder / "scenario.toml").write_text(SCENARIO.replace("20 ms", RTTS[name]))
        (folder / "published.toml").write_text(PUBLISHED)
        (folder / "claims.toml").write_text(CLAIMS.format(name=name))
    (paper / "paper.toml").write_text(PAPER)
    (paper / "claims.toml").write_text(OF_SEVERAL)
    (paper / "figures.toml").write_text(FIGURES)
    return paper


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only paper that there is."""
    root = tmp_path / "experiments"
    use(root, monkeypatch)
    return write(root)


def use(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the papers of this root."""
    monkeypatch.setattr("sojourn.papers.experiment.ROOT", root)
