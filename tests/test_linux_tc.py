# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn linux tc` as far as no kernel is needed; tests/linux sets it beside tc in one."""

from __future__ import annotations

import errno
import json
import random
import re
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from sojourn import _native, algorithms
from sojourn.cli import status
from sojourn.core.errors import InputError
from sojourn.linux import rtnetlink as nl
from sojourn.linux.rtnetlink import Qdisc
from sojourn.linux.tc import command, line, show, tables, words


def options_of(said: str) -> bytes:
    """What a queue that is made by these words says of itself: all rows."""
    asked = words.read(said.split())
    nests = []
    for nest, rows in tables.tables(asked.algorithm).items():
        put = [
            (nl.u64 if row.kind == "u64" else nl.u32)(
                row.attr, asked.values.get((nest, row), row.default)
            )
            for row in rows
        ]
        nests.append(nl.nest(nest, *put))
    return b"".join((nl.text(tables.ALGO, asked.algorithm), *nests))


def qdisc(options: bytes = b"", **changed: Any) -> Qdisc:
    plain = dict.fromkeys(Qdisc.__dataclass_fields__, 0)
    whole = {**plain, "kind": "sojourn", "index": 2, "handle": 1 << 16, "parent": nl.ROOT}
    whole |= {"references": 2, "options": options, "own_stats": b""} | changed
    return Qdisc(**whole)  # type: ignore[arg-type]


def test_a_queue_is_printed_as_tc_prints_it() -> None:
    said = "fq codel ecn limit 500p target 2.5ms nosplit_gso"
    assert show.text(qdisc(options_of(said))) == (
        "qdisc sojourn 1: root refcnt 2 codel nosplit_gso norespond responder 0.0.0.0"
        " probe echo limit 500p"
        " limit_bytes 4294967295b ecn"
        " flows 1024 quantum 0b memory_limit 33554432b bandwidth 0bit drop_batch 64"
        " target 2500us interval 100ms form ours ce_threshold 0ns "
    )
    leaf = qdisc(options_of("fifo"), handle=0x10 << 16, parent=9 << 16 | 1, references=1)
    assert show.text(leaf, "eth0") == (
        "qdisc sojourn 10: dev eth0 parent 9:1 fifo split_gso norespond responder 0.0.0.0"
        " probe echo limit 1000p"
        " limit_bytes 4294967295b noecn flows 0 quantum 0b memory_limit 33554432b bandwidth 0bit"
        " drop_batch 64 drop tail "
    )


@pytest.mark.parametrize("name", algorithms.algorithms())
def test_what_is_printed_can_be_typed_again(name: str) -> None:
    draw = random.Random(1)
    for _ in range(50):
        said = words.Said(name)
        for nest, rows in tables.tables(name).items():
            for row in rows:
                said.say(nest, row, draw.choice((row.min, row.max, row.default)))
        inside = nl.attributes(said.options())[0][1]
        line_ = show.text(qdisc(inside))
        again = words.read(line_.split(" refcnt 2 ")[1].split())
        assert nl.attributes(again.options())[0][1] == inside, line_


def test_a_responder_of_each_family_is_printed_and_can_be_typed_again() -> None:
    typed = "asqm responder 192.0.2.1 responder 2001:DB8:0::1 probe experimental"
    said = words.read(typed.split())
    options = options_of("asqm responder 192.0.2.1 probe experimental")
    six = nl.attribute(tables.RESPONDER6, said.responder6)
    made = qdisc(options + six)
    printed = show.text(made)
    assert printed.endswith(" responder 2001:db8::1 ")
    assert words.read(printed.split(" refcnt 2 ")[1].split()).responder6 == said.responder6
    assert six in said.options()
    entry = show.data(made)["options"]
    assert (entry["probe"], entry["responder6"]) == ("experimental", "2001:db8::1")
    assert "responder6" not in show.data(qdisc(options))["options"]


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
        # As it takes them too.
        ("fq_codel memory_limit 16k", "memory_limit 16384b"),
        ("fq_codel memory_limit 1m", "memory_limit 1048576b"),
        ("fq_codel memory_limit 1g", "memory_limit 1073741824b"),
        ("fq_codel memory_limit 80Kbit", "memory_limit 10240b"),
        ("codel target 5msec", "target 5ms"),
        ("codel target 5000usec", "target 5ms"),
        ("codel target 5000000nsecs", "target 5ms"),
        ("codel interval 1sec", "interval 1s"),
        ("codel interval 1Secs", "interval 1s"),
    ],
)
def test_units_are_those_of_tc(typed: str, printed: str) -> None:
    assert f" {printed} " in show.text(qdisc(options_of(typed)))


@pytest.mark.parametrize(
    ("typed", "refused"),
    [
        ("responder 2001:db8::1 responder ::2", "responder: given twice"),
        ("responder 2001:db8::x", "responder: an address, as in 192.0.2.1 or 2001:db8::1"),
        ("responder fe80::1%eth0", "responder: an address, as in 192.0.2.1 or 2001:db8::1"),
        ("responder 192.0.2", "responder: an address, as in 192.0.2.1 or 2001:db8::1"),
        ("probe 253", "probe: echo or experimental is wanted, not 253"),
    ],
)
def test_an_address_or_a_kind_of_probe_that_is_none_is_refused(typed: str, refused: str) -> None:
    with pytest.raises(InputError, match=re.escape(refused)):
        words.read(["asqm", *typed.split()])


def numbered(numbers: Iterable[int]) -> list[bytes]:
    return [nl.u64(i, number) for i, number in enumerate(numbers, 1)]


def test_statistics_are_text_where_they_are_not_zero_and_whole_in_json() -> None:
    counts = numbered((60, 60840, 19, 1, 2, 0))
    drops = numbered(41 if name == "limit" else 0 for name in _native.reason_names())
    own = nl.nest(tables.COUNTS, *counts) + nl.nest(tables.DROPS, *drops)
    own += nl.nest(tables.OWN, *numbered((2**31, 5_000_000))) + nl.u64(tables.MEMORY, 4096)
    made = qdisc(options_of("pie"), own_stats=own, sent_bytes=7, drops=41, backlog=1514 * 1024)
    lines = show.text(made, stats=True).splitlines()
    assert lines[1:3] == [
        " Sent 7 bytes 0 pkt (dropped 41, overlimits 0 requeues 0) ",
        " backlog 1514Kb 0p requeues 0",
    ]
    assert lines[3:5] == [
        "  counts in_pkts 60 in_bytes 60840 out_pkts 19 out_bytes 1 drop_bytes 2 ",
        "  drops limit 41 ",
    ]
    assert lines[5].startswith("  pie prob 0.5 ")
    assert lines[6:] == ["  memory 4096b"]
    entry = show.data(made, stats=True)
    assert entry["options"]["mark_ecnth"] == 0.1
    assert entry["options"]["target"] == 15_000_000
    assert entry["options"]["split_gso"] is True
    assert entry["sojourn"]["counts"]["unmarkable"] == 0
    assert entry["sojourn"]["drops"]["fat"] == 0
    assert entry["sojourn"]["algorithm"]["prob"] == 0.5
    assert entry["sojourn"]["memory_bytes"] == 4096


def test_an_algorithm_from_elsewhere_is_named_with_the_rows_of_every_queue() -> None:
    options = nl.text(tables.ALGO, "mine") + nl.nest(tables.QUEUE, nl.u32(1, 7))
    options += nl.nest(tables.PARAMS, nl.u32(1, 5))
    assert show.text(qdisc(options)).endswith("refcnt 2 mine limit 7p ")


def message(words_: str) -> tuple[int, int, bytes]:
    asked = line.read(words_.split())
    return asked.kind, asked.flags, command.message(asked, lambda _: 2)


def test_messages_are_the_bytes_that_tc_sends() -> None:
    kind, flags, sent = message("qdisc add dev eth0 root handle 1: sojourn codel ecn target 5ms")
    assert (kind, flags) == (36, 0x600)
    expected = struct.pack("=BxxxiIII", 0, 2, 0x10000, 0xFFFFFFFF, 0)
    expected += bytes.fromhex("0c000100") + b"sojourn\0"
    expected += bytes.fromhex("300002800a000100") + b"codel\0\0\0"
    expected += bytes.fromhex("040002800c0003800800030001000000")
    expected += bytes.fromhex("100004800c000100404b4c0000000000")
    assert sent == expected
    kind, flags, sent = message("qdisc del dev eth0 parent 1:1f")
    assert (kind, flags) == (37, 0)
    assert sent == struct.pack("=BxxxiIII", 0, 2, 0, 0x1001F, 0)
    assert message("q ch dev eth0 handle 10: root sojourn fifo")[:2] == (36, 0)
    kind, flags, sent = message("qdisc replace dev eth0 root sojourn fifo")
    assert (kind, flags) == (36, 0x500)
    # A flag behind the nests.
    assert sent.endswith(bytes.fromhex("04000280040003800400048004000500"))
    # Nothing is said, and the module knows what is meant; tc's empty nests are in it.
    [none] = nl.attributes(words.read([]).options())
    assert none == (nl.OPTIONS, bytes.fromhex("040002800400038004000480"))
    [fq] = nl.attributes(words.read(["fq", "codel"]).options())
    queue = dict(nl.attributes(fq[1]))[tables.QUEUE]
    assert nl.numbers(queue) == {4: 1024}
    [fq] = nl.attributes(words.read(["fq", "codel", "flows", "8"]).options())
    assert nl.numbers(dict(nl.attributes(fq[1]))[tables.QUEUE]) == {4: 8}


@pytest.mark.parametrize(
    ("said", "sentence"),
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
        ("choke bandwidth 1000bps", "a rate, as in 10mbit or 1.25MB/s is wanted, not 1000bps"),
        ("choke probability 2", "a probability from 0 to 1 is wanted, not 2"),
        ("nosuch", 'no algorithm is called "nosuch"'),
        ("coddel", "Did you mean 'codel'?"),
        ("fq", "fq: an algorithm is wanted behind it"),
    ],
)
def test_what_the_plugin_refuses_is_refused_by_the_same_sentence(
    said: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["linux", "tc", "qdisc", "add", "dev", "lo", "root", "sojourn", *said.split()]
    assert status(arguments) == 2
    told = capsys.readouterr().err
    assert told.startswith("sojourn: ") and told.count("\n") == 1
    assert sentence in told


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("class show", '"class" is for tc itself'),
        ("qdisc fly", "allowed: add, change, replace, del, show"),
        ("-x qdisc", 'no option "-x"'),
        ("qdisc add dev", "dev: something is wanted behind it"),
        ("qdisc add dev lo root fq_codel", "for others there is tc"),
        ("qdisc add dev lo root", "the kind is wanted"),
        ("qdisc del root", "a device is wanted"),
        ("qdisc del dev nosuch root", 'no device is called "nosuch"'),
        ("qdisc show dev nosuch", 'no device is called "nosuch"'),
        ("qdisc del dev lo parent 10", 'parent: a class, as in 1:10, is wanted, not "10"'),
        ("qdisc del dev lo parent 1:g", "is wanted"),
        ("qdisc del dev lo handle 12345:", "handle: a number, as in 10:, is wanted"),
        ("qdisc del dev lo root parent 1:1", "one place"),
        ("qdisc show dev lo sojourn codel", 'nothing is read behind sojourn, but there is "codel"'),
    ],
)
def test_other_words_are_refused_by_a_sentence(
    said: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["linux", "tc", *said.split()]) == 2
    assert sentence in capsys.readouterr().err


def refused(code: int, sentence: str) -> Callable[..., Any]:
    def ask(*_: object) -> None:
        raise nl.Refused(code, sentence)

    return ask


@pytest.mark.parametrize(
    ("code", "said", "told"),
    [
        (errno.EOPNOTSUPP, "this queue is codel; replace makes it another", "this queue is codel"),
        (errno.ENOENT, "Specified qdisc kind is unknown", "is the module sch_sojourn loaded?"),
        (errno.EPERM, "", "the kernel refuses: Operation not permitted; root is wanted"),
        (errno.EBUSY, "", "the kernel refuses: Device or resource busy"),
    ],
)
def test_the_kernels_refusal_is_one_sentence_and_status_2(
    code: int,
    said: str,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(nl.Socket, "ask", refused(code, said))
    assert status(["linux", "tc", "qdisc", "change", "dev", "lo", "root", "sojourn", "codel"]) == 2
    sentence = capsys.readouterr().err
    assert told in sentence and sentence.startswith("sojourn: ") and sentence.count("\n") == 1


def test_what_is_shown_can_be_narrowed() -> None:
    found = [qdisc(options_of("codel")), qdisc(kind="htb", index=3, handle=5 << 16)]
    devices = {2: "eth0", 3: "eth1"}

    def shown(words_: str) -> str:
        return command.shown(line.read(words_.split()), found, devices)

    assert shown("qdisc show dev eth1") == "qdisc htb 5: root refcnt 2 "
    assert shown("qdisc").count("dev eth") == 2
    assert [q["dev"] for q in json.loads(shown("-j qdisc show root"))] == ["eth0", "eth1"]
    assert shown("qdisc show handle 1:").startswith("qdisc sojourn 1: dev eth0 root")
    assert shown("-j qdisc show parent 1:1") == "[]"
    assert shown("qdisc show root sojourn").count("dev eth") == 1


def test_help_names_every_row_in_the_units_of_tc(capsys: pytest.CaptureFixture[str]) -> None:
    add = ["linux", "tc", "qdisc", "add", "dev", "eth0", "root", "sojourn"]
    assert status([*add, "help"]) == 0
    told = capsys.readouterr().out
    for name in (*algorithms.algorithms(), "limit 1p to 16777216p", "split_gso | nosplit_gso"):
        assert name in told
    assert status([*add, "pie", "help"]) == 0
    told = capsys.readouterr().out
    assert "  target 1us to 10s (default 15ms)\n" in told
    assert re.search(r"  alpha 0 to \d+ .*\n .* \(sixteenths of a hertz\)\n", told)
    assert status([*add, "dualpi2", "help"]) == 0
    assert "  scheduler wrr | ts_fifo (default wrr)\n" in capsys.readouterr().out
    for arguments in ([], ["--help"], ["help"], ["qdisc", "help"]):
        assert status(["linux", "tc", *arguments]) == 0
        assert "Usage: sojourn linux tc" in capsys.readouterr().out


def test_attributes_that_are_cut_short_are_no_attributes() -> None:
    for data in (b"\3\0\1\0", b"\x0c\0\1\0abcd"):
        with pytest.raises(nl.MalformedError):
            nl.attributes(data)
    assert nl.attributes(nl.attribute(7, b"abc")) == [(7, b"abc")]


def test_padding_is_no_number() -> None:
    padded = nl.flag(0) + nl.u64(1, 7) + nl.flag(0) + nl.u64(2, 8)
    assert nl.numbers(padded) == {1: 7, 2: 8}


def test_a_run_does_without_the_command(small: Path) -> None:
    code = (
        f"import sys, sojourn.cli; sojourn.cli.status(['run', {str(small)!r}]); print(*sys.modules)"
    )
    said = subprocess.check_output([sys.executable, "-c", code], text=True)
    unwanted = ("sojourn.linux.tc", "sojourn.linux.rtnetlink")
    assert not any(name.startswith(unwanted) for name in said.splitlines()[-1].split())
