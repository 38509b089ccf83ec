# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Where IPv6's probes cannot be: in a kernel without IPv6, and where another module has their
protocol."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from sojourn.linux.uml.boot import boot
from sojourn.linux.uml.build import Built, run
from sojourn.linux.uml.module import QDISC

ROOT = Path(__file__).resolve().parents[2]
# The first case may have to build a kernel.
pytestmark = pytest.mark.timeout(1800)

# A dummy needs no neighbours.
JOB = """#!/bin/bash
set -e
export TC_LIB_DIR={plugin}
insmod taken.ko {words}
insmod {module}
ip link add d0 type dummy
ip link set d0 up
ip addr add 10.1.0.1/24 dev d0
ip -6 addr add fd01::1/64 dev d0 nodad
sleep 30
tc qdisc add dev d0 root sojourn asqm ratio 1 2>&1 || true
echo x >/dev/udp/10.1.0.2/9
echo "QUEUE $(tc -s -j qdisc show dev d0)"
echo x >/dev/udp/fd01::2/9
echo "QUEUE $(tc -s -j qdisc show dev d0)"
tc qdisc replace dev d0 root pfifo
rmmod sch_sojourn
rmmod taken
dmesg --color=never
"""


@pytest.fixture(scope="module")
def taken_ko(kernel: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    work = tmp_path_factory.mktemp("taken")
    (work / "taken.c").write_bytes((Path(__file__).parent / "taken.c").read_bytes())
    (work / "Kbuild").write_text("obj-m := taken.o\n")
    words: list[str | Path] = ["make", "-C", kernel.objects, "ARCH=um", f"M={work}", "modules"]
    run(words, work / "build.log")
    return work / "taken.ko"


def beside(taken_ko: Path, words: str, kernel: Built, module: Path, folder: Path) -> str:
    (folder / "taken.ko").symlink_to(taken_ko)
    job = folder / "job"
    job.write_text(JOB.format(plugin=module.parent, words=words, module=module))
    job.chmod(0o755)
    return boot(kernel, folder, limit_s=300).console


def test_ipv4_has_probes_where_another_module_has_the_protocol_of_ipv6(
    kernel: Built, sojourn_ko: Path, taken_ko: Path, tmp_path: Path
) -> None:
    console = beside(taken_ko, "", kernel, sojourn_ko, tmp_path)
    assert "sch_sojourn: IPv6 protocol 253 is another's: probes by IPv4 only" in console
    before, after = (
        json.loads(line)[0]["sojourn"]["probes"] for line in re.findall(r"QUEUE (.*)", console)
    )
    assert before["joined"] == after["joined"] == 1
    assert after["unmade"] == before["unmade"] + 1


def test_there_are_no_probes_where_another_module_has_the_protocol(
    kernel: Built, sojourn_ko: Path, taken_ko: Path, tmp_path: Path
) -> None:
    console = beside(taken_ko, "both=1", kernel, sojourn_ko, tmp_path)
    assert "Error: asqm: another module has IP protocol 253, which probes need." in console
    assert "sch_sojourn: IP protocol 253 is another's: no probes" in console


def test_a_kernel_without_ipv6_has_all_that_the_module_wants(kernel: Built, tmp_path: Path) -> None:
    """No reference to what such a kernel lacks; its headers are these, configured without IPv6."""
    none = tmp_path / "none.h"
    none.write_text("#undef CONFIG_IPV6\n")
    words = ["ARCH=um", f"KERNEL={kernel.objects}", f"BUILD={tmp_path / 'build'}", "-j2"]
    words += ["CONFIG_IPV6=", f"KCFLAGS=-include {none}"]
    run(["make", "-C", QDISC, *words], tmp_path / "build.log")
    module = tmp_path / "build/sch_sojourn.ko"
    done = subprocess.run(["nm", "-u", module], capture_output=True, text=True, check=True)
    wanted = done.stdout.split()[1::2]
    assert "inet_add_protocol" in wanted
    assert not [name for name in wanted if re.search(r"inet6|ipv6|ip6|in6", name)]
