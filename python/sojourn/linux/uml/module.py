# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""module.py: make the module for the virtual-time kernel and tc's plugin, once per content.

    python -m sojourn.linux.uml.module [--source TREE] [AQM.c ...]

For any other kernel the Makefiles of linux/qdisc and linux/tc are enough.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from sojourn.linux.uml.build import BuildError, Built, build, cache_root, digest, kept, run

SOURCES = Path(__file__).parents[2] / "sources"
QDISC = (SOURCES / "linux/qdisc").resolve()
TC = (SOURCES / "linux/tc").resolve()
CORE = (SOURCES / "aqm").resolve()
_PARTS = ("", "law/", "algorithms/")


def core_sources(core: Path) -> list[Path]:
    """What is compiled in, of `aqm/` or a copy of it: neither checks nor tests."""
    return sorted(file for part in _PARTS for file in core.glob(f"{part}*.[ch]"))


def module(
    built: Built,
    algorithms: Sequence[Path] = (),
    jobs: int = 2,
    trace: str = "",
    over: Sequence[Path] = (),
) -> Path:
    """sch_sojourn.ko for this kernel, with further algorithms, from the cache if it is
    there; q_sojourn.so lies beside it. `trace` is what it records: `events`, `packets`.
    Folders of `over` are copied over `aqm/`."""
    sources = [*core_sources(CORE), CORE / "all.sh"]
    sources += [*QDISC.glob("*.[ch]"), QDISC / "Kbuild", QDISC / "Makefile"]
    sources += [*TC.glob("*.[ch]"), TC / "Makefile", *algorithms]
    laid = [(path, folder) for folder in over for path in sorted(folder.rglob("*.[ch]"))]
    names = [str(path.relative_to(folder)) for path, folder in laid]
    key = digest(
        [*sorted(sources), *(path for path, _ in laid)], [built.kernel.parent.name, trace, *names]
    )
    folder = cache_root() / f"module-{key}"

    def make(work: Path) -> None:
        log = work / "build.log"
        kernel = ["ARCH=um", f"KERNEL={built.objects}", f"-j{jobs}"]
        kernel += [f"TRACE={trace}"] * bool(trace)
        further = [f"AQM={' '.join(map(str, algorithms))}", f"OVER={' '.join(map(str, over))}"]
        run(["make", "-C", QDISC, *kernel, f"BUILD={work}", *further], log)
        run(["make", "-C", TC, f"BUILD={work / 'tc'}", *further], log)
        (work / "tc/q_sojourn.so").rename(work / "q_sojourn.so")

    return kept(folder, make) / "sch_sojourn.ko"


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
