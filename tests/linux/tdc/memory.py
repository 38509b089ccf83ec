# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""memory.py: how much memory a queue with flows takes, from what the kernel tells of two."""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sojourn import algorithms
from sojourn.linux.uml.boot import boot
from sojourn.linux.uml.build import Built

from tests.linux.tdc.case import Form
from tests.linux.tdc.sentences import say

FEW, MORE = 256, 512
# One document a line: what is refused leaves none.
_JOB = """#!/bin/sh
export TC_LIB_DIR={plugin}
insmod {module} && ip link add d0 type dummy || exit
while read -r words; do
    tc qdisc add dev d0 root sojourn $words || continue
    tc -s -j qdisc show dev d0
    tc qdisc del dev d0 root
done <forms >memory 2>/dev/null
true
"""


@dataclass(frozen=True)
class Memory:
    """Bytes by algorithm and number of flows; those of other numbers lie on one line."""

    bytes_of: dict[tuple[str, int], int]

    def refusal(self, form: Form) -> str:
        """The kernel's sentence where this form wants too much."""
        flows = form.rows.get("flows", 0)
        few, more = (self.bytes_of.get((form.algorithm, known), 0) for known in (FEW, MORE))
        wanted_mb = (few + (flows - FEW) * (more - few) // (MORE - FEW)) >> 20
        sentence = say("MB is wanted", wanted_mb)
        [most_mb] = re.findall(r"(\d+) MB is the most", sentence)
        return sentence if flows and wanted_mb >= int(most_mb) else ""


def measure(built: Built, module: Path) -> Memory:
    forms = [(name, flows) for name in algorithms.algorithms() for flows in (FEW, MORE)]
    with tempfile.TemporaryDirectory(prefix="sojourn-") as scratch:
        folder = Path(scratch)
        (folder / "forms").write_text("".join(f"{name} flows {n}\n" for name, n in forms))
        job = folder / "job"
        job.write_text(_JOB.format(plugin=module.parent, module=module))
        job.chmod(0o755)
        boot(built, folder, limit_s=60)
        told = [json.loads(line)[0] for line in (folder / "memory").read_text().splitlines()]
    options = [(queue["options"]["algorithm"], queue["options"]["flows"]) for queue in told]
    return Memory(dict(zip(options, [q["sojourn"]["memory_bytes"] for q in told], strict=True)))
