# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""aftermath.py: in a guest with sanitizers, after a case: looks for leaks and messages.

python -m tests.linux.aftermath

Takes down the case's set-up, unloads the module, makes the kernel scan for unreferenced memory,
and fails with all that the kernel printed.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from tests.linux.net import do

# How the kernel's checkers begin, and how most of them end.
SPLATS = ("BUG:", "WARNING:", "UBSAN:", "ODEBUG:", "INFO:", "Oops", "Call Trace:")
REFERENCES = ("ref_tracker:", "refcount_t:", "leaked reference", "unregister_netdevice:")
DEBUG = Path("/sys/kernel/debug")
KMEMLEAK = DEBUG / "kmemleak"
# kmemleak passes over what was allocated within 5 s.
YOUNG_S = 6


def mount_debugfs() -> None:
    if not KMEMLEAK.exists():
        do(f"mount -t debugfs none {DEBUG}")


def unload() -> None:
    """A namespace is removed later, and until then its queues hold the module."""
    do("ip -all netns del")
    subprocess.run(["ip", "link", "del", "c0"], capture_output=True, check=False)
    for _ in range(100):
        if "sch_sojourn " not in Path("/proc/modules").read_text():
            return
        subprocess.run(["rmmod", "sch_sojourn"], capture_output=True, check=False)
        time.sleep(0.1)
    raise AssertionError("somebody still holds the module")


def leaks() -> str:
    """kmemleak's report; a block counts when two scans have found it lost and unchanged."""
    time.sleep(YOUNG_S)
    for _ in range(2):
        KMEMLEAK.write_text("scan")
    return KMEMLEAK.read_text()


def main() -> None:
    mount_debugfs()
    # Before the module goes, and the names of its functions with it.
    lost = leaks()
    unload()
    lost = lost or leaks()
    log = do("dmesg")
    said = [line for line in log.splitlines() if any(word in line for word in SPLATS + REFERENCES)]
    # Lockdep stops after its first report of any kind.
    asleep = "debug_locks: 1" not in " ".join(Path("/proc/lockdep_stats").read_text().split())
    if said or lost or asleep:
        print(log[log.find(said[0]) :] if said else "", lost, flush=True)
    assert not said, said[0]
    assert not lost, lost.splitlines()[0]
    assert not asleep, "lockdep is off"


if __name__ == "__main__":
    main()
