# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What figures were measured on."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

from sojourn.linux.uml.build import Built, compiler_version


def processor() -> str:
    models = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    today = datetime.date.today().isoformat()
    cores = f"{len(models)} cores of {models[0]}" if models else "unknown processor"
    return f"{today}, {cores}, gcc {compiler_version()}"


def machine(built: Built) -> str:
    return f"{processor()}, Linux {built.release} (User-Mode)"
