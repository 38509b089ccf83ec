# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Builds that are made once: the kernel in virtual time, the module for it, the guest's programs,
and the plugin of tc for a Linux that is running."""

from __future__ import annotations

import functools
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sojourn.core.algorithm import Library
from sojourn.core.errors import InputError, RunError
from sojourn.core.hosts import HZ
from sojourn.core.progress import Progress
from sojourn.linux.uml import build, module
from sojourn.linux.uml.build import LINES, BuildError, Built, below, digest
from sojourn.linux.uml.module import CORE, QDISC, TC, core_sources
from sojourn.user_aqm.library import lay_out, shown

# Programs that the guest calls, and the Debian package of each.
_TOOLS = {
    "ip": "iproute2",
    "tc": "iproute2",
    "insmod": "kmod",
    "setpriv": "util-linux",
    "taskset": "util-linux",
}


_SYSTEM_PATH = "/usr/sbin:/sbin:/usr/bin:/bin"
# An ordinary user's PATH lacks the folders of tc.
_PATH = f"{os.environ.get('PATH', '')}:{_SYSTEM_PATH}"


def _missing(tools: Mapping[str, str], path: str) -> str:
    """Name the packages of the programs that are not on the path."""
    return " ".join(sorted({tools[tool] for tool in tools if not shutil.which(tool, path=path)}))


def _require(tools: Mapping[str, str], path: str) -> None:
    if missing := _missing(tools, path):
        raise RunError(f"missing programs; install them: apt install {missing}")


@dataclass(frozen=True)
class Kernel:
    """All that a boot needs."""

    built: Built
    module: Path

    @property
    def version(self) -> str:
        """Return the version under which results are filed.

        It holds the kernel's release, and digests of its build, of the module and of the programs.
        The last digest is of the code that turns a scenario into a guest.
        """
        parts = (self.built.kernel.parent, self.module.parent, self.built.programs)
        plan = digest(below(Path(__file__).parent, "*.py"))
        return " ".join(["linux", self.built.release, *(part.name for part in parts), plan])


@functools.cache
def ready(source: Path | None = None, hz: int = HZ) -> Kernel:
    """Return the kernel from the cache, or build it now; it counts `hz` ticks per second.

    RunError names the missing programs and how to install them. SOJOURN_KERNEL_SOURCE names
    another tree or archive than Debian's for every command.
    """
    if source is None and (named := os.environ.get("SOJOURN_KERNEL_SOURCE")):
        source = Path(named)
    if source and not source.exists():
        raise InputError(f"{source}: there is no such tree or archive of a kernel")
    _require(_TOOLS, _SYSTEM_PATH)
    try:
        with Progress("compiling the kernel", LINES) as progress:
            # Without a terminal the name of the log is enough.
            shown = progress.update if sys.stderr and sys.stderr.isatty() else lambda lines: None
            built = build.build(source, hz=hz, note=lambda lines: shown(min(lines, LINES)))
        return Kernel(built, module.module(built, trace="packets"))
    except BuildError as error:
        raise RunError(f"the kernel for --host linux: {error}") from error


def module_for(kernel: Kernel, files: Sequence[Library]) -> Path:
    """Build the module with these algorithms too; they replace ours of the same names."""
    if not files:
        return kernel.module
    try:
        return module.module(kernel.built, over=lay_out(files), trace="packets")
    except BuildError as error:
        names = ", ".join(shown(file.file) for file in files)
        raise RunError(f"{names}, as part of the module: {error}") from error


def ring_for(kernel: Kernel) -> Path:
    """Build the module of a driver's ring for this kernel."""
    try:
        return module.ring(kernel.built)
    except BuildError as error:
        raise RunError(f"the driver's ring for --host linux: {error}") from error


def examine(hz: int = HZ) -> list[tuple[str, bool, str]]:
    """List the needs of --host linux with a kernel of `hz` ticks per second; build nothing.

    Each need has a name, a truth value that tells whether it is met, and a detail.
    """
    missing = _missing({**_TOOLS, **build.NEEDED}, _PATH)
    programs = f"apt install {missing}" if missing else "all here"
    named = os.environ.get("SOJOURN_KERNEL_SOURCE")
    source = Path(named) if named else build.archive_here()
    if source and source.exists():
        origin = str(source)
    elif shutil.which("apt-get") and not named:
        origin = "not here; the first run fetches it, 150 MB"
    else:
        origin = f"not here; {build.ELSEWHERE}"
    needs = [
        ("linux: machine", platform.machine() == "x86_64", platform.machine()),
        ("linux: programs", not missing, programs),
        ("linux: source", bool(source and source.exists()), origin),
    ]
    kernel = None
    if source and source.exists() and not missing:
        kernel = build.kernel_folder(source, hz=hz) / "linux"
    built = bool(kernel and kernel.exists())
    place = str(kernel) if built else "not built; `sojourn linux build` does it, about 7 minutes"
    return [*needs, ("linux: kernel", built, place)]


# The programs that make the plugin, and the Debian packages that they come from.
_PLUGIN_TOOLS = {"gcc": "gcc", "make": "make"}


def plugin() -> Path:
    """Return the folder of q_sojourn.so; build it where the cache does not hold it yet."""
    _require(_PLUGIN_TOOLS, _PATH)
    sources = [*core_sources(CORE), CORE / "all.sh", *below(QDISC), *below(TC)]
    names = [f"{path.parent.name}/{path.name}" for path in sources]

    def make(folder: Path) -> None:
        build.run(["make", "-C", TC, f"BUILD={folder}"], folder / "build.log")

    try:
        build.require_plain_paths()
        return build.kept(
            build.cache_root() / f"tc-{digest(sources, [build.compiler_version(), *names])}", make
        )
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
