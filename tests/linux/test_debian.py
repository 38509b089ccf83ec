# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The module as users build it, in each of Debian's kernels whose headers are here."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.linux.debian import HEADERS, boot, own_guest, program
from tests.linux.uses import SCRIPT, fault

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.timeout(600)


# In dash the unit's script calls kmod's modprobe and iproute2's tc; busybox would call its own.
REFUSED = """
export PATH=/sbin:/bin TC_LIB_DIR=/
/bin/busybox --install -s /bin
mount -t proc proc /proc
folder=/lib/modules/$(uname -r)
mkdir -p $folder
cp /sch_sojourn.ko $folder
/sbin/depmod
/sbin/insmod /sch_sojourn.ko
/sbin/tc qdisc add dev lo root sojourn codel
dash /sojourn-qdisc start lo
echo "status $?"
ip link set lo up
ping -q -c 5 127.0.0.1
poweroff -f
"""
# What modprobe and insmod tell by the kernel's word, and the table of docs/guide/router.md has.
ONLY_SIGNED = {
    "lockdown=integrity": "Operation not permitted",
    "module.sig_enforce=1": "Key was rejected by service",
}


@pytest.fixture(scope="module", params=HEADERS, ids=lambda path: path.parent.name)
def release_and_files(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, dict[str, bytes]]:
    """A kernel, and the files that were built for it."""
    for tool in ("qemu-system-x86_64", "busybox", "tc"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is missing: apt install qemu-system-x86 busybox-static iproute2")
    headers, build = request.param, tmp_path_factory.mktemp("build")
    make = ["make", "-s", f"BUILD={build}"]
    built = subprocess.run(
        [*make, "-C", ROOT / "linux/qdisc", f"KERNEL={headers}"], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    assert "warning:" not in built.stderr, built.stderr
    subprocess.run([*make, "-C", ROOT / "linux/tc"], check=True)
    files = {name: (build / name).read_bytes() for name in ("sch_sojourn.ko", "q_sojourn.so")}
    return headers.parent.name, files


def test_debians_kernel_loads_uses_and_removes_the_module(
    release_and_files: tuple[str, dict[str, bytes]], tmp_path: Path
) -> None:
    release, files = release_and_files
    assert not fault(boot(own_guest(release), SCRIPT, files, tmp_path))


@pytest.mark.parametrize("word", ONLY_SIGNED)
def test_where_only_signed_modules_load_the_unit_tells_the_remedy_and_the_network_works(
    release_and_files: tuple[str, dict[str, bytes]], word: str, tmp_path: Path
) -> None:
    release, files = release_and_files
    more = program("/sbin/modprobe") | program("/bin/dash")
    more |= {f"sbin/{name}": more["sbin/modprobe"] for name in ("insmod", "depmod")}
    unit = (ROOT / "linux/boot/sojourn-qdisc").read_bytes()
    conf = b"UP=\nDOWN=\nQUEUE=codel\n"
    more |= {"sojourn-qdisc": unit, "etc/sojourn/lo.conf": conf}
    console = boot(own_guest(release), REFUSED, more | files, tmp_path, word)
    assert f"insmod: ERROR: could not insert module /sch_sojourn.ko: {ONLY_SIGNED[word]}" in console
    assert "Error: Specified qdisc kind is unknown." in console, console
    [remedy] = re.findall(r"fail '(.*\(Secure Boot\).*)' ;;", unit.decode())
    assert f"sojourn-qdisc: {remedy}\nstatus 1\n" in console, console
    assert "5 packets received, 0% packet loss" in console, console


def test_there_are_headers_to_build_with() -> None:
    if not HEADERS:
        pytest.skip("no kernel headers: apt install linux-headers-cloud-amd64")
