# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""run.py: tdc.py of a kernel's tree on cases, in a guest of that kernel.

Its own folder is copied as it is; beside it stand a tdc_config_local.py, as its authors provide
for, and our cases. The Python that runs this runs it too. Without pyroute2 its nsPlugin asks
`ip` for a namespace and waits a tenth of a second at a time, which the guest's clock skips; its
timeouts of 24 s are the guest's, in which work takes no time. Nothing in it spins.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.linux.uml.boot import boot
from sojourn.linux.uml.build import Built

from tests.linux.tdc.upstream import FOLDER

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
LIMIT_S = 600
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
# IPv6 would send packets of its own, and they would be counted.
_JOB = """#!/bin/sh
insmod {module} || exit
sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
cd tdc || exit
{python} tdc.py --file cases.json --outfile results.tap >said.txt 2>&1
PYTHONPATH={root}:{root}/python {python} -S -c \
    'from tests.linux.net import complaints; print(*complaints(), sep="\\n")' >../complaints
"""
_LINE = re.compile(r"^(not ok|ok) \d+ (\S+) - (.*)$", re.M)


@dataclass(frozen=True)
class Result:
    """What became of one case; why, where it failed."""

    id: str
    name: str
    status: str
    why: str


class NoResults(Exception):
    """tdc.py did not come to its end."""


def lay_out(folder: Path, source: Path, module: Path, cases: Sequence[dict[str, Any]]) -> None:
    """The tree's own programs, a configuration, the cases."""
    theirs, scratch = source / FOLDER, folder / "tdc"
    (scratch / "plugin-lib").mkdir(parents=True)
    for path in [*theirs.glob("*.py"), *theirs.glob("plugin-lib/nsPlugin.py")]:
        shutil.copy(path, scratch / path.relative_to(theirs))
    shutil.copy(HERE / "pyroute2.py", scratch)
    names = {"RAW": "raw.py", "FRAMES": "frames.py"}
    python = f"{sys.executable} -S -E -B"
    extra = {name: f"{python} {HERE / program}" for name, program in names.items()}
    for name in "tc", "ip":
        extra[name.upper()] = str(shutil.which(name, path=PATH))
    environment = {"PATH": PATH, "TC_LIB_DIR": str(module.parent)}
    local = f"EXTRA_NAMES = {extra!r}\nENVIR = {environment!r}\n"
    (scratch / "tdc_config_local.py").write_text(local)
    (scratch / "cases.json").write_text(json.dumps(cases, indent=4))
    job = folder / "job"
    job.write_text(_JOB.format(module=module, python=f"{sys.executable} -B", root=ROOT))
    job.chmod(0o755)


def run(
    built: Built, module: Path, cases: Sequence[dict[str, Any]], folder: Path | None = None
) -> list[Result]:
    """A guest of its own; the results in the order of the cases."""
    with tempfile.TemporaryDirectory(prefix="sojourn-") as scratch:
        place = folder or Path(scratch)
        lay_out(place, built.source, module, cases)
        boot(built, place, limit_s=LIMIT_S)
        said = (place / "tdc/said.txt").read_text(errors="replace")
        tap = place / "tdc/results.tap"
        results = read(tap.read_text(errors="replace")) if tap.exists() else []
        complaints = (place / "complaints").read_text().strip()
    wanted = [case["id"] for case in cases]
    if [result.id for result in results] != wanted:
        raise NoResults(f"{len(results)} results of {len(wanted)} cases:\n{said[-3000:]}")
    if complaints:
        raise NoResults(f"the kernel complains:\n{complaints}")
    return results


def read(tap: str) -> list[Result]:
    """tdc writes what a failed case printed below its line, and skips in a remark."""
    found = []
    lines = list(_LINE.finditer(tap))
    ends = [line.start() for line in lines[1:]] + [len(tap)]
    for line, end in zip(lines, ends, strict=True):
        word, name, title = line.groups()
        title, _, skipped = title.partition(" # skipped - ")
        status = "skipped" if skipped else word
        found.append(Result(name, title, status, tap[line.end() : end].strip()))
    return found


def counts(results: Sequence[Result]) -> Counter[str]:
    return Counter(result.status for result in results)
