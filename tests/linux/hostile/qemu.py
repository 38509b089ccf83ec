# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""qemu.py: the storm in one of Debian's own kernels, on four processors and in real time.

The storm is the first process of a machine in which there is nothing else but modules.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from sojourn.linux.uml.build import BuildError, run

from tests.linux.debian import HEADERS, archive, image, kernel_module
from tests.linux.hostile.play import WORDS, Manner, Played, count, fault_in, storm
from tests.models.library import ROOT

PROCESSORS = 4
ROUND_MS = 2500
MEMORY_MB = 1536
# Devices, and what leads packets to them and into classes.
SURROUNDINGS = ["veth", "dummy", "ifb", "tun", "bridge", "8021q"]
SURROUNDINGS += ["sch_ingress", "cls_u32", "act_mirred"]
# Of a storm of probes; what a kernel does not have is skipped there.
OF_ENDS = ["vxlan", "vrf", "xfrm_user", "esp4", "esp6", "authenc", "crypto_null", "echainiv"]
OF_ENDS += ["nf_tables", "nft_ct", "nft_masq", "nft_chain_nat", "act_tunnel_key"]
# One processor of four that are played on two: what is silent for so long is stuck.
QUIET_S = 180.0
LIMIT_S = 900.0
LOCKUP = re.compile(r"(soft lockup|rcu_preempt detected stalls|self-detected stall).*")
# Freed memory is poisoned, and what is written beyond an object or after its end is told. So is
# a task that waits too long; a break on the console lists all tasks. A kernel that tests its timer
# on a busy machine may believe that it has none, and panic.
COMMAND_LINE = "console=ttyS0 panic=-1 loglevel=4 slub_debug=FZP sysrq_always_enabled=1"
COMMAND_LINE += " sysctl.kernel.hung_task_timeout_secs=60 no_timer_check"
# How long the kernel may take to write down all of them.
TELL_S = 30.0


def missing() -> str:
    """What is wanted and not here; nothing: an empty sentence."""
    if not HEADERS:
        return "no kernel headers: apt install linux-headers-cloud-amd64"
    if not shutil.which("qemu-system-x86_64"):
        return "qemu-system-x86_64 is missing: apt install qemu-system-x86"
    return ""


def release() -> str:
    return HEADERS[-1].parent.name


def module(folder: Path, core: Path = ROOT) -> Path:
    """Ours, for the newest of Debian's kernels whose headers are here."""
    make: list[str | Path] = ["make", "-s", "-C", core / "linux/qdisc", f"KERNEL={HEADERS[-1]}"]
    run([*make, f"BUILD={folder}"], folder.with_suffix(".log"))
    return folder / "sch_sojourn.ko"


def needed(modules: Path, name: str, found: dict[str, bytes]) -> None:
    """A module and what it depends on, in the order of their loading."""
    if name in found or re.search(rf"/{name}\.ko$", builtin(modules), re.M):
        return
    data = kernel_module(modules, name)
    depends = re.search(rb"\0depends=([^\0]*)\0", data)
    for other in depends[1].decode().split(",") if depends and depends[1] else []:
        needed(modules, other, found)
    found[name] = data


def builtin(modules: Path) -> str:
    return (modules / "modules.builtin").read_text()


def disk(program: Path, ours: Path, arguments: list[str], wanted: Sequence[str]) -> bytes:
    """The archive that the machine has for a disk, with these modules where they are."""
    _, modules = image(release())
    kinds = subprocess.check_output([program, "--kinds"], text=True).split()
    found: dict[str, bytes] = {}
    for name in [*SURROUNDINGS, *(f"sch_{kind}" for kind in kinds if kind != "mq")]:
        needed(modules, name, found)
    for name in wanted:
        if any(modules.glob(f"kernel/**/{name}.ko*")):
            needed(modules, name, found)
    found["sch_sojourn"] = ours.read_bytes()
    files = {f"{name}.ko": data for name, data in found.items()}
    files["modules"] = "".join(f"/{name}.ko\n" for name in found).encode()
    files["arguments"] = "".join(f"{word}\n" for word in arguments).encode()
    files["init"] = program.read_bytes()
    return archive(files)


def ask_where_it_hangs(process: subprocess.Popen[bytes], console: Path) -> None:
    """Tasks, those that wait, and work that is under way: a break on the console and a key."""
    assert process.stdin
    end_s, size = time.monotonic() + TELL_S, -1
    for key in (b"9", b"l", b"w", b"t"):
        # A kernel that has panicked is gone.
        with contextlib.suppress(OSError):
            process.stdin.write(b"\x01b" + key)
            process.stdin.flush()
        time.sleep(1)
    while size != console.stat().st_size and time.monotonic() < end_s:
        size = console.stat().st_size
        time.sleep(3)


def ended(process: subprocess.Popen[bytes], console: Path) -> str:
    """Why the machine did not come to its end; nothing: it did."""
    end_s, size, since_s = time.monotonic() + LIMIT_S, 0, time.monotonic()
    while process.poll() is None:
        time.sleep(0.2)
        now = console.stat().st_size
        if now != size:
            size, since_s = now, time.monotonic()
            if found := LOCKUP.search(console.read_text(errors="replace")):
                ask_where_it_hangs(process, console)
                return f"hang: {found[0]}"
        if time.monotonic() > end_s or time.monotonic() - since_s > QUIET_S:
            ask_where_it_hangs(process, console)
            return "hang"
    return ""


def play(
    ours: Path, seeds: range, rounds: str, program: Path | None = None, *, ends: bool = False
) -> Played:
    """Play rounds of many processes for each seed, in one machine."""
    if why := missing():
        raise BuildError(why)
    program = program or storm(ours)
    # Each complaint has a line of its own besides its calls, and the storm excuses some.
    words = WORDS.replace("|Call Trace:", "")
    manner = Manner(ends=ends, round_ms=ROUND_MS)
    arguments = [str(seeds.start), str(seeds.stop - 1), rounds, words]
    arguments += manner.words("/sch_sojourn.ko")
    command = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-smp", str(PROCESSORS)]
    command += ["-cpu", "max", "-m", str(MEMORY_MB), "-nic", "none", "-nographic", "-no-reboot"]
    with tempfile.TemporaryDirectory(prefix="sojourn-") as scratch:
        initrd, console = Path(scratch) / "initrd", Path(scratch) / "console.txt"
        initrd.write_bytes(disk(program, ours, arguments, OF_ENDS if ends else []))
        kernel, _ = image(release())
        command += ["-kernel", str(kernel), "-initrd", str(initrd), "-append", COMMAND_LINE]
        with console.open("wb") as out:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=out)
            try:
                trouble = ended(process, console)
            finally:
                process.kill()
                process.wait()
        said = console.read_text(errors="replace").replace("\r\n", "\n")
    if not trouble and "job status 0\n" not in said:
        trouble = "the machine ended without a word"
    return Played(said, fault_in(said, trouble), count(said))
