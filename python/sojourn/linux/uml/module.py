# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""module.py: make the module for the virtual-time kernel and tc's plugin, once per content.

    python -m sojourn.linux.uml.module [--source TREE] [AQM.c ...]

For any other kernel the Makefiles of linux/qdisc and linux/tc are enough.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from sojourn.linux.uml.build import (
    BuildError,
    Built,
    below,
    build,
    cache_root,
    digest,
    kept,
    run,
)

SOURCES = Path(__file__).parents[2] / "sources"
QDISC = (SOURCES / "linux/qdisc").resolve()
RING = (SOURCES / "linux/uml/ring").resolve()
TC = (SOURCES / "linux/tc").resolve()
CORE = (SOURCES / "aqm").resolve()
_NOT_COMPILED = ("check", "test")


def core_sources(core: Path) -> list[Path]:
    """List the compiled files of `aqm/` or a copy of it, without checks and tests."""
    return below(core, "*.[ch]", _NOT_COMPILED)


def qdisc_sources() -> list[Path]:
    """List all sources of the module, but a kernel and algorithms from elsewhere."""
    return [*core_sources(CORE), CORE / "all.sh", *below(QDISC)]


def module_key(
    built: Built, algorithms: Sequence[Path] = (), trace: str = "", over: Sequence[Path] = ()
) -> str:
    """Hash all inputs from which `module` makes a module and tc's plugin."""
    laid = [path for folder in over for path in below(folder, "*.[ch]")]
    sources = [*qdisc_sources(), *below(TC), *algorithms, *laid]
    names = [f"{path.parent.name}/{path.name}" for path in sources]
    return digest(sources, [built.kernel.parent.name, trace, *names])


def module(
    built: Built,
    algorithms: Sequence[Path] = (),
    jobs: int = 2,
    trace: str = "",
    over: Sequence[Path] = (),
) -> Path:
    """Return sch_sojourn.ko for this kernel, with further algorithms; build it where the cache
    does not hold it. q_sojourn.so lies beside it. `trace` selects its records: `events` or
    `packets`. Folders of `over` are copied over `aqm/`."""
    folder = cache_root() / f"module-{module_key(built, algorithms, trace, over)}"

    def make(work: Path) -> None:
        log = work / "build.log"
        kernel = ["ARCH=um", f"KERNEL={built.objects}", f"-j{jobs}"]
        kernel += [f"TRACE={trace}"] * bool(trace)
        further = [f"AQM={' '.join(map(str, algorithms))}", f"OVER={' '.join(map(str, over))}"]
        run(["make", "-C", QDISC, *kernel, f"BUILD={work}", *further], log)
        run(["make", "-C", TC, f"BUILD={work / 'tc'}", *further], log)
        (work / "tc/q_sojourn.so").rename(work / "q_sojourn.so")

    return kept(folder, make) / "sch_sojourn.ko"


def ring(built: Built) -> Path:
    """Return ring.ko for this kernel, a driver's ring as a device of the guest; build it where the
    cache does not hold it."""
    limits = built.source / "lib/dynamic_queue_limits.c"
    sources = [*below(RING), limits]
    key = digest(sources, [built.kernel.parent.name])

    def make(work: Path) -> None:
        for source in sources:
            shutil.copy(source, work)
        words: list[str | Path] = ["make", "-C", built.objects, "ARCH=um", f"M={work}", "modules"]
        run(words, work / "build.log")

    return kept(cache_root() / f"ring-{key}", make) / "ring.ko"


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the module for the virtual-time kernel.")
    parser.add_argument("--source", type=Path, help="kernel tree or archive instead of Debian's")
    parser.add_argument("algorithms", nargs="*", type=Path, help="further ones, to be built in")
    options = parser.parse_args()
    try:
        print(module(build(options.source), [path.resolve() for path in options.algorithms]))
    except BuildError as error:
        print(f"build: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
