# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""run.py: one scenario in a guest of the newer kernel, with its dualpi2 or with ours."""

from __future__ import annotations

import io
import json
import struct
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from sojourn.core.algorithm import STOCK
from sojourn.linux.kernel import Kernel, module_for
from sojourn.linux.plan import Plan, plan
from sojourn.linux.run import _observe
from sojourn.linux.samples import read, report_flows, without_samples
from sojourn.linux.uml.boot import boot
from sojourn.scenario.engine import libraries, parsed

from tests.linux.rtnetlink import attributes, numbers
from validation.dualpi2.variants import KERNEL

ROOT = Path(__file__).parents[2]
STEP_NS = 500_000_000
LIMIT_S = 1800
# Of ours, in TCA_STATS_APP: the algorithm's statistics, and the first of them.
OWN, PROB = 5, 1
UNITS = 2**32


@dataclass(frozen=True)
class Figures:
    """Of one run after `from_ns`: of L4S packets, then of Classic ones."""

    mean_ms: tuple[float, float]
    p99_ms: tuple[float, float]
    mbps: tuple[float, float]
    mark_pct: float
    drop_pct: float
    prob_pct: float
    zero_pct: float  # of the time, p' is 0


def know_the_kernels_own() -> None:
    """Have `kernel:dualpi2` in scenarios of this process; the kernels of other guests have none.
    Its options are set by validation/dualpi2/leaf.py."""
    STOCK[KERNEL] = replace(STOCK["kernel:fq_codel"], name=KERNEL, params=())


def in_guest(space: str) -> str:
    """The command in a namespace of the guest."""
    setting = f"PYTHONPATH={ROOT}:{ROOT / 'python'}"
    return f"ip netns exec {space} env {setting} {sys.executable} -S -B -m validation.dualpi2.leaf"


def job(made: Plan, kernel: Kernel, module: Path, duration_ns: int, options: Sequence[str]) -> str:
    """The guest's script, with the options of the kernel's queue and samples of its statistics."""
    [tap] = made.taps
    script = made.job(str(kernel.built.programs), str(module), duration_ns)
    inside = in_guest(tap.space)
    change = f"{inside} change {tap.device} {' '.join(options)} > options\n" if options else ""
    watch = f"{inside} watch {tap.device} $t0 {STEP_NS} {duration_ns // STEP_NS - 1} > samples &\n"
    watch += 'pids="$pids $!"\n'
    for before, lines in (("t0=", change), (f"{kernel.built.programs}/clock", watch)):
        head, rest = script.split(before)
        script = head + lines + before + rest
    return script


def play(
    kernel: Kernel, scenario: dict[str, Any], seed: int, options: Sequence[str], from_ns: int
) -> tuple[Figures, dict[str, int]]:
    """What came out, and all options that the kernel says its queue has."""
    made = plan(scenario, seed)
    # Two queues keep the order of each flow's packets only.
    made = replace(made, taps=tuple(replace(tap, flows_apart=True) for tap in made.taps))
    module = module_for(kernel, libraries(scenario))
    with tempfile.TemporaryDirectory(prefix="sojourn-linux-") as scratch:
        folder = Path(scratch)
        for name, content in made.files.items():
            (folder / name).write_text(content)
        script = folder / "job"
        script.write_text(job(made, kernel, module, scenario["duration"], options))
        script.chmod(0o755)
        boot(kernel.built, folder, seed, LIMIT_S)
        known = parsed(scenario)
        counted = read(known, without_samples((folder / "played").read_text())[0])
        _, tables = _observe(known, made, folder, counted)
        flows = report_flows(counted)["flows"]
        samples = (folder / "samples").read_text().split()
        told = json.loads((folder / "options").read_text()) if options else {}
    table = pq.read_table(io.BytesIO(tables["events.parquet"]))
    columns = {name: table[name].to_numpy() for name in ("at_ns", "enq_ns", "flow", "ecn", "why")}
    kept = [read_prob(bytes.fromhex(line)) for line in samples[from_ns // STEP_NS :]]
    return figures(columns, flows, from_ns, kept), told


def read_prob(own: bytes) -> float:
    """p' out of the statistics of the kernel's queue (struct tc_dualpi2_xstats) or of ours."""
    if len(own) == 48:
        return float(struct.unpack_from("=I", own)[0]) / UNITS
    return float(numbers(dict(attributes(own))[OWN])[PROB]) / UNITS


def figures(
    events: dict[str, NDArray[Any]],
    flows: list[dict[str, Any]],
    from_ns: int,
    probs: list[float],
) -> Figures:
    """Classic flows here are all Not-ECT."""
    scalable = np.isin(events["flow"], np.unique(events["flow"][events["ecn"] != 0]))
    late, sent = events["at_ns"] >= from_ns, events["why"] == 0
    parts = [late & scalable, late & ~scalable]
    delays = [(events["at_ns"] - events["enq_ns"])[of & sent] / 1e6 for of in parts]
    names = ("scalable", "classic")
    mbps = [fmean(f["goodput_mbps_of_windows"][0] for f in flows if f["name"] == n) for n in names]
    return Figures(
        (float(delays[0].mean()), float(delays[1].mean())),
        (float(np.percentile(delays[0], 99)), float(np.percentile(delays[1], 99))),
        (mbps[0], mbps[1]),
        100 * float((events["ecn"] == 3)[parts[0] & sent].mean()),
        100 * float((~sent)[parts[1]].mean()),
        100 * fmean(probs),
        100 * fmean(p == 0 for p in probs),
    )
