# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""spoils.py: mistakes made on purpose in copies of the module; the storm must find each."""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sojourn.linux.uml.build import BuildError, Built, run
from sojourn.linux.uml.module import module

from tests.linux.hostile import qemu
from tests.linux.hostile.play import Fault, Manner, play, storm
from tests.models.library import ROOT

STEPS = "0-150"
SEEDS = range(1, 181)
ROUNDS = "0-3"
# With hangs among them, which are waited for.
QUIET_S = 20.0


@dataclass(frozen=True)
class Spoil:
    """A mistake, the kernel in which it is looked for, and what the storm must say."""

    name: str
    file: str
    right: str
    wrong: str
    said: str
    kernel: str = "virtual"
    ends: bool = False  # looked for by a storm of probes
    seeds: range | None = None  # where few of all find it


SPOILS = [
    Spoil(
        "a victim that is not counted",
        "linux/qdisc/host.h",
        "\tlost->pkts++;\n",
        "\tlost->pkts += why != AQM_WHY_FAT;\n",
        "held|count|hold|stuck",
    ),
    Spoil(
        "a byte too much on a victim",
        "linux/qdisc/host.h",
        "\tlost->bytes += qdisc_pkt_len(skb);\n",
        "\tlost->bytes += qdisc_pkt_len(skb) + (why == AQM_WHY_FAT);\n",
        "bytes",
    ),
    Spoil(
        "parents that do not hear of a lowered limit",
        "linux/qdisc/sch_sojourn.c",
        "\ttell_parents(sch);\n\tdropped",
        "\tdropped",
        "held|count|hold|stuck",
    ),
    Spoil(
        "a packet that is never freed",
        "linux/qdisc/sch_sojourn.c",
        "\tconsume_skb(skb);\n",
        "",
        "unreferenced object|holds the module",
        "sanitizers",
    ),
    Spoil(
        "a debt that nobody pays",
        "aqm/queue/flows.h",
        "in->credit_bytes += (s64)rounds * q->quantum_bytes;",
        "in->credit_bytes += (s64)rounds * 0;",
        "hangs",
    ),
    Spoil(
        "a parent that counts nothing for a moment",
        "linux/qdisc/sch_sojourn.c",
        "sch->q.qlen > (counted ? 1 : 0)",
        "sch->q.qlen > 0",
        "stuck",
        seeds=range(381, 481),
    ),
    Spoil(
        "a mark in a VLAN tag",
        "linux/qdisc/ip_header.h",
        "\tif (unlikely(eth_type_vlan(skb->protocol) || !type_agrees(skb)))\n",
        "\tif (eth_type_vlan(skb->protocol))\n",
        "(bytes|tags) have changed",
    ),
    Spoil(
        "rows that are not tested together",
        "linux/qdisc/netlink.c",
        "\tif (no.sentence) {\n",
        "\tif (0) {\n",
        "taken, though it should be refused",
    ),
    Spoil(
        "a row that is read with a mistake",
        "linux/qdisc/netlink.c",
        "\tif (!aqm_field_set(row, base, value))\n",
        "\tif (!aqm_field_set(row, base, value == 3 ? 4 : value))\n",
        "is not as it was asked for",
    ),
    Spoil(
        "a packet of ICMP that asks for a probe",
        "linux/qdisc/probe.c",
        "protocol != echo_of(ip.bytes == sizeof(struct iphdr)) &&",
        "protocol != IPPROTO_ICMPV6 &&",
        "hangs|nobody speaks",
        ends=True,
    ),
    Spoil(
        "a tunnel beside a packet that is taken for its route",
        "linux/qdisc/probe.c",
        "skb_valid_dst(asking) ? skb_dst(asking) : NULL;",
        "skb_dst(asking);",
        "panics",
        ends=True,
    ),
    Spoil(
        "routes that outlive their queue",
        "linux/qdisc/probe_send.c",
        "\t\tdst_release(p->routes[i].dst);\n",
        "\t\t;\n",
        "unreferenced object|unregister_netdevice|ref_tracker|KASAN",
        "sanitizers",
        ends=True,
    ),
    Spoil(
        "a search that outlives its queue",
        "linux/qdisc/probe_send.c",
        "\tcancel_work_sync(&p->search);\n",
        "",
        "KASAN|panics|ODEBUG|WARNING|unreferenced",
        "sanitizers",
        ends=True,
    ),
    Spoil(
        "sockets that are closed under RTNL",
        "linux/qdisc/hear.c",
        "\tmutex_unlock(&h->lock);\n\tschedule_work(&h->closing);\n",
        "\tmutex_unlock(&h->lock);\n\th->closing.func(&h->closing);\n",
        "hangs|does not come to its end|deadlock|recursive",
        "sanitizers",
        ends=True,
    ),
    Spoil(
        "a change without the lock of the tree",
        "linux/qdisc/sch_sojourn.c",
        "\tsch_tree_lock(sch);\n\tif (choice->anew)",
        "\tif (0)\n\t\tsch_tree_lock(sch);\n\tif (choice->anew)",
        ".",
        "debian",
    ),
]


def spoilt(spoil: Spoil, built: Built, work: Path) -> Path:
    """The module with a mistake in it, made from a copy of its sources."""
    for folder in ("aqm", "linux/qdisc"):
        shutil.copytree(ROOT / folder, work / folder)
    source = work / spoil.file
    text = source.read_text()
    if text.count(spoil.right) != 1:
        raise BuildError(f"{spoil.name}: {spoil.file} does not have this once:\n{spoil.right}")
    source.write_text(text.replace(spoil.right, spoil.wrong))
    if spoil.kernel == "debian":
        return qemu.module(work / "build", work)
    make: list[str | Path] = ["make", "-C", work / "linux/qdisc", "ARCH=um"]
    run([*make, f"KERNEL={built.objects}", f"BUILD={work / 'build'}"], work / "build.log")
    return work / "build/sch_sojourn.ko"


def found(spoil: Spoil, built: Built) -> Fault:
    """The fault that the storm finds; BuildError where it finds none, or another."""
    with tempfile.TemporaryDirectory(prefix="sojourn-") as scratch:
        wrong, tables = spoilt(spoil, built, Path(scratch)), storm(module(built))
        if spoil.kernel == "debian":
            played = qemu.play(wrong, SEEDS, ROUNDS, tables)
        else:
            leaks = spoil.kernel == "sanitizers"
            seeds = spoil.seeds or (range(1, 6) if leaks else SEEDS)
            manner = Manner(sanitizers=leaks, ends=spoil.ends)
            played = play(built, wrong, seeds, STEPS, manner, program=tables, quiet_s=QUIET_S)
    if not played.fault:
        raise BuildError(f"nobody has found {spoil.name}")
    if not re.search(spoil.said, played.fault.sentence):
        raise BuildError(f"{spoil.name} was taken for this: {played.fault}")
    return played.fault
