# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""recording.py: what the newer kernel's dualpi2 was given and gave, packet by packet.

    python -m validation.dualpi2.recording

records it anew in recording.npz, which validation/dualpi2/follow.py replays: tests/linux/witness.c
stands between HTB and the queue. L4S flows, Classic ones with and without ECN, and for a second and
a half datagrams of twice the link's rate.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import sojourn
from sojourn.linux.plan import plan
from sojourn.linux.uml.boot import boot

from tests.linux import witness
from tests.models.witnessed import Recorded, with_times
from validation.dualpi2 import newer
from validation.dualpi2.run import in_guest, know_the_kernels_own
from validation.dualpi2.variants import KERNEL

KEPT = Path(__file__).with_name("recording.npz")
SEED, LIMIT_S = 1, 600
# Of struct tc_dualpi2_xstats.
WORDS = (
    ("prob", 0, "u4"),
    ("ecn_mark", 24, "u4"),
    ("step_marks", 28, "u4"),
    ("credit", 32, "i4"),
)
SCENARIO = f"""
format = 2
name = "all that dualpi2 tells apart"
duration = "14 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "20 ms"
shaper = "htb"
aqm = "{KERNEL}"

[[dumbbell.flows]]
name = "l4s"
count = 2
transport = {{ kind = "tcp", cc = "dctcp", ecn = "ect1" }}

[[dumbbell.flows]]
name = "classic"
count = 2
transport = {{ kind = "tcp", cc = "cubic" }}

[[dumbbell.flows]]
name = "marked"
transport = {{ kind = "tcp", cc = "reno", ecn = true }}

[[dumbbell.flows]]
name = "overload"
transport = "udp"
app = {{ kind = "cbr", rate = "20 Mbit/s", payload = "1200 B" }}
start = "8 s"
start_spread = "0 s"
stop = "9500 ms"
"""


def record() -> tuple[Recorded, str]:
    """Run it; the columns, and the kernel's release."""
    know_the_kernels_own()
    built = newer.kernel()
    scenario = sojourn.loads(SCENARIO).to_engine()
    made = plan(scenario, SEED)
    [tap] = made.taps
    programs = built.programs
    with tempfile.TemporaryDirectory(prefix="sojourn-linux-") as scratch:
        folder = Path(scratch)
        for name, content in made.files.items():
            (folder / name).write_text(content)
        lines = ["#!/bin/sh", "set -e", "mount -t debugfs none /sys/kernel/debug"]
        lines += [f"insmod {witness.module(built)} shows=1", f"programs={programs}", ". ./network"]
        lines += [f"{in_guest(tap.space)} witness {tap.device}"]
        lines += ["t0=$(( $(date +%s) + 2 ))000000000", f"{programs}/play $t0 < flows > played"]
        lines += ["cat /sys/kernel/debug/witness > records"]
        script = folder / "job"
        script.write_text("\n".join([*lines, ""]))
        script.chmod(0o755)
        boot(built, folder, SEED, LIMIT_S)
        found = np.fromfile(folder / "records", witness.RECORD)
    return witness.columns(found, WORDS), built.release


def load() -> Recorded:
    """The columns as kept, and the kernel's release."""
    with np.load(KEPT) as kept:
        return with_times({column: kept[column] for column in kept.files})


def main() -> None:
    """Record and keep."""
    columns, release = record()
    everything: Any = columns | {"release": np.array(release)}
    np.savez_compressed(KEPT, **everything)
    print(f"{KEPT.name}: {len(columns['kind'])} records, {KEPT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
