# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""tcp_record.py: play the TCP scripts to Linux in virtual time; keep what it sends.

Each script gets a kernel of its own, so no trace depends on what ran before it.

    python -m validation.tcp_record [NAME ...] [--check]
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path

from sojourn.linux.uml.boot import BootError, boot
from sojourn.linux.uml.build import Built, build

from validation.tcp_script import scripts

ROOT = Path(__file__).resolve().parents[1]

LIMIT_S = 120


def play(built: Built, script: Path) -> str:
    """One script in a fresh kernel; the trace without its head."""
    with tempfile.TemporaryDirectory(prefix="sojourn-tcp-") as scratch:
        folder = Path(scratch)
        (folder / "script").write_text(script.read_text())
        job = folder / "job"
        guest = f"PYTHONPATH={ROOT} exec {sys.executable} -S -m validation.tcp_guest"
        job.write_text(f"#!/bin/sh\n{guest}\n")
        job.chmod(0o755)
        boot(built, folder, limit_s=LIMIT_S)
        return (folder / "trace").read_text()


def head(built: Built, script: Path) -> str:
    """What made the trace; and the script's settings, so that it stands alone."""
    wanted = ("set ", "tolerance ", "end ")
    lines = [line for line in script.read_text().splitlines() if line.startswith(wanted)]
    return "\n".join(
        [
            # REUSE-IgnoreStart
            "# SPDX-FileCopyrightText: 2026 The Sojourn authors",
            "# SPDX-License-Identifier: MIT OR GPL-2.0-only",
            # REUSE-IgnoreEnd
            f"# Linux {built.release} (User-Mode Linux, time-travel=inf-cpu, HZ=1000)",
            f"# python -m validation.tcp_record {script.stem}",
            "# Times in ms. `in` and `app` are the inputs, `out` is what Linux sent. ts: value and",
            "# echo; what Linux sends counts from 1 in its first segment. start_us: time 0 on the",
            "# clock of jiffies, modulo 2^24 of them, which decides how timers are rounded.",
            *lines,
            "",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Record what Linux answers to TCP scripts.")
    parser.add_argument("names", nargs="*", help="regular expressions on names; default: all")
    parser.add_argument("--check", action="store_true", help="compare with the kept traces")
    options = parser.parse_args()
    built, failed = build(), 0
    for script in scripts():
        if options.names and not any(re.fullmatch(name, script.stem) for name in options.names):
            continue
        trace = script.with_suffix(".linux.trace")
        try:
            text = head(built, script) + play(built, script)
        except BootError as error:
            print(f"{script.name}: {error}", file=sys.stderr)
            failed += 1
            continue
        if not options.check:
            trace.write_text(text)
        elif text != trace.read_text():
            print(f"{trace.name} is not what Linux answers now", file=sys.stderr)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
