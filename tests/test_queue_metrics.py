# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn linux metrics`: every statistic of recorded queues, as Prometheus's parser reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from sojourn.cli import status
from sojourn.linux import device, metrics
from sojourn.linux.device import QDISCS, Reading

from tests.linux.set_ups import FOLDER

# What no metric has: settings, and the places of a queue.
LEFT_OUT = {"options", "refcnt", "root"}


def answer(name: str) -> str:
    return str(json.loads((FOLDER / f"{name}.json").read_text())["now"][QDISCS])


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in LEFT_OUT:
                yield from numbers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from numbers(inner)
    elif isinstance(value, int | float):
        yield float(value)


@pytest.mark.parametrize("name", ["both_ways", "cake", "fq_codel", "inner_classes"])
def test_every_number_of_tc_is_a_sample(name: str) -> None:
    text = answer(name)
    families = list(text_string_to_metric_families(metrics.text(Reading({QDISCS: text}))))
    samples = [sample for family in families for sample in family.samples]
    told = [s.value for s in samples if s.labels.get("name") != "direct_packets"]
    assert sorted(told) == sorted(numbers(json.loads(text)))
    assert len({(s.name, *sorted(s.labels.items())) for s in samples}) == len(samples)
    assert all(family.documentation for family in families)


def test_what_only_grows_is_a_counter() -> None:
    text = metrics.text(Reading({QDISCS: answer("both_ways")}))
    kinds = {family.name: family.type for family in text_string_to_metric_families(text)}
    assert {name for name, kind in kinds.items() if kind == "counter"} == {
        *(f"sojourn_qdisc_{name}" for name in ("sent_bytes", "sent_packets", "drops")),
        *(f"sojourn_qdisc_{name}" for name in ("overlimits", "requeues")),
        *(f"sojourn_queue_{name}" for name in ("counts", "drops_by_reason", "marks")),
        "sojourn_queue_broken_rules",
    }


def test_the_file_replaces_the_old_one_and_leaves_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(device, "ask", lambda command: answer("both_ways"))
    out = tmp_path / "sojourn.prom"
    out.write_text("old")
    assert status(["linux", "metrics", "--out", str(out)]) == 0
    assert status(["linux", "metrics"]) == 0
    assert out.read_text() == capsys.readouterr().out
    assert list(tmp_path.iterdir()) == [out]
    assert status(["linux", "metrics", "--out", str(tmp_path / "none/sojourn.prom")]) == 3
    assert "none/sojourn.prom" in capsys.readouterr().err


def test_the_alarms_of_the_page_name_metrics_that_there_are() -> None:
    page = (Path(__file__).parents[1] / "docs/guide/router.md").read_text()
    named = set(re.findall(r"\bsojourn_\w+_total\b", page))
    text = metrics.text(Reading({QDISCS: answer("both_ways")}))
    assert len(named) >= 4 and named <= set(re.findall(r"\bsojourn_\w+_total\b", text))
