# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The module in a kernel that was configured without IPv6."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from sojourn.linux.uml.build import Built, run
from sojourn.linux.uml.module import QDISC

from tests.linux import alone
from tests.linux.tdc.sentences import NO_IPV6

# The first case may have to build a kernel.
pytestmark = pytest.mark.timeout(1800)

# The kernel compiles net/ipv6/addrconf_core.c and ip6_checksum.c with and without IPv6.
ALWAYS = {"__ipv6_addr_type", "csum_ipv6_magic"}


def test_a_kernel_without_ipv6_has_all_that_the_module_wants(kernel: Built, tmp_path: Path) -> None:
    """No reference to what such a kernel lacks; its headers are these, configured without IPv6."""
    words = [*without_ipv6(tmp_path), "ARCH=um", f"KERNEL={kernel.objects}", "-j2"]
    words.append(f"BUILD={tmp_path / 'build'}")
    run(["make", "-C", QDISC, *words], tmp_path / "build.log")
    holds_no_ipv6(tmp_path / "build/sch_sojourn.ko")


def test_so_does_an_exported_qdisc_that_probes(kernel: Built, tmp_path: Path) -> None:
    words = without_ipv6(tmp_path)
    said = alone.module("asqm", kernel.objects, tmp_path, "ARCH=um", *words)
    assert "sch_asqm.c" not in said, said
    holds_no_ipv6(tmp_path / "sch_asqm.ko")


def without_ipv6(folder: Path) -> list[str]:
    none = folder / "none.h"
    none.write_text("#undef CONFIG_IPV6\n")
    return ["CONFIG_IPV6=", f"KCFLAGS=-include {none}"]


def holds_no_ipv6(module: Path) -> None:
    done = subprocess.run(["nm", "-u", module], capture_output=True, text=True, check=True)
    wanted = set(done.stdout.split()[1::2])
    assert "ip_route_output_flow" in wanted
    assert not [name for name in wanted - ALWAYS if re.search(r"inet6|ipv6|ip6|in6", name)]
    assert "ipv6_mod_enabled" not in wanted and NO_IPV6.encode() in module.read_bytes()
