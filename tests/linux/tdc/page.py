# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""page.py: what a run found, as it stands in docs/evidence/parity.md between two remarks."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from sojourn.algorithms import algorithms
from sojourn.linux.uml.build import Built

from tests.linux.tdc import differences
from tests.linux.tdc.groups import ALONE, REST, REWRITTEN, THEIRS, Outcome
from tests.linux.tdc.run import counts

PAGE = Path(__file__).resolve().parents[3] / "docs/evidence/parity.md"
COUNTS, DIFFERENCES = "tdc: counts", "tdc: differences"


def counted(found: Outcome) -> str:
    text = "| group | cases | ok | not ok | skipped |\n|---|--:|--:|--:|--:|\n"
    for group in *found.ours, THEIRS, REWRITTEN, ALONE, REST:
        number = counts(found.results[group])
        title = f"`{group}`" if group in algorithms() else group
        each = " | ".join(str(number[status]) for status in ("ok", "not ok", "skipped"))
        text += f"| {title} | {number.total()} | {each} |\n"
    return text


def versions(built: Built) -> str:
    tc = subprocess.check_output(
        [shutil.which("tc", path="/usr/sbin:/sbin") or "tc", "-V"], text=True
    )
    return f"Linux {built.release}, {tc.split(',')[1].strip()}"


def differing(built: Built, found: Outcome) -> str:
    return f"{versions(built)}:\n\n{differences.table(found.lines)}"


def block(name: str) -> str:
    return match(name)[2]


def renew(name: str, text: str) -> None:
    begin, _, end = match(name).groups()
    PAGE.write_text(PAGE.read_text().replace(match(name)[0], f"{begin}{text}{end}"))


def match(name: str) -> re.Match[str]:
    pattern = rf"(<!-- {name}[^>]*-->\n)(.*?)(<!-- end of {name} -->\n)"
    [found] = re.finditer(pattern, PAGE.read_text(), re.S)
    return found
