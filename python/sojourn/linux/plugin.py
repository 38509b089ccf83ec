# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The build of tc's plugin, once per content, and the system's `tc` with it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from sojourn.core.errors import RunError
from sojourn.linux.uml.build import (
    BuildError,
    below,
    cache_root,
    compiler_version,
    digest,
    kept,
    require_plain_paths,
    run,
)
from sojourn.linux.uml.module import CORE, QDISC, TC, core_sources

# An ordinary user's PATH lacks the folders of tc.
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin:/usr/bin:/bin"
# Programs that make the plugin, and the Debian packages that they come from.
_NEEDED = {"gcc": "gcc", "make": "make"}


def plugin() -> Path:
    """Return the folder of q_sojourn.so; build it where the cache does not hold it yet."""
    missing = [package for tool, package in _NEEDED.items() if not shutil.which(tool, path=_PATH)]
    if missing:
        raise RunError(f"missing programs; install them: apt install {' '.join(missing)}")
    sources = [*core_sources(CORE), CORE / "all.sh", *below(QDISC), *below(TC)]
    names = [f"{path.parent.name}/{path.name}" for path in sources]

    def make(folder: Path) -> None:
        run(["make", "-C", TC, f"BUILD={folder}"], folder / "build.log")

    try:
        require_plain_paths()
        return kept(cache_root() / f"tc-{digest(sources, [compiler_version(), *names])}", make)
    except BuildError as error:
        raise RunError(f"the plugin of tc: {error}") from error


def tc(words: Sequence[str]) -> int:
    """Run the system's tc with these words and the plugin; return its status.

    A TC_LIB_DIR that is set stays: its plugin may know further algorithms.
    """
    program = shutil.which("tc", path=_PATH)
    if not program:
        raise RunError("there is no program tc here; install it: apt install iproute2")
    folder = os.environ.get("TC_LIB_DIR") or str(plugin())
    command = [program, *words]
    return subprocess.run(command, env={**os.environ, "TC_LIB_DIR": folder}).returncode
