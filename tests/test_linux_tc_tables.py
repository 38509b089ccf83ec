# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Numbers and rows that the tests send without tc are those of the plugin and the module."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sojourn import _native
from sojourn.core.rows import Row

from tests.linux import plugin, tables
from tests.linux import rtnetlink as nl

ROOT = Path(__file__).parent.parent


def test_the_rows_of_the_kernel_are_those_of_the_module() -> None:
    with pytest.raises(plugin.RefusedError) as refused:
        plugin.read("help")
    told = str(refused.value)
    for row in tables.HOST_ROWS:
        assert f" (default {default_of(row)})\n      {row.help}\n" in told
    names = [row.name for row in tables.HOST_ROWS]
    rows = [nl.u32(row.attr, row.max) for row in tables.HOST_ROWS]
    shown = plugin.data(nl.text(tables.ALGO, "fifo") + nl.nest(tables.HOST, *rows))
    assert list(shown)[1:] == names
    words = [text_of(row) for row in tables.HOST_ROWS]
    sent = dict(nl.attributes(plugin.read(["fifo", *" ".join(words).split()])))
    assert nl.numbers(sent[tables.HOST]) == {row.attr: row.max for row in tables.HOST_ROWS}


def default_of(row: Row) -> str:
    if row.kind == "bool":
        return row.name if row.default else f"no{row.name}"
    return row.choices[row.default] if row.choices else "0.0.0.0"


def text_of(row: Row) -> str:
    if row.kind == "bool":
        return row.name
    return f"{row.name} {row.choices[row.max] if row.choices else '255.255.255.255'}"


def test_numbers_of_nests_and_counters_are_those_of_the_header() -> None:
    header = (ROOT / "linux/qdisc/sojourn.h").read_text()
    enumerations = [
        re.findall(r"^\s+(\w+),?", body, re.M)
        for body in re.findall(r"^enum[^{]*\{(.*?)\}", header, re.M | re.S)
    ]
    options, stats, counts, probes, flow_counts, kinds = enumerations
    names = ["ALGO", "HOST", "QUEUE", "PARAMS", "ANEW", "RESPONDER6"]
    assert options[1:-1] == [f"TCA_SOJOURN_{name}" for name in names]
    assert [getattr(tables, name) for name in names] == [1, 2, 3, 4, 5, 6]
    named = {number: title.upper() for title, number, _ in tables.counters()}
    named |= {tables.OWN: "ALGO", tables.MEMORY: "MEMORY", tables.DEFICIT: "DEFICIT"}
    assert stats[1:-1] == [f"TCA_SOJOURN_STATS_{named[number]}" for number in sorted(named)]
    assert sorted(named) == list(range(1, 10))
    assert tuple(name.removeprefix("SOJOURN_").lower() for name in counts[:-1]) == (
        tables.COUNT_NAMES
    )
    assert tuple(name.removeprefix("SOJOURN_").lower() for name in probes[:-1]) == (
        tables.PROBE_NAMES
    )
    assert tuple(name.removeprefix("SOJOURN_").lower() for name in flow_counts[:-1]) == (
        tables.FLOW_NAMES
    )
    [probe] = [row for row in tables.HOST_ROWS if row.name == "probe"]
    assert tuple(name.removeprefix("SOJOURN_").lower() for name in kinds) == probe.choices
    flows = re.search(r"^#define SOJOURN_FQ_FLOWS (\d+)$", header, re.M)
    assert flows and int(flows[1]) == tables.FQ_FLOWS
    assert _native.reason_names()[:3] == ["none", "early", "delay"]
    assert _native.bad_names()[-1] == "probe"
