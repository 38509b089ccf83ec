# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""processors.py: module and plugin, built for Debian's kernels of other processors.

    python -m tests.linux.processors [arm64 armhf s390x]

fetches the headers of Debian's kernel with a package index of its own, so that the system's stays
as it is, and builds both with Debian's compilers. A warning is a failure. Nothing is loaded.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from sojourn.linux.uml.build import BuildError, cache_root, kept, run

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Target:
    """Debian's and the kernel's name, the flavour of the kernel, the compiler, the ELF number."""

    debian: str
    kernel: str
    flavour: str
    compiler: str
    machine: int
    order: str  # of bytes

    def is_of(self, file: Path) -> bool:
        """Tell whether an ELF file is for this processor."""
        head = file.read_bytes()[:20]
        order = {1: "little", 2: "big"}.get(head[5])
        machine = int.from_bytes(head[18:20], "little" if order == "little" else "big")
        return head[:4] == b"\x7fELF" and (machine, order) == (self.machine, self.order)


TARGETS = {
    target.debian: target
    for target in (
        Target("arm64", "arm64", "arm64", "aarch64-linux-gnu-", 183, "little"),
        Target("armhf", "arm", "armmp", "arm-linux-gnueabihf-", 40, "little"),
        Target("s390x", "s390", "s390x", "s390x-linux-gnu-", 22, "big"),
    )
}


def headers(target: Target) -> Path:
    """The build folder of Debian's kernel, with this machine's programs in it."""

    def fetch(work: Path) -> None:
        log, index = work / "fetch.log", work / "apt"
        for place in ("state/lists/partial", "cache/archives/partial"):
            (index / place).mkdir(parents=True)
        own = ["-o", f"Dir::State={index}/state", "-o", f"Dir::Cache={index}/cache"]
        own += ["-o", "Dir::State::status=/var/lib/dpkg/status", "-o", "APT::Sandbox::User=root"]
        own += ["-o", f"APT::Architectures::={target.debian}"]
        # Where an index cannot be read, the others are enough.
        with contextlib.suppress(BuildError):
            run(["apt-get", *own, "update"], log)

        def depends(package: str) -> list[str]:
            command = ["apt-cache", *own, "show", "--no-all-versions", package]
            told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            [line] = re.findall(r"^Depends: (.*)", told, re.M)
            return re.findall(r"[\w.+-]+(?= \(|,|$)", line)

        [package] = [
            name
            for name in depends(f"linux-headers-{target.flavour}:{target.debian}")
            if name.startswith("linux-headers-")
        ]
        others = [
            name
            for name in depends(f"{package}:{target.debian}")
            if name.startswith(("linux-headers-", "linux-kbuild-"))
        ]
        run(["apt-get", *own, "download", f"{package}:{target.debian}", *others], log, cwd=work)
        for deb in work.glob("*.deb"):
            run(["dpkg-deb", "-x", deb, work], log)
            deb.unlink()
        shutil.rmtree(index)
        # Its path is that of an installed package.
        makefile = work / f"usr/src/{package}/Makefile"
        makefile.write_text(makefile.read_text().replace("/usr/src/", "../"))

    folder = kept(cache_root() / f"headers-{target.debian}", fetch)
    [made] = folder.glob(f"usr/src/linux-headers-*-{target.flavour}")
    return made


def build(target: Target, folder: Path) -> str:
    """Build both; the kernel's release. BuildError: a compiler or the headers are missing, it
    failed, it warned, or it is for another processor."""
    compiler = shutil.which(f"{target.compiler}gcc")
    if not compiler:
        raise BuildError(f"{target.compiler}gcc is missing; tools/need.sh deep installs it")
    kernel = headers(target)
    make: list[str | Path] = ["make", f"BUILD={folder}", "-C"]
    log = folder / "build.log"
    words = [f"KERNEL={kernel}", f"ARCH={target.kernel}", f"CROSS_COMPILE={target.compiler}"]
    run([*make, ROOT / "linux/qdisc", *words], log)
    run([*make, ROOT / "linux/tc", f"CC={compiler}"], log)
    if warning := re.search(r"^.*warning:.*$", log.read_text(), re.M):
        raise BuildError(f"{target.debian}: {warning[0]}")
    for name in ("sch_sojourn.ko", "q_sojourn.so"):
        if not target.is_of(folder / name):
            raise BuildError(f"{name} is for another processor than {target.debian}")
    return kernel.name.removeprefix("linux-headers-")


def main() -> str | None:
    """Build for all, or for those of these names."""
    names = sys.argv[1:] or list(TARGETS)
    for name in names:
        if name not in TARGETS:
            return f"{name}: no such processor; allowed: {', '.join(TARGETS)}"
        begun_s = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="sojourn-") as scratch:
            try:
                release = build(TARGETS[name], Path(scratch))
            except BuildError as error:
                return str(error)
        print(f"{name}: module for {release} and plugin, {time.monotonic() - begun_s:.0f} s")
    return None


if __name__ == "__main__":
    sys.exit(main())
