# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""replace_guest.py: in the guest, queues replace each other under traffic, and are recorded.

python -m tests.linux.replace_guest MODULE
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tests.linux import netlink as nl
from tests.linux.cases import ALGORITHMS, ALONE, rate_of
from tests.linux.net import Sender, complaints, do, lay_wire
from tests.linux.netlink import Netlink
from tests.linux.trees import TBF, books, drain


def main() -> None:
    do(f"insmod {sys.argv[1]} records=400000")
    do("mount -t debugfs none /sys/kernel/debug")
    lay_wire(offloads=True)
    kernel = Netlink()
    do(TBF)
    kernel.add("c0", "9:1", "10:", nl.algorithm("fifo"))
    senders = [Sender(tos=2), Sender(tos=0), Sender(tos=2, segment_bytes=472)]
    for number, name in enumerate(ALGORITHMS * 3):
        for burst in range(8):
            for i, sender in enumerate(senders):
                sender.send((number + burst * 3 + i) % 13, payload_bytes=472 * 2)
            time.sleep(0.002 * (burst % 5))
        many = 0 if name in ALONE else number % 2 * 16
        rows = nl.u32(nl.FLOWS, many), nl.u32(nl.ECN, 1)
        flows = nl.nest(nl.QUEUE, *rows, *rate_of(name))
        # The second time it is the same, and a change.
        for _ in range(2):
            kernel.replace("c0", "9:1", "10:", nl.algorithm(name), flows)
            books(kernel)
    drain(kernel)
    do("tc qdisc del dev c0 root")
    Path("records").write_bytes(Path("/sys/kernel/debug/sojourn").read_bytes())
    assert not (heard := complaints()), heard


if __name__ == "__main__":
    main()
