# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""debian.py: boot one of Debian's own kernels under QEMU with a few files of ours.

No virtual time and no disk: an archive in memory holds busybox, tc and the modules.
"""

from __future__ import annotations

import lzma
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sojourn.linux.uml.build import cache_root, kept, run

# Of a boot with its script; most take a minute, and hundreds of cases of tdc seven.
LIMIT_S = 1200
HEADERS = sorted(Path("/lib/modules").glob("*/build"))


def image(release: str) -> tuple[Path, Path]:
    """Kernel and modules folder: installed, or fetched with apt-get (no root)."""
    installed = Path(f"/boot/vmlinuz-{release}")
    if installed.is_file() and os.access(installed, os.R_OK):
        return installed, Path(f"/lib/modules/{release}")
    folder = cache_root() / f"debian-{release}"

    def fetch(work: Path) -> None:
        log = work / "fetch.log"
        run(["apt-get", "download", f"linux-image-{release}"], log, cwd=work)
        [package] = work.glob("*.deb")
        run(["dpkg-deb", "-x", package, work], log)
        package.unlink()

    kept(folder, fetch)
    return folder / f"boot/vmlinuz-{release}", folder / f"lib/modules/{release}"


def entry(name: str, mode: int, data: bytes) -> bytes:
    """One file of an archive in cpio's `newc` form."""
    numbers = [0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
    head = b"070701" + b"".join(b"%08x" % n for n in numbers) + name.encode() + b"\0"
    return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)


def archive(files: dict[str, bytes]) -> bytes:
    folders = sorted({str(up) for name in files for up in Path(name).parents} - {"."})
    parts = [entry(name, 0o40755, b"") for name in [*folders, "proc", "sys", "dev"]]
    parts += [entry(name, 0o100755, data) for name, data in files.items()]
    return b"".join(parts) + entry("TRAILER!!!", 0, b"")


def program(path: str) -> dict[str, bytes]:
    """A program and the libraries that it is linked with."""
    wanted = subprocess.check_output(["ldd", path], text=True)
    found = [path, *re.findall(r"(/\S+) \(0x", wanted)]
    return {name.lstrip("/"): Path(name).read_bytes() for name in found}


def kernel_module(modules: Path, name: str) -> bytes:
    [path] = modules.glob(f"kernel/**/{name}.ko*")
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


@dataclass(frozen=True)
class Guest:
    """A kernel of Debian's with its modules; busybox, tc and libraries of its processor; QEMU's
    words for a machine of it, and the console there."""

    kernel: Path
    modules: Path
    programs: Mapping[str, bytes]
    machine: tuple[str, ...]
    console: str


def own_guest(release: str) -> Guest:
    """Take the programs of this machine."""
    programs = {"bin/busybox": Path("/bin/busybox").read_bytes(), **program("/sbin/tc")}
    return Guest(*image(release), programs, ("qemu-system-x86_64",), "ttyS0")


def boot(
    guest: Guest, script: str, files: Mapping[str, bytes], folder: Path, more: str = ""
) -> str:
    """Run a shell script as process 1, with more words for the kernel; what both told."""
    whole = {**guest.programs, **files}
    for name in ("sch_htb", "sch_tbf"):
        whole[f"{name}.ko"] = kernel_module(guest.modules, name)
    whole["init"] = f"#!/bin/busybox sh\n{script}\n".encode()
    (folder / "initrd").write_bytes(archive(whole))
    words = f"console={guest.console} panic=-1 quiet loglevel=4 {more}"
    command = [*guest.machine, "-accel", "tcg", "-m", "512", "-nographic", "-no-reboot"]
    command += ["-kernel", str(guest.kernel), "-initrd", str(folder / "initrd"), "-append", words]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S, check=False
    )
    return done.stdout.decode(errors="replace").replace("\r\n", "\n")
