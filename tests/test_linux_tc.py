# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""tc's plugin as far as no kernel is needed, and `sojourn linux tc`, which runs tc with it."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from sojourn import _native, algorithms
from sojourn.cli import status
from sojourn.core.errors import RunError
from sojourn.core.rows import Row
from sojourn.linux import kernel as command
from sojourn.linux.qdiscs import own_words, value_text

from tests.linux import plugin, tables
from tests.linux import rtnetlink as nl


def numbered(numbers: Iterable[int]) -> bytes:
    return b"".join(nl.u64(i, number) for i, number in enumerate(numbers, 1))


def whole(words: str) -> bytes:
    """All rows, as a queue that these words make has them."""
    parts = dict(nl.attributes(plugin.read(words)))
    name = nl.read_text(parts[tables.ALGO])
    nests = [nl.text(tables.ALGO, name)]
    for nest, rows in tables.tables(name).items():
        given = nl.numbers(parts[nest])
        put = [number(row, given.get(row.attr, row.default)) for row in rows]
        nests.append(nl.nest(nest, *put))
    if six := parts.get(tables.RESPONDER6):
        nests.append(nl.attribute(tables.RESPONDER6, six))
    return b"".join(nests)


def number(row: Row, value: int) -> bytes:
    return (nl.u64 if row.kind == "u64" else nl.u32)(row.attr, value)


def test_a_queue_is_printed_with_all_its_rows() -> None:
    assert plugin.text(whole("fq codel ecn limit 500p target 2.5ms nosplit_gso")) == (
        "codel nosplit_gso norespond responder 0.0.0.0 probe echo limit 500p"
        " limit_bytes 4294967295b ecn"
        " flows 1024 quantum 0b memory_limit 33554432b bandwidth 0bit drop_batch 64"
        " target 2500us interval 100ms form ours ce_threshold 0ns "
    )


@pytest.mark.parametrize("name", algorithms.algorithms())
def test_what_is_printed_can_be_typed_again(name: str) -> None:
    draw = random.Random(1)
    for _ in range(50):
        nests = [nl.text(tables.ALGO, name)]
        for nest, rows in tables.tables(name).items():
            values = [draw.choice((row.min, row.max, row.default)) for row in rows]
            nests.append(nl.nest(nest, *map(number, rows, values)))
        options = b"".join(nests)
        again = dict(nl.attributes(plugin.read(plugin.text(options))))
        sent = dict(nl.attributes(options))
        assert again.keys() == sent.keys()
        for nest in tables.tables(name):
            assert nl.numbers(again[nest]) == nl.numbers(sent[nest])


@pytest.mark.parametrize("name", algorithms.algorithms())
def test_the_words_of_a_run_are_those_that_the_plugin_prints(name: str) -> None:
    draw = random.Random(1)
    for row in algorithms.find(name).rows.values():
        for value in (row.min, row.max, row.default, draw.randint(row.min, row.max)):
            if row.kind != "bool":
                assert value_text(row, value) == plugin.value(name, row.name, value)
    rows = {row.name: draw.randint(row.min, row.max) for row in algorithms.find(name).params}
    words = own_words(algorithms.find(name), rows).split(" ", 1)[1]
    inside = nl.numbers(dict(nl.attributes(whole(words)))[tables.PARAMS])
    assert inside == {row.attr: rows[row.name] for row in algorithms.find(name).params}


def test_a_responder_of_each_family_is_printed_and_can_be_typed_again() -> None:
    typed = "asqm responder 192.0.2.1 responder 2001:DB8:0::1 probe experimental"
    options = whole(typed)
    printed = plugin.text(options)
    assert printed.endswith(" responder 2001:db8::1 ")
    assert whole(printed) == options
    entry = plugin.data(options)
    assert (entry["probe"], entry["responder6"]) == ("experimental", "2001:db8::1")
    assert "responder6" not in plugin.data(whole("asqm responder 192.0.2.1"))


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        # As tc prints them of its own queues.
        ("fq_codel memory_limit 32Mb", "memory_limit 33554432b"),
        ("fq_codel memory_limit 4Mb", "memory_limit 4194304b"),
        ("fq_codel memory_limit 16Kb", "memory_limit 16384b"),
        ("red bandwidth 10Mbit", "bandwidth 10mbit"),
        ("red bandwidth 808Kbit", "bandwidth 808kbit"),
        ("red bandwidth 1Gbit", "bandwidth 1gbit"),
        ("red bandwidth 976562Kibit", "bandwidth 999999488bit"),
        ("red bandwidth 1.25MB/s", "bandwidth 10mbit"),
        # As it takes them too.
        ("fq_codel memory_limit 16k", "memory_limit 16384b"),
        ("fq_codel memory_limit 1m", "memory_limit 1048576b"),
        ("fq_codel memory_limit 1g", "memory_limit 1073741824b"),
        ("fq_codel memory_limit 80Kbit", "memory_limit 10240b"),
        ("fq_codel memory_limit 1514", "memory_limit 1514b"),
        ("codel target 5msec", "target 5ms"),
        ("codel target 5000usec", "target 5ms"),
        ("codel target 5000000nsecs", "target 5ms"),
        ("codel target .0015s", "target 1500us"),
        ("codel interval 1sec", "interval 1s"),
        ("codel interval 1Secs", "interval 1s"),
        ("codel interval 1min", "interval 60s"),
        ("codel limit 1e3", "limit 1000p"),
        ("red probability 2%", "probability 0.02"),
        ("red probability 1", "probability 1"),
        ("red probability 0.1", "probability 0.1"),
    ],
)
def test_units_are_those_of_tc(typed: str, printed: str) -> None:
    assert f" {printed} " in plugin.text(whole(typed))


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("codel target 11s", "target: 11s is not in 1us to 10s"),
        ("codel target 5", "target: a time, as in 5ms is wanted, not 5"),
        ("codel target", "target: a value is wanted"),
        ("codel targt 5ms", 'codel has no row "targt"; try "sojourn codel help"'),
        ("codel target 5ms target 6ms", "target: given twice"),
        ("codel ecn noecn", "ecn: given twice"),
        ("codel notarget", 'codel has no row "notarget"'),
        ("codel limit -1", "a number of packets, as in 1000p is wanted, not -1"),
        ("codel limit nan", "is wanted, not nan"),
        ("codel limit 1e999", "is wanted, not 1e999"),
        ("codel limit 18446744073709551616", "is wanted, not 18446744073709551616"),
        ("codel limit 5p5", "is wanted, not 5p5"),
        ("choke bandwidth 1000bps", "a rate, as in 10mbit or 1.25MB/s is wanted, not 1000bps"),
        ("choke bandwidth 1b/s", "a rate, as in 10mbit or 1.25MB/s is wanted, not 1b/s"),
        ("choke probability 2", "a probability from 0 to 1 is wanted, not 2"),
        ("nosuch", 'no algorithm is called "nosuch"'),
        ("fq", "fq: an algorithm is wanted behind it"),
        ("asqm responder 2001:db8::1 responder ::2", "responder: given twice"),
        ("asqm responder 2001:db8::x", "responder: an address, as in 192.0.2.1 or 2001:db8::1"),
        ("asqm responder fe80::1%eth0", "responder: an address, as in 192.0.2.1 or 2001:db8::1"),
        ("asqm responder 192.0.2", "responder: an address, as in 192.0.2.1 or 2001:db8::1"),
        ("asqm probe 253", "probe: echo or experimental is wanted, not 253"),
    ],
)
def test_a_wrong_word_is_refused_by_a_sentence(typed: str, sentence: str) -> None:
    with pytest.raises(plugin.RefusedError, match=re.escape(sentence)) as refused:
        plugin.read(typed)
    assert str(refused.value).startswith("sojourn: ")


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    for digits in ("7" * 5000, "1e" + "9" * 5000):
        with pytest.raises(plugin.RefusedError, match="is wanted, not"):
            plugin.read(["codel", "limit", digits])


def test_statistics_are_text_where_they_are_not_zero_and_whole_in_json() -> None:
    counts = numbered((60, 60840, 19, 1, 2, 0))
    drops = numbered(41 if name == "limit" else 0 for name in _native.reason_names())
    own = nl.nest(tables.COUNTS, counts) + nl.nest(tables.DROPS, drops)
    own += nl.nest(tables.OWN, numbered((2**31, 5_000_000))) + nl.u64(tables.MEMORY, 4096)
    options = whole("pie")
    lines = plugin.text(options, own).splitlines()
    assert lines[1:3] == [
        "  counts in_pkts 60 in_bytes 60840 out_pkts 19 out_bytes 1 drop_bytes 2 ",
        "  drops limit 41 ",
    ]
    assert lines[3].startswith("  pie prob 0.5 ")
    assert lines[4:] == ["  memory 4096b"]
    entry = plugin.data(options, own)
    assert (entry["mark_ecnth"], entry["target"], entry["split_gso"]) == (0.1, 15_000_000, True)
    assert entry["sojourn"]["counts"]["unmarkable"] == 0
    assert entry["sojourn"]["drops"]["fat"] == 0
    assert entry["sojourn"]["algorithm"]["prob"] == 0.5
    assert entry["sojourn"]["memory_bytes"] == 4096


def test_an_algorithm_from_elsewhere_is_named_with_the_rows_of_every_queue() -> None:
    options = nl.text(tables.ALGO, "mine") + nl.nest(tables.QUEUE, nl.u32(1, 7))
    options += nl.nest(tables.PARAMS, nl.u32(1, 5))
    assert plugin.text(options) == "mine limit 7p "


def test_options_are_these_bytes() -> None:
    expected = bytes.fromhex("0a000100") + b"codel\0\0\0"
    expected += bytes.fromhex("040002800c0003800800030001000000")
    expected += bytes.fromhex("100004800c000100404b4c0000000000")
    assert plugin.read("codel ecn target 5ms") == expected
    # A flag behind the nests.
    assert plugin.read("fifo", replace=True).endswith(
        bytes.fromhex("04000280040003800400048004000500")
    )
    # Without a word the module takes its default; the nests are empty.
    assert plugin.read("") == bytes.fromhex("040002800400038004000480")
    for words, flows in (("fq codel", 1024), ("fq codel flows 8", 8)):
        assert nl.numbers(dict(nl.attributes(plugin.read(words)))[tables.QUEUE]) == {4: flows}


def test_help_names_every_row_in_the_units_of_tc() -> None:
    def shown(words: str) -> str:
        with pytest.raises(plugin.RefusedError) as refused:
            plugin.read(words)
        return str(refused.value)

    every = shown("help")
    for name in (*algorithms.algorithms(), "limit 1p to 16777216p", "split_gso | nosplit_gso"):
        assert name in every
    assert "      also an IPv6 address, for its IPv6 probes; `::`: the next hop\n" in every
    assert "  target 1us to 10s (default 15ms)\n" in shown("pie help")
    assert re.search(r"  alpha 0 to \d+ .*\n .* \(sixteenths of a hertz\)\n", shown("pie help"))
    assert "  scheduler wrr | ts_fifo (default wrr)\n" in shown("dualpi2 help")


# ---- the command ----


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tc that says with which words and which plugin it was run."""
    program = tmp_path / "tc"
    program.write_text('#!/bin/sh\necho "$TC_LIB_DIR" "$@"\nexit 7\n')
    program.chmod(0o755)
    monkeypatch.setattr(command, "_PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("TC_LIB_DIR", raising=False)
    return program


def test_the_systems_tc_gets_the_words_and_a_plugin_that_is_built_once(
    system: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["-s", "-j", "qdisc", "show", "dev", "eth0", "--help"]
    for _ in range(2):
        assert status(["linux", "tc", *words]) == 7
    first, again = capfd.readouterr().out.splitlines()
    folder, _, passed = first.partition(" ")
    assert first == again
    assert passed == " ".join(words)
    made = Path(folder) / "q_sojourn.so"
    symbols = subprocess.check_output(["nm", "-D", made], text=True)
    assert re.search(r" [DB] sojourn_qdisc_util$", symbols, re.M)


def test_a_lone_help_is_of_the_command_and_any_other_is_tcs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given: list[list[str]] = []

    def tc(words: list[str]) -> int:
        given.append(words)
        return 7

    monkeypatch.setattr(command, "tc", tc)
    assert status(["linux", "tc", "--help"]) == 0
    assert "sojourn linux tc -s qdisc show" in capsys.readouterr().out and not given
    for words in (["-help"], ["qdisc", "help"], ["qdisc", "--help"], []):
        assert status(["linux", "tc", *words]) == 7
        assert given.pop() == words


def test_a_plugin_that_is_named_stays(
    system: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TC_LIB_DIR", "/mine")
    assert status(["linux", "tc", "qdisc"]) == 7
    assert capfd.readouterr().out == "/mine qdisc\n"


def test_missing_programs_are_named_with_their_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "_PATH", str(tmp_path))
    assert status(["linux", "tc", "qdisc"]) == RunError.exit_status
    assert capsys.readouterr().err == (
        "sojourn: there is no program tc here; install it: apt install iproute2\n"
    )
    monkeypatch.delenv("TC_LIB_DIR", raising=False)
    (tmp_path / "tc").write_text("#!/bin/sh\n")
    (tmp_path / "tc").chmod(0o755)
    assert status(["linux", "tc", "qdisc"]) == RunError.exit_status
    assert capsys.readouterr().err == (
        "sojourn: missing programs; install them: apt install gcc make\n"
    )


def test_padding_is_no_number() -> None:
    padded = nl.flag(0) + nl.u64(1, 7) + nl.flag(0) + nl.u64(2, 8)
    assert nl.numbers(padded) == {1: 7, 2: 8}


def test_attributes_that_are_cut_short_are_no_attributes() -> None:
    for data in (b"\3\0\1\0", b"\x0c\0\1\0abcd"):
        with pytest.raises(nl.MalformedError):
            nl.attributes(data)
    assert nl.attributes(nl.attribute(7, b"abc")) == [(7, b"abc")]


def test_a_run_does_without_the_command(small: Path) -> None:
    code = (
        f"import sys, sojourn.cli; sojourn.cli.status(['run', {str(small)!r}]); print(*sys.modules)"
    )
    said = subprocess.check_output([sys.executable, "-c", code], text=True)
    unwanted = ("sojourn.linux.kernel",)
    assert not any(name.startswith(unwanted) for name in said.splitlines()[-1].split())
