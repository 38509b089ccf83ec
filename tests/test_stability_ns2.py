# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""docs/evidence/ns-2.md: the stability paper's network in ns-2, beside print and ours."""

from __future__ import annotations

import shutil
import tomllib

import pytest
from sojourn.papers.experiment import ROOT

from validation.stability_ns2 import page, run


def test_the_page_is_what_the_kept_figures_give() -> None:
    kept = page.text(run.load())
    assert page.PAGE.read_text() == kept, "run `python -m validation.stability_ns2`"


def test_ns_2_has_the_connections_of_the_experiment() -> None:
    """network.tcl is told its counts; experiment.toml has them too."""
    file = ROOT / "stability" / "90" / "experiment.toml"
    (axis,) = tomllib.loads(file.read_text())["axes"]
    for value in axis["values"]:
        flows = value["set"]
        gap, unit = flows["flows.files.app.gap"].split()
        seconds = float(gap) / (1000 if unit == "ms" else 1)
        counts = [flows[f"flows.{name}.count"] for name in ("ftp", "files", "small", "reverse")]
        ftp, files, first, of_tcl, small, reverse = run.LOADS[value["name"]]
        assert [ftp, files, small, reverse] == counts
        assert (first, of_tcl) == (flows["flows.files.first_pair"], seconds)


def test_each_cell_of_both_sides_has_every_queue_and_seed() -> None:
    kept = run.load()
    assert kept[run.NS2].keys() == kept[run.OURS].keys()
    for who, seeds in ((run.NS2, run.SEEDS), (run.OURS, 10)):
        for by_name in kept[who].values():
            assert by_name.keys() == run.QUEUES.keys()
            assert {len(values) for of in by_name.values() for values in of.values()} == {seeds}


@pytest.mark.skipif(not shutil.which("ns"), reason="ns-2 is not installed")
def test_ns_2_gives_the_kept_figures_again() -> None:
    cell = run.load()[run.NS2]["90: uncongested"]["RED"]
    found = run.once("RED", 90, "uncongested", 1)
    assert {of: round(value, 4) for of, value in found.items()} == {
        of: values[0] for of, values in cell.items()
    }
