# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn export`: flent itself opens its data files; captures are read by a reader of our own of
pcapng's blocks, and by tshark where there is one."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
import json
import math
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sojourn
from sojourn import _native
from sojourn.cli import status
from sojourn.result.export import _header, export
from sojourn.scenario.known import KNOWN

from tests.conftest import SMALL

KEPT = SMALL.replace("count = 2", "count = 4") + "\n[record]\nevents = true\n"
TWO_QUEUES = """
format = 2
name = "two queues"
duration = "1 s"
nodes = ["a", "b", "c"]

[[cables]]
name = "first"
between = ["a", "b"]
rate = "12 Mbit/s"
delay = "5 ms"
queue = { algorithm = "codel", ecn = true, target = "1 ms" }

[[cables]]
name = "second"
between = ["b", "c"]
rate = "10 Mbit/s"
delay = "5 ms"
queue = { algorithm = "codel", ecn = true, target = "1 ms" }

[[flows]]
from = "a"
to = "c"
count = 3
transport = { cc = "cubic", ecn = true }

[record]
events = true
queues = ["first", "second"]
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("kept") / "kept"
    sojourn.run(sojourn.loads(KEPT), aqms=["codel", "pie"], seeds=2, out=out)
    return out


def exported(folder: Path, form: str, out: Path, *words: str) -> list[Path]:
    assert status(["export", str(folder), "--format", form, "--out", str(out), *words]) == 0
    return sorted(out.iterdir())


def test_each_run_and_queue_has_a_data_file_of_flents_format(kept: Path, tmp_path: Path) -> None:
    files = exported(kept, "flent", tmp_path / "out")
    assert [path.name for path in files] == [
        f"small-{aqm}-seed_{seed}-bottleneck.flent.gz"
        for aqm in ("codel", "pie")
        for seed in (1, 2)
    ]
    (run, *_) = sojourn.Result.load(kept)
    data = json.loads(gzip.decompress(files[0].read_bytes()))
    assert set(data) == {"version", "x_values", "results", "raw_values", "metadata"}
    assert data["version"] == 4
    series = run.series()
    assert data["x_values"] == series["t_s"].to_pylist()
    delays = [None if math.isnan(v) else v for v in series["queue_delay_ms"].to_pylist()]
    assert data["results"]["qdisc-stats::delay"] == delays
    assert data["results"]["qdisc-stats::backlog_pkts"] == series["queue_pkts"].to_pylist()
    assert all(len(values) == len(data["x_values"]) for values in data["results"].values())
    assert data["metadata"]["SOJOURN"]["fingerprint"] == run.report["fingerprint"]
    assert data["metadata"]["LENGTH"] == 2 and data["metadata"]["STEP_SIZE"] == 0.1


def flent(*words: str, home: Path) -> str:
    if importlib.util.find_spec("flent") is None:
        pytest.skip("flent is not installed: make setup installs it with what the tests need")
    said = subprocess.run(
        [sys.executable, "-m", "flent", *words],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "HOME": str(home)},
    )
    assert "ERROR" not in said.stderr and "Traceback" not in said.stderr, said.stderr
    return said.stdout


def test_flent_opens_the_file_and_has_the_same_numbers(kept: Path, tmp_path: Path) -> None:
    (path,) = exported(kept, "flent", tmp_path / "out", "--aqm", "pie", "--seed", "2")
    text = flent(str(path), "-f", "csv", home=tmp_path)
    rows = list(csv.DictReader(io.StringIO(text[text.index("qdisc-stats,") :])))
    run = next(r for r in sojourn.Result.load(kept) if r.seed == 2 and r.labels["aqm"] == "pie")
    series = run.series()
    assert [float(row["qdisc-stats"]) for row in rows] == series["t_s"].to_pylist()
    delays = series["queue_delay_ms"].to_pylist()
    for row, delay in zip(rows, delays, strict=True):
        value = row["qdisc-stats::delay"]
        assert math.isnan(delay) if value == "" else float(value) == pytest.approx(delay)
    assert sum(not math.isnan(delay) for delay in delays) > 10


def test_flents_own_plot_draws_the_file(kept: Path, tmp_path: Path) -> None:
    files = exported(kept, "flent", tmp_path / "out", "--seed", "1")
    picture = tmp_path / "delay.svg"
    words = ["-p", "delay", "-f", "plot", "-o", str(picture)]
    flent(*map(str, files), *words, home=tmp_path)
    assert picture.stat().st_size > 5_000


@pytest.mark.parametrize("plot", ["all_scaled", "totals", "ping", "box_combine"])
def test_flents_plots_of_rrul_draw_a_run_of_rrul(rrul: list[Path], plot: str) -> None:
    picture = rrul[0].parent / f"{plot}.svg"
    flent(str(rrul[0]), "-p", plot, "-f", "plot", "-o", str(picture), home=rrul[0].parent)
    assert picture.stat().st_size > 5_000


@pytest.fixture(scope="module")
def rrul(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The file of flent's test, of a shorter run."""
    folder = tmp_path_factory.mktemp("rrul")
    text = (KNOWN / "rrul.toml").read_text().replace("70 s", "16 s").replace("65 s", "11 s")
    sojourn.run(sojourn.loads(text), out=folder / "out")
    files = exported(folder / "out", "flent", folder / "files")
    return [path for path in files if path.name.endswith("-rrul.flent.gz")]


def test_the_file_of_rrul_has_the_runs_numbers(rrul: list[Path]) -> None:
    data = json.loads(gzip.decompress(rrul[0].read_bytes()))
    (run,) = sojourn.Result.load(rrul[0].parents[1] / "out")
    pings = [p["val"] for p in data["raw_values"]["Ping (ms) ICMP"]]
    assert pings == [rtt for rtt in run.report["echoes"][3]["rtt_ms"] if rtt is not None]
    groups = run.group_series()
    assert groups
    frame = groups.to_pandas()
    sums = frame[frame["group"] == "download"]["goodput_mbps"].tolist()
    assert data["results"]["TCP download sum"] == sums and max(sums) > 10
    assert data["results"]["TCP upload avg"] == data["results"]["TCP upload EF"]
    assert data["metadata"]["NAME"] == "rrul" and data["metadata"]["LENGTH"] == 6


@dataclass(frozen=True)
class Packet:
    """An Enhanced Packet Block."""

    interface: int
    at_ns: int
    data: bytes
    length: int
    comment: str
    flags: int


def blocks(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Type and body of each block; its two lengths agree, and it ends on a word."""
    at = 0
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        assert length % 4 == 0 and length >= 12
        assert struct.unpack_from("<I", content, at + length - 4) == (length,)
        yield kind, content[at + 8 : at + length - 4]
        at += length
    assert at == len(content)


def options(body: bytes) -> dict[int, bytes]:
    """By code, up to opt_endofopt."""
    found: dict[int, bytes] = {}
    at = 0
    while at < len(body):
        code, length = struct.unpack_from("<HH", body, at)
        if code == 0:
            assert at + 4 == len(body)
            break
        found[code] = body[at + 4 : at + 4 + length]
        at += 4 + length + -length % 4
    return found


def read(path: Path) -> tuple[dict[int, bytes], list[dict[int, bytes]], list[Packet]]:
    """Options of the section and of its interfaces, and the packets."""
    (kind, section), *rest = blocks(path.read_bytes())
    assert kind == 0x0A0D0D0A
    assert struct.unpack_from("<IHHq", section) == (0x1A2B3C4D, 1, 0, -1)
    interfaces, packets = [], []
    for kind, body in rest:
        if kind == 1:
            assert struct.unpack_from("<HHI", body) == (1, 0, 0)
            interfaces.append(options(body[8:]))
            continue
        assert kind == 6
        interface, high, low, captured, length = struct.unpack_from("<IIIII", body)
        data = body[20 : 20 + captured]
        found = options(body[20 + captured + -captured % 4 :])
        flags = struct.unpack("<I", found[2])[0]
        at = (high << 32) + low
        packets.append(Packet(interface, at, data, length, found[1].decode(), flags))
    return options(section[16:]), interfaces, packets


def checksum(header: bytes) -> int:
    """As RFC 1071 has it; zero where the header's own is right."""
    total = int(sum(struct.unpack(">10H", header)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def check(packet: Packet, event: dict[str, Any]) -> None:
    """A packet is the event of its run."""
    waited_ms = (event["at_ns"] - event["enq_ns"]) / 1e6
    reason = _native.reason_names()[event["why"]]
    verdict = f"dropped: {reason}" if event["why"] else "sent"
    assert packet.comment == f"{verdict}, after {waited_ms:.6f} ms in the queue"
    assert (packet.at_ns, packet.length) == (event["at_ns"], event["len_bytes"])
    ethernet, header = packet.data[:14], packet.data[14:]
    assert ethernet[12:] == b"\x08\0" and len(header) == 20
    assert checksum(header) == 0
    assert header[0] == 0x45 and header[1] == event["ecn"] and header[9] == 253
    assert struct.unpack_from(">H", header, 2) == (event["len_bytes"] - 14,)
    flow = (header[14] << 24) + (header[15] << 16) + (header[18] << 8) + header[19]
    assert flow == event["flow"]
    assert packet.flags == 2, "outbound"


def test_a_capture_has_each_packet_with_its_verdict(kept: Path, tmp_path: Path) -> None:
    files = exported(kept, "pcapng", tmp_path / "out")
    assert len(files) == 4
    run = next(iter(sojourn.Result.load(kept)))
    section, interfaces, packets = read(files[0])
    assert section[1] == b"small: codel, seed 1" and section[4].startswith(b"Sojourn 0.")
    assert interfaces == [{2: b"bottleneck", 9: b"\x09"}]
    table = run.events()
    assert table is not None
    events = table.to_pylist()
    assert any(event["why"] for event in events) and len(events) > 1_000
    # Heads and tails of the same instant are in the order of their times, as the events are.
    for packet, event in zip(packets, events, strict=True):
        check(packet, event)


def test_two_queues_are_two_interfaces_in_the_order_of_time(tmp_path: Path) -> None:
    result = sojourn.run(sojourn.loads(TWO_QUEUES), workers=1)
    (path,) = export(result, "pcapng", tmp_path)
    _, interfaces, packets = read(path)
    assert [of[2] for of in interfaces] == [b"first", b"second"]
    times = [packet.at_ns for packet in packets]
    assert times == sorted(times)
    table = result.runs[0].events()
    assert table is not None
    for number, name in enumerate(("first", "second")):
        events = [event for event in table.to_pylist() if event["queue"] == name]
        mine = [packet for packet in packets if packet.interface == number]
        assert len(events) == len(mine) > 300
        assert sorted(p.at_ns for p in mine) == sorted(e["at_ns"] for e in events)
    assert {packet.data[15] for packet in packets} >= {2, 3}, "ECT(0) and CE"


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed (Debian: tshark)")
def test_tshark_reads_verdicts_lengths_and_ecn(kept: Path, tmp_path: Path) -> None:
    path, *_ = exported(kept, "pcapng", tmp_path / "out", "--aqm", "codel", "--seed", "1")
    fields = ["frame.interface_name", "frame.len", "ip.dsfield.ecn", "ip.checksum.status"]
    words = ["tshark", "-r", str(path), "-o", "ip.check_checksum:TRUE", "-T", "fields"]
    for name in (*fields, "frame.time_epoch", "frame.comment"):
        words += ["-e", name]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    _, _, packets = read(path)
    lines = text.splitlines()
    assert len(lines) == len(packets)
    for line, packet in zip(lines, packets, strict=True):
        name, length, ecn, status_of_checksum, at_s, comment = line.split("\t")
        assert (name, int(length), int(ecn)) == ("bottleneck", packet.length, packet.data[15])
        assert status_of_checksum == "1" and comment == packet.comment
        whole, _, part = at_s.partition(".")
        assert int(whole) * 10**9 + int(part) == packet.at_ns
    dropped = subprocess.run(
        ["tshark", "-r", str(path), "-Y", 'frame.comment contains "dropped: delay"'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (
        len(dropped.stdout.splitlines()) == sum("dropped: delay" in p.comment for p in packets) > 0
    )


def test_a_short_or_giant_packet_has_a_header_that_can_be_read() -> None:
    for length in (0, 10, 34, 42, 1514, 65_549, 200_000):
        header = _header(0xFFFFFFFF, length, 3)
        assert len(header) == 34 and checksum(header[14:]) == 0


def test_a_run_without_packets_names_the_key(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert status(["run", str(small), "--out", str(out)]) == 0
    words = ["export", str(out), "--format", "pcapng", "--out", str(tmp_path / "files")]
    assert status(words) == 2
    assert "record.events = true" in capsys.readouterr().err
    assert not (tmp_path / "files").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--format", "pcap"], "there is no such format. Did you mean 'pcapng'?"),
        (["--format", "flent", "--aqm", "codl"], "the result has none. Did you mean 'codel'?"),
        (["--format", "flent", "--seed", "9"], "--seed 9: the result has none. Valid names: 1, 2."),
    ],
)
def test_what_a_result_has_not_is_refused(
    words: list[str],
    sentence: str,
    kept: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert status(["export", str(kept), "--out", str(tmp_path / "x"), *words]) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "x").exists()


def test_a_file_name_holds_what_any_file_system_takes(tmp_path: Path) -> None:
    long = ",".join(f"{key}" for key in ("target=2ms", "interval=20ms", "limit=100", "ecn=true"))
    scenario = sojourn.loads(SMALL)
    aqms = [f"codel:{long}", f"codel:{long.replace('100', '200')}", "codel:target=2.0ms"]
    result = sojourn.run(scenario, aqms=aqms, workers=1)
    files = list(export(result, "flent", tmp_path))
    assert len({path.name for path in files}) == 3
    assert all(len(path.name) < 200 and path.name.isascii() for path in files)
    assert all(set(path.name) & set(' :,/"') == set() for path in files)


def test_a_full_disk_leaves_no_half_of_a_file(kept: Path, tmp_path: Path) -> None:
    words = ["export", str(kept), "--format", "pcapng", "--out", str(tmp_path / "out")]
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000));"
        f"from sojourn.cli import status; sys.exit(status({words!r}))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert said.returncode == 3 and "cannot be written" in said.stderr
    assert list((tmp_path / "out").iterdir()) == []
