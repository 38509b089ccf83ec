# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""sources.py: what long runs in a kernel rest on.

Most test the queue and the module, whatever algorithm is in them. What an algorithm's own code
does is covered by runs that name it or go through all, and by the fuzzer, which is stale after
each change of it. So an algorithm that is new or changed asks only for its own runs again.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from sojourn.linux.uml.build import SANITIZERS

from tests.models.closure import c_files
from tests.models.library import CORE, ROOT, source_of

QDISC = ROOT / "linux/qdisc"


def commit() -> str:
    """Of this tree."""
    command = ["git", "rev-parse", "HEAD"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def queue_sources() -> set[Path]:
    """The queue and the module without any algorithm, and the kernel's configuration."""
    own = [*QDISC.glob("*.[ch]"), *(path for path in CORE.glob("*.c") if path.name != "all.c")]
    return {*c_files(own, [CORE, QDISC]), QDISC / "Kbuild", *SANITIZERS.parent.glob("*.config")}


def algorithm_sources(name: str) -> set[Path]:
    """One algorithm, with the laws that it includes."""
    return c_files([source_of(name)], [CORE])
