# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""witness.py: inputs and outputs of the kernel's own qdiscs, recorded in virtual time.

    python -m tests.linux.witness [NAME ...]

records anew what tests/models/witnessed holds, for the models to replay: a bottleneck of
10 Mbit/s (tbf), below it the witness (witness.c) around a qdisc of the kernel's, 40 ms, TCP flows
with and without ECN, and bursts of datagrams.
"""

from __future__ import annotations

import argparse
import struct
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sojourn.linux.uml.boot import boot
from sojourn.linux.uml.build import Built, cache_root, digest, kept, run

from tests.linux import netlink as nl
from tests.linux import one_wire
from tests.linux.one_wire import OFFERS_ECN, PLAIN, WIRE
from tests.linux.parity import kernel, lay_connections, lay_player
from tests.linux.play import MS, NEW_LINK, ZERO_NS, Script
from tests.models.follow import CHILDREN, KINDS
from tests.models.witnessed import COLUMNS, FOLDER, LINUX, SHOWN_BYTES, Child, Words

HERE = Path(__file__).resolve().parent
NAMES = [name for name, (kind, _) in CHILDREN.items() if KINDS[kind].of == LINUX]
RECORD = np.dtype(
    [
        ("ns", "u8"),
        ("jiffies", "u4"),
        ("packet", "u4"),
        ("len", "u4"),
        ("flow", "u4"),
        ("drops", "u4"),
        ("held", "u4"),
        ("kind", "u1"),
        ("let_in", "u1"),
        ("ecn_before", "u1"),
        ("ecn_after", "u1"),
        ("shown", f"V{SHOWN_BYTES}"),
    ]
)
RATE_BPS = 10_000_000
BURST_BYTES = 3028
DELAY_NS = 40 * MS
US = 1000


def module(built: Built) -> Path:
    """witness.ko for this kernel, from the cache if it is there."""
    source = HERE / "witness.c"
    folder = cache_root() / f"witness-{digest([source], [built.kernel.parent.name])}"

    def make(work: Path) -> None:
        (work / source.name).write_bytes(source.read_bytes())
        (work / "Kbuild").write_text("obj-m := witness.o\n")
        words: list[str | Path] = ["make", "-C", built.objects, "ARCH=um", f"M={work}", "modules"]
        run(words, work / "build.log")

    return kept(folder, make) / "witness.ko"


def netem(delay_ns: int) -> bytes:
    """struct tc_netem_qopt: a delay in ticks of 64 ns, and room for 10,000 packets."""
    return struct.pack("=IIIIII", delay_ns >> 6, 10_000, 0, 0, 0, 0)


def script(kind: str, child: Child) -> tuple[Script, str]:
    """The script for player.c, and the connections for parity.lay_connections."""
    s = Script()
    s.add("mount", "debugfs", "/sys/kernel/debug")
    s.add("module", "witness.ko", f"shows={KINDS[kind].shows}")
    one_wire.lay(s, "netem", netem(DELAY_NS))
    if not child.segments:
        # IFLA_GSO_MAX_SEGS
        s.ask(NEW_LINK, 0, struct.pack("=BxHiII", 0, 0, WIRE, 0, 0) + nl.u32(40, 1))
    one_wire.up(s)
    s.tbf(WIRE, RATE_BPS, BURST_BYTES, nl.CREATE)
    s.qdisc(WIRE, "9:1", "10:", nl.CREATE | nl.REPLACE, "witness")
    options = [
        nl.attribute(n, value) if isinstance(value, bytes) else nl.u32(n, value)
        for n, value in child.options.items()
    ]
    s.qdisc(WIRE, "10:1", "11:", nl.CREATE | nl.REPLACE, kind, *options)
    for number, tos in enumerate((0, 2)):
        s.add("socket", number, tos, 0, PLAIN)
    s.add("start", "traffic", "flows", ZERO_NS)
    second = 1000
    s.wait(second)
    for number in range(2 * (child.seconds - 2)):
        # now and then more than the link takes, then nothing but the connections
        if number % 8 == 5:
            s.add("send", 0, 60, 1200)
            s.add("send", 1, 60, 300)
        s.wait(second // 2)
    s.wait(second)
    s.add("copy", "/sys/kernel/debug/witness", "records")
    s.add("copy", "/dev/kmsg", "kernel.log")
    end_ns = child.seconds * 1000 * MS
    lines = [f"edge {end_ns}"]
    kinds = [("cubic", PLAIN), ("cubic", OFFERS_ECN), ("reno", PLAIN), ("reno", OFFERS_ECN)]
    for number, (control, target) in enumerate(kinds * child.each):
        times_ns = f"{number * 300 * MS} {end_ns - number % 4 * 1000 * MS}"
        lines.append(f"flow c s 10.0.0.1 {target} {control} 0 0 {times_ns} 0")
    return s, "\n".join([*lines, ""])


def record(built: Built, name: str, folder: Path) -> dict[str, NDArray[Any]]:
    """Run one child in a guest; its columns."""
    kind, child = CHILDREN[name]
    played, flows = script(kind, child)
    lay_player(played, folder)
    lay_connections(built, flows, folder)
    (folder / "witness.ko").symlink_to(module(built))
    (folder / "job").symlink_to("script")
    boot(built, folder, limit_s=300)
    return columns(np.fromfile(folder / "records", RECORD), KINDS[kind].words)


def columns(found: NDArray[np.void], words: Words) -> dict[str, NDArray[Any]]:
    """Compact: times as differences; of what else the child shows that which is compared."""
    kept = {name: found[name].astype(kind) for name, kind in COLUMNS.items() if name != "step_ns"}
    kept["step_ns"] = np.diff(found["ns"], prepend=np.uint64(0)).astype(np.uint64)
    raw = np.frombuffer(found["shown"].tobytes(), np.uint8).reshape(len(found), -1)
    for name, at, kind in words:
        size = np.dtype(kind).itemsize
        kept[name] = raw[:, at : at + size].copy().view(kind)[:, 0]
    return kept


def main() -> None:
    """Renew the recordings."""
    parser = argparse.ArgumentParser(description="Record the kernel's own qdiscs anew.")
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], help="some of them")
    built = kernel()
    for name in parser.parse_args().names or NAMES:
        with tempfile.TemporaryDirectory(prefix="sojourn-") as scratch:
            found = record(built, name, Path(scratch))
        path = FOLDER / f"{name}.npz"
        FOLDER.mkdir(exist_ok=True)
        everything: Any = found | {"release": np.array(built.release)}
        np.savez_compressed(path, **everything)
        print(f"{path.name}: {len(found['kind'])} records, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
