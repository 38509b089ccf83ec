# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""build.py: make the module for the virtual-time kernel, once per content.

    python -m linux.qdisc.build [--source TREE] [AQM.c ...]

For any other kernel the Makefile beside this file is enough.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from linux.uml.build import BuildError, Built, build, cache_root, digest, only_one, run

HERE = Path(__file__).resolve().parent
CORE = HERE.parents[1] / "aqm"


def module(built: Built, algorithms: Sequence[Path] = (), jobs: int = 2) -> Path:
    """sch_sojourn.ko for this kernel, with further algorithms, from the cache if there."""
    sources = [*CORE.glob("*.[ch]"), *CORE.glob("law/*.h"), CORE / "all.sh"]
    sources += [*HERE.glob("*.[ch]"), HERE / "Kbuild", HERE / "Makefile", *algorithms]
    key = digest(sorted(sources), [built.kernel.parent.name])
    folder = cache_root() / f"module-{key}"
    with only_one(folder.name):
        if not folder.exists():
            work = folder.with_suffix(".new")
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir(parents=True)
            make: list[str | Path] = ["make", "-C", HERE, "ARCH=um", f"-j{jobs}"]
            make += [f"KERNEL={built.objects}", f"BUILD={work}"]
            make += [f"AQM={' '.join(map(str, algorithms))}"]
            run(make, work / "build.log")
            work.rename(folder)
    return folder / "sch_sojourn.ko"


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
