# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""traffic.py: packets through the queue, counted; as root and as a leaf of every parent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from sojourn import algorithms

from tests.linux import tables
from tests.linux.tdc.case import ADD, ROOT, Case, Form, as_json, literally, together
from tests.linux.tdc.frames import FRAME_BYTES
from tests.linux.tdc.memory import Memory
from tests.linux.tdc.rows import one_of_each_kind
from tests.linux.trees import PARENTS, TBF

FEW, MANY, LIMIT_PKTS = 7, 20, 5
STATS = "$TC -s qdisc show dev $DUMMY"
NUMBER = "[0-9.e-]+"


def forms(algorithm: str, known: Memory) -> list[Form]:
    """Alone, and divided into flows where that goes and so many fit into a queue."""
    flows = Form(algorithm, {"flows": tables.FQ_FLOWS})
    both = [flows] if algorithms.rows_of(algorithm)["flows"].default else [Form(algorithm), flows]
    return [form for form in both if not (form.refusal() or known.refusal(form))]


def words(form: Form) -> str:
    return f"fq {form.algorithm}" if form.rows.get("flows") else form.typed()


def parents(algorithm: str) -> Iterator[str]:
    """One algorithm of each kind goes below each parent, the others below some by turns."""
    if algorithm in one_of_each_kind():
        yield from PARENTS
    else:
        turn = list(algorithms.algorithms()).index(algorithm)
        yield from (parent for n, parent in enumerate(PARENTS) if n % 4 == turn % 4)


def cases(algorithm: str, known: Memory) -> Iterator[Case]:
    for form in forms(algorithm, known):
        yield _named(form)
        yield _counted_in_json(form)
        yield _overloaded(form)
        for parent in parents(algorithm):
            yield _below(parent, form)


def _named(form: Form) -> Case:
    """`fq` stands for a number of flows."""
    name = f"{words(form)}: made by this name"
    return Case(name, f"{ADD} {words(form)}", STATS, rf"^{literally(f'{ROOT} {form.shown()}')}\n")


def _counted_in_json(form: Form) -> Case:
    sent = f"$FRAMES $DUMMY {FEW} 0"
    verify = together(sent, "$TC -s -j qdisc show dev $DUMMY")
    name = f"{words(form)}: statistics in JSON"
    return Case(name, f"{ADD} {words(form)}", verify, rf"\A{_document(form)}\n?\Z")


def _overloaded(form: Form) -> Case:
    """A link that has sent one packet and not yet the next, which its bucket has asked for."""
    link = "$TC qdisc add dev $DUMMY root handle 9: tbf rate 8kbit burst 1000 limit 10mb"
    command = (
        f"$TC qdisc add dev $DUMMY parent 9:1 handle 1: sojourn {words(form)} limit {LIMIT_PKTS}"
    )
    verify = together(f"$FRAMES $DUMMY {MANY} 0", STATS)
    if form.rows.get("flows"):
        why, dropped = "fat", "[0-9]+"
    else:
        why, dropped = "limit", str(MANY - 2 - LIMIT_PKTS)
    name = f"{words(form)}: {MANY} packets at a limit of {LIMIT_PKTS}"
    pattern = (
        rf"^qdisc sojourn 1: parent 9:1 [^\n]*\n Sent {2 * FRAME_BYTES} bytes 2 pkt "
        rf"\(dropped (?P<lost>{dropped}), overlimits 0 requeues 0\) \n[^\n]*\n"
        rf"  counts in_pkts {MANY} in_bytes {MANY * FRAME_BYTES} out_pkts 2 "
        rf"out_bytes {2 * FRAME_BYTES} drop_bytes (?P=lost)000 \n  drops {why} (?P=lost) \n"
    )
    return Case(name, command, verify, pattern, setup=(link,))


def _below(parent: str, form: Form) -> Case:
    """The last leaf gets the packets, and the link is given time for all of them."""
    kind = PARENTS[parent]
    where, own = f"1:{kind.leaves[-1]}", f"{kind.leaves[-1]}0:"
    commands = kind.commands() if kind.limits else [TBF, *kind.commands("parent 9:1")]
    setup = [c.replace("dev c0", "dev $DUMMY").replace("tc ", "$TC ", 1) for c in commands]
    command = f"$TC qdisc add dev $DUMMY parent {where} handle {own} sojourn {words(form)}"
    verify = together(f"$FRAMES $DUMMY {FEW} {where}", "sleep 1", STATS)
    length = FEW * FRAME_BYTES
    lines = (
        f"qdisc sojourn {own} parent {where} {form.shown()}\n"
        f" Sent {length} bytes {FEW} pkt (dropped 0, overlimits 0 requeues 0) \n"
        f" backlog 0b 0p requeues 0\n"
        f"  counts in_pkts {FEW} in_bytes {length} out_pkts {FEW} out_bytes {length} \n"
    )
    pattern = f"^{literally(lines)}"
    return Case(f"{words(form)}: below {parent}", command, verify, pattern, setup=tuple(setup))


# ---- the whole document ----


def _document(form: Form) -> str:
    """Every number of it, but those that an algorithm has of its own, and the memory."""
    length = FEW * FRAME_BYTES
    head = {"kind": tables.KIND, "handle": "1:", "root": True, "refcnt": 2}
    options = {row.name: as_json(row, value) for row, value in form.all_rows()}
    common = {"bytes": length, "packets": FEW, "drops": 0, "overlimits": 0, "requeues": 0}
    counted = {"in_pkts": FEW, "in_bytes": length, "out_pkts": FEW, "out_bytes": length}
    # Each leaves before the next comes, and its flow is a new one again.
    counted["new_flow_count"] = FEW
    absent = set()
    if not algorithms.find(form.algorithm).probes:
        absent.add(tables.PROBES)
    if not form.rows.get("flows"):
        absent.add(tables.FLOWS)
    groups = {
        title: {name: counted.get(name, 0) for name in names}
        for title, nest, names in tables.counters()
        if nest not in absent
    }
    known = head | {"options": {"algorithm": form.algorithm} | options}
    known |= common | {"backlog": 0, "qlen": 0, "sojourn": groups}
    text = literally(json.dumps([known], separators=(",", ":"))).removesuffix(r"\}\}\]")
    # A device without an address can ask nobody.
    text = text.replace('"unmade":0', '"unmade":(?P<asked>[1-9])')
    text = text.replace('"asked":0', '"asked":(?P=asked)')
    text = re.sub(r'("delay_[a-z]+_ns"):0', rf"\1:{NUMBER}", text)
    return rf'{text}{_own(form)},"memory_bytes":{NUMBER}[^{{}}]*\}}\}}\]'


def _own(form: Form) -> str:
    """Its statistics by name; of one with flows only those that have a sum."""
    rows = algorithms.find(form.algorithm).stats
    inside = "".join(rf'(?:"{row.name}":{NUMBER},?){"?" * bool(form.rows)}' for row in rows)
    if not rows:
        return ""
    return rf'(?:,"algorithm":\{{{inside}\}}){"?" * bool(form.rows)}'
