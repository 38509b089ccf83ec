# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""processors.py: module and plugin on Debian's kernels of other processors.

    python -m tests.linux.processors [arm64 armhf mipsel s390x]

fetches the headers of Debian's kernel with a package index of its own, and the system's stays as
it is. It builds both with Debian's compilers; a warning is a failure. Then it boots that kernel
under QEMU, which emulates the processor, uses them there (uses.py), and plays cases of tdc there
(tdc/shell.py).
"""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sojourn.linux.uml.build import BuildError, cache_root, kept, run

from tests.linux.debian import Guest, boot, kernel_module
from tests.linux.tdc import shell
from tests.linux.uses import SCRIPT, fault

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Target:
    """Debian's and the kernel's name, the flavour of the kernel, the compiler, the ELF number, the
    order of bytes, QEMU's words for a machine and the console there."""

    debian: str
    kernel: str
    flavour: str
    compiler: str
    machine: int
    order: str
    qemu: tuple[str, ...]
    console: str

    def is_of(self, file: Path) -> bool:
        """Tell whether an ELF file is for this processor."""
        head = file.read_bytes()[:20]
        order = {1: "little", 2: "big"}.get(head[5])
        machine = int.from_bytes(head[18:20], "little" if order == "little" else "big")
        return head[:4] == b"\x7fELF" and (machine, order) == (self.machine, self.order)


ARM64 = ("qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a57"), "ttyAMA0"
ARM = ("qemu-system-arm", "-machine", "virt"), "ttyAMA0"
MIPS = ("qemu-system-mipsel", "-machine", "malta"), "ttyS0"
S390 = ("qemu-system-s390x",), "ttysclp0"
TARGETS = {
    target.debian: target
    for target in (
        Target("arm64", "arm64", "arm64", "aarch64-linux-gnu-", 183, "little", *ARM64),
        Target("armhf", "arm", "armmp", "arm-linux-gnueabihf-", 40, "little", *ARM),
        Target("mipsel", "mips", "4kc-malta", "mipsel-linux-gnu-", 8, "little", *MIPS),
        Target("s390x", "s390", "s390x", "s390x-linux-gnu-", 22, "big", *S390),
    )
}


@contextlib.contextmanager
def index(target: Target) -> Iterator[tuple[list[str], Path]]:
    """Read an index of packages that has this processor's too; yield options of apt for it, and the
    folder to which it downloads."""
    with tempfile.TemporaryDirectory(prefix="sojourn-") as scratch:
        place = Path(scratch)
        for name in ("state/lists/partial", "cache/archives/partial"):
            (place / name).mkdir(parents=True)
        # No package is installed there: of the system's, the index may not have that version.
        (place / "status").touch()
        own = ["-o", f"Dir::State={place}/state", "-o", f"Dir::Cache={place}/cache"]
        own += ["-o", f"Dir::State::status={place}/status", "-o", "APT::Sandbox::User=root"]
        own += ["-o", "Debug::NoLocking=true", "-o", f"APT::Architectures::={target.debian}"]
        # Where an index cannot be read, the others are enough.
        with contextlib.suppress(BuildError):
            run(["apt-get", *own, "update"], place / "update.log")
        yield own, place / "cache/archives"


def unpack(debs: Iterable[Path], work: Path, log: Path) -> None:
    for deb in debs:
        run(["dpkg-deb", "-x", deb, work], log)
        deb.unlink()


def headers(target: Target) -> Path:
    """The build folder of Debian's kernel, with this machine's programs in it."""

    def fetch(work: Path) -> None:
        with index(target) as (own, _):

            def depends(package: str) -> list[str]:
                command = ["apt-cache", *own, "show", "--no-all-versions", package]
                told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                [line] = re.findall(r"^Depends: (.*)", told, re.M)
                return re.findall(r"linux-(?:headers|kbuild)-[\w.+-]+(?= \(|,|$)", line)

            [package] = depends(f"linux-headers-{target.flavour}:{target.debian}")
            wanted = [f"{package}:{target.debian}", *depends(f"{package}:{target.debian}")]
            log = work / "fetch.log"
            run(["apt-get", *own, "download", *wanted], log, cwd=work)
        unpack(work.glob("*.deb"), work, log)
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


def guest(target: Target, release: str) -> Guest:
    """Fetch kernel, busybox and tc of this processor; nothing of its own runs here."""

    def fetch(work: Path) -> None:
        log = work / "fetch.log"
        wanted = [f"{name}:{target.debian}" for name in ("busybox-static", "iproute2")]
        with index(target) as (own, archives):
            kernel = f"linux-image-{release}:{target.debian}"
            run(["apt-get", *own, "download", kernel], log, cwd=archives)
            words = ["install", "--yes", "--download-only", "--no-install-recommends"]
            run(["apt-get", *own, *words, *wanted], log)
            # Packages for every processor bring some of this machine's with them.
            unpack(archives.glob(f"*_{target.debian}.deb"), work, log)

    root = kept(cache_root() / f"guest-{target.debian}-{release}", fetch)
    # The loader looks for libraries in /lib.
    libraries = [path for path in root.glob("**/*.so*") if path.is_file() and "lib" in path.parts]
    programs = {f"lib/{path.name}": path.read_bytes() for path in libraries}
    programs |= {name: (root / name).read_bytes() for name in ("bin/busybox", "sbin/tc")}
    programs["sbin/ip"] = (root / "bin/ip").read_bytes()
    [kernel] = root.glob("boot/vmlinu[xz]-*")
    modules = root / f"lib/modules/{release}"
    return Guest(kernel, modules, programs, target.qemu, target.console)


def use(target: Target, release: str, folder: Path) -> int:
    """Boot its kernel with what was built, once for uses and once for cases of tdc; return their
    number. BuildError: one fails."""
    own = guest(target, release)
    files = {name: (folder / name).read_bytes() for name in ("sch_sojourn.ko", "q_sojourn.so")}
    files["dummy.ko"] = kernel_module(own.modules, "dummy")
    cases = shell.cases()
    faults = [
        fault(boot(own, SCRIPT, files, folder)),
        shell.fault(boot(own, shell.script(cases), files, folder), cases),
    ]
    if wrong := "\n".join(filter(None, faults)):
        raise BuildError(f"{target.debian}: {wrong}")
    return len(cases)


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
                built_s = time.monotonic()
                played = use(TARGETS[name], release, Path(scratch))
            except BuildError as error:
                return str(error)
        print(f"{name}: module for {release} and plugin, {built_s - begun_s:.0f} s", end="")
        print(f"; used in that kernel, and {played} cases of tdc, ", end="")
        print(f"{time.monotonic() - built_s:.0f} s", flush=True)
    return None


if __name__ == "__main__":
    sys.exit(main())
