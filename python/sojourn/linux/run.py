# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""One run on Linux, with the report and the tables that the engine gives."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from sojourn import _native
from sojourn.core.errors import RunError
from sojourn.core.hosts import HZ
from sojourn.linux.classes import rows
from sojourn.linux.ends import Plain, end_of
from sojourn.linux.kernel import module_for, ready, ring_for
from sojourn.linux.memory import guest_mb
from sojourn.linux.plan import Plan, plan
from sojourn.linux.samples import group_series, read, report_flows, statistics, without_samples
from sojourn.linux.transport import ignored
from sojourn.linux.uml.boot import (
    FIXED_ADDRESSES,
    MODULE,
    PROGRAMS,
    SHOWN,
    BootError,
    Stopped,
    boot,
)
from sojourn.scenario.engine import libraries, parsed
from sojourn.store.store import digest, write_errors

# Bound of a run in real time, some hundred times its need: a run that takes longer hangs.
_LIMIT_S = 120
_LIMIT_S_OF_SECOND = 10

# A queue: its name, its ring, whether it has a report, and where it was seen.
_Seen = tuple[
    str,
    tuple[str, int] | None,
    bool,
    tuple[bytes, bytes, bytes, bool, bool] | tuple[str, bytes | None],
]
Outcome = tuple[dict[str, Any], dict[str, bytes]]


def run(
    text: str, seed: int, progress: Callable[[float], bool], transfers: Path | None = None
) -> Outcome | None:
    """Boot a guest for this scenario (JSON); return None when `progress` says stop. Write the table
    of transfers to the file `transfers`, where the scenario asks for it."""
    scenario = json.loads(text)
    kernel = ready(hz=scenario.get("linux", {}).get("hz", HZ))
    module = module_for(kernel, libraries(scenario))
    known = parsed(Plain.of(scenario).scenario)
    job = plan(scenario, seed, known)
    duration_ns = scenario["duration"]
    with tempfile.TemporaryDirectory(prefix="sojourn-linux-") as scratch:
        folder = Path(scratch)
        for name, content in job.files.items():
            (folder / name).write_text(content)
        if job.rings:
            shutil.copy(ring_for(kernel), folder)
        script = folder / "job"
        shown = str(SHOWN / PROGRAMS), str(SHOWN / MODULE / module.name)
        script.write_text(job.job(*shown, duration_ns))
        script.chmod(0o755)
        try:
            outcome = boot(
                kernel.built,
                folder,
                seed,
                _LIMIT_S + _LIMIT_S_OF_SECOND * duration_ns / 1e9,
                lambda console: progress(_share(console, duration_ns)),
                memory_mb=guest_mb(scenario),
                module=module,
            )
        except Stopped:
            return None
        except BootError as error:
            raise RunError(f"the guest: {error}") from error
        played, samples = without_samples((folder / "played").read_text())
        flows = read(known, played)
        told = [tap for tap in job.taps if tap.told]
        queues, tables = _observe(known, job, folder, flows)
        readings = (folder / "readings").read_text() if "queues" in job.files else ""
        over_time = {
            "statistics.parquet": statistics(
                scenario, [(tap.name, tap.algorithm) for tap in told], readings
            ),
            "group_series.parquet": group_series(scenario, samples),
        }
        counters = (folder / "counters").read_text() if job.counters else ""
        qdisc_lists = [json.loads((folder / f"{tap.space}.tc").read_text()) for tap in told]
    if transfers is not None:
        with write_errors(transfers, is_result=True):
            flows.write_transfers(transfers)
    report = {
        "queues": [
            {**queue, **_counters(qdisc for qdisc in qdiscs if qdisc["handle"] == f"{tap.handle}:")}
            for queue, qdiscs, tap in zip(json.loads(queues), qdisc_lists, told, strict=True)
        ],
        **_classes(scenario, job, counters, json.loads(queues)),
        **report_flows(flows),
        "not_on_linux": {f["name"]: keys for f in scenario["flows"] if (keys := ignored(f))},
        "refused_by_machine": [] if outcome.fixed_addresses else [FIXED_ADDRESSES],
        "fingerprint": digest(queues.encode() + tables["series.parquet"] + played.encode())[:16],
    }
    tables |= {name: file for name, file in over_time.items() if file is not None}
    return {**report, "cpu_s": outcome.cpu_s}, tables


def _classes(
    scenario: Mapping[str, Any], job: Plan, counters: str, queues: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the classes of a report; nothing where no link has any."""
    if not any(map(end_of, scenario["links"])):
        return {}
    held_pkts = {q["name"]: [w["queue_pkts"]["mean"] or 0 for w in q["windows"]] for q in queues}
    return {"classes": rows(job.counters, scenario["record"]["windows"], counters, held_pkts)}


def _share(console: Path, duration_ns: int) -> float:
    """Read from the console the share of the run that the guest has reported."""
    marks = re.findall(rb"^at (\d+)", console.read_bytes(), re.M)
    return int(marks[-1]) / duration_ns if marks else 0.0


def _counters(qdiscs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Read our qdisc's own counters from `tc -s -j`: verdicts that broke a rule, its probes and its
    flows."""
    ours = [qdisc["sojourn"] for qdisc in qdiscs if "sojourn" in qdisc]
    bad = {name: n for qdisc in ours for name, n in qdisc["bad"].items() if n}
    report: dict[str, Any] = {"bad_verdicts": bad}
    for probes in (qdisc["probes"] for qdisc in ours if "probes" in qdisc):
        report["probes"] = {
            name if name.endswith(("_bytes", "_ns")) else f"{name}_pkts": count
            for name, count in probes.items()
        }
    for flows in (qdisc["flows"] for qdisc in ours if "flows" in qdisc):
        report["flows"] = {
            "new_flow_count": flows["new_flow_count"],
            "collisions": flows["collisions"],
            "delay_mean_ms": flows["delay_mean_ns"] / 1e6,
            "delay_sparse_ms": flows["delay_sparse_ns"] / 1e6,
            "delay_peak_ms": flows["delay_peak_ns"] / 1e6,
        }
    return report


def _observe(
    known: _native.Scenario, job: Plan, folder: Path, flows: _native.Flows
) -> tuple[str, dict[str, bytes]]:
    """Measure the packets that were seen, by the engine's own code."""

    def seen(name: str) -> bytes:
        return (folder / name).read_bytes()

    queues: list[_Seen] = []
    for tap in job.taps:
        looked: tuple[bytes, bytes, bytes, bool, bool] | tuple[str, bytes | None]
        if tap.ours:
            looked = tap.log_name, seen(f"{tap.space}.out") if tap.holds else None
        else:
            came, left, drops = (seen(f"{tap.space}.{name}") for name in ("in", "out", "drops"))
            looked = came, left, drops, tap.at_head, tap.flows_apart
        queues.append((tap.name, tap.ring, tap.told, looked))
    zero_ns = int(seen("zero"))
    return known.observe(queues, seen("log"), zero_ns, flows)
