# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What `sojourn linux tc` has a second time is what the plugin and the module have in C."""

from __future__ import annotations

import ctypes
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from sojourn import _native, algorithms
from sojourn.core.rows import SCALES, Row
from sojourn.linux.tc import helptext, tables, values

ROOT = Path(__file__).parent.parent
KINDS = ("bool", "u32", "u64", "choice")
UNITS = tuple(SCALES)


class Field(ctypes.Structure):
    """struct aqm_field."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("help", ctypes.c_char_p),
        ("choices", ctypes.POINTER(ctypes.c_char_p)),
        ("default", ctypes.c_uint64),
        ("min", ctypes.c_uint64),
        ("max", ctypes.c_uint64),
        ("offset", ctypes.c_uint32),
        ("attr", ctypes.c_uint16),
        ("kind", ctypes.c_uint8),
        ("unit", ctypes.c_uint8),
        ("flags", ctypes.c_uint8),
    )


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The plugin's and the module's own C, as far as it asks neither tc nor a kernel."""
    library = tmp_path_factory.mktemp("c") / "values.so"
    sources = [ROOT / "linux/tc/value.c", ROOT / "linux/qdisc/rows.c", ROOT / "aqm/unit.c"]
    include = [f"-I{ROOT / folder}" for folder in ("aqm", "linux/tc", "linux/qdisc")]
    flags = ["-std=gnu11", "-O1", "-fPIC", "-shared"]
    subprocess.run(["gcc", *flags, *include, "-o", library, *sources, "-lm"], check=True)
    c = ctypes.CDLL(str(library))
    c.value_read.restype = ctypes.c_char_p
    c.value_read.argtypes = (
        ctypes.POINTER(Field),
        ctypes.c_char_p,
        ctypes.POINTER(ctypes.c_uint64),
    )
    c.value_write.restype = None
    c.value_write.argtypes = (ctypes.POINTER(Field), ctypes.c_uint64, ctypes.c_char_p)
    return c


def in_c(row: Row) -> Field:
    choices = (ctypes.c_char_p * (len(row.choices) or 1))(*(c.encode() for c in row.choices))
    return Field(
        name=row.name.encode(),
        choices=ctypes.cast(choices, ctypes.POINTER(ctypes.c_char_p)),
        default=row.default,
        min=row.min,
        max=row.max,
        kind=KINDS.index(row.kind),
        unit=UNITS.index(row.unit),
    )


def row_of(unit: str, kind: str = "u64", choices: tuple[str, ...] = ()) -> Row:
    most = len(choices) - 1 if choices else 2**64 - 1
    return Row("row", "", unit, kind, 0, 0, most, choices, fixed=False, attr=1)


EVERY_ROW = [row_of(unit) for unit in UNITS] + [row_of("count", "choice", ("one", "two"))]


def read_or_wanted(row: Row, text: str) -> int | str:
    try:
        return values.read(row, text)
    except values.Wanted as wanted:
        return str(wanted)


@pytest.mark.parametrize("row", EVERY_ROW, ids=lambda row: row.choices or row.unit)
def test_values_are_read_and_written_as_in_the_plugin(row: Row, plugin: ctypes.CDLL) -> None:
    field, room, number = in_c(row), ctypes.create_string_buffer(48), ctypes.c_uint64()

    def written(value: int) -> str:
        plugin.value_write(field, value, room)
        return room.value.decode()

    def read(text: str) -> int | str:
        wanted = plugin.value_read(field, text.encode(), number)
        return str(wanted.decode()) if wanted else number.value

    draw = random.Random(1)
    most = 2**32 - 1 if row.unit in ("q32", "ipv4") else row.max
    corners = {0, 1, 7, 8, 999, 1000, 10**6, 10**9, 2**32 - 1, 2**53, 2**60 - 1, 2**60, 2**64 - 1}
    for value in sorted(corners) + [draw.getrandbits(draw.randrange(1, 65)) for _ in range(500)]:
        if value > most:
            continue
        text = values.write(row, value)
        assert text == written(value)
        assert read_or_wanted(row, text) == read(text)
        if value < 2**50:
            assert values.read(row, text) == value
    numbers = ["", "0", "1", "5", ".5", "2.5", "0.1", "1e3", "1e-3", "-1", "+3", "-0", "1e999"]
    numbers += ["18446744073709551615", "18446744073709551616", "9007199254740993", "nan", "inf"]
    numbers += ["4294967295", "0.99999999999", "1.5e", "1 ", "5ms5", "one", "five"]
    # More digits than Python converts.
    numbers += ["7" * 5000, "0" * 5000 + "5", "." + "3" * 5000, "1e" + "9" * 5000, "\u0663"]
    units = ["", "ns", "us", "ms", "s", "min", "p", "b", "kb", "mb", "%", "bit", "kbit", "mbit"]
    units += ["gbit", "B/s", "kB/s", "MB/s", "GB/s", "b/s", "MB/S", "bps", "Kbps", "MS", "pp", "P"]
    units += ["nsec", "nsecs", "usec", "usecs", "msec", "MSecs", "sec", "secs", "Secs", "Min"]
    units += ["k", "Kb", "m", "Mb", "g", "Gb", "tb", "Kbit", "Mbit", "Gbit", "Tbit", "Pbit"]
    units += ["Kibit", "mibit", "GiBit", "tibit", "\u212ab"]
    texts = [number + unit for number in numbers for unit in units]
    texts += ["192.0.2.1", "0.0.0.0", "255.255.255.255", "1.2.3", "1.2.3.4.5", "1.2.3.256", "::1"]
    for text in texts:
        assert read_or_wanted(row, text) == read(text), text


@pytest.mark.skipif(not shutil.which("tc"), reason="no tc here to load the plugin")
def test_help_is_that_of_the_plugin_for_every_queue_and_each_algorithm(tmp_path: Path) -> None:
    make = ["make", "-s", "-C", str(ROOT / "linux/tc"), f"BUILD={tmp_path}"]
    subprocess.run(make, check=True, capture_output=True)
    for name in ("", *algorithms.algorithms()):
        add = ["tc", "qdisc", "add", "dev", "lo", "root", "sojourn", *name.split(), "help"]
        done = subprocess.run(
            add, env={**os.environ, "TC_LIB_DIR": str(tmp_path)}, capture_output=True, text=True
        )
        assert done.stderr.splitlines() == list(helptext.lines(name)), name
    assert "      also an IPv6 address, for its IPv6 probes; `::`: the next hop" in helptext.lines()


def test_the_row_of_the_kernel_is_that_of_the_module(plugin: ctypes.CDLL) -> None:
    fields = (Field * (len(tables.HOST_ROWS) + 1)).in_dll(plugin, "sojourn_rows")
    assert fields[len(tables.HOST_ROWS)].name is None
    for row, field in zip(tables.HOST_ROWS, fields, strict=False):
        assert (row.name, row.help) == (field.name.decode(), field.help.decode())
        assert (row.kind, row.unit) == (KINDS[field.kind], UNITS[field.unit])
        numbers = (field.default, field.min, field.max, field.attr, bool(field.flags))
        assert (row.default, row.min, row.max, row.attr, row.fixed) == numbers


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
