# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""One run on Linux, answered as the engine answers: report, series, events."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sojourn import _native, algorithms
from sojourn.errors import RunError
from sojourn.linux.counts import report_flows
from sojourn.linux.kernel import module_for, ready
from sojourn.linux.over_time import group_series, statistics, without_steps
from sojourn.linux.plan import Plan, plan
from sojourn.linux.transport import ignored
from sojourn.linux.uml.boot import BootError, Stopped, boot
from sojourn.scenario.engine import without_foreign
from sojourn.store import digest

# A run that takes longer than this in real time hangs: some hundred times what it needs.
_LIMIT_S = 120
_LIMIT_S_OF_SECOND = 10

Outcome = tuple[dict[str, Any], bytes, bytes | None, dict[str, bytes]]


def run(text: str, seed: int, progress: Callable[[float], bool]) -> Outcome | None:
    """Boot a guest for this scenario (JSON); None when `progress` said stop."""
    scenario = json.loads(text)
    kernel = ready()
    module = module_for(kernel, algorithms.libraries(scenario))
    job = plan(scenario, seed)
    duration_ns = scenario["duration_ns"]
    with tempfile.TemporaryDirectory(prefix="sojourn-linux-") as scratch:
        folder = Path(scratch)
        for name, content in job.files.items():
            (folder / name).write_text(content)
        script = folder / "job"
        script.write_text(job.job(str(kernel.built.programs), str(module), duration_ns))
        script.chmod(0o755)
        try:
            outcome = boot(
                kernel.built,
                folder,
                seed,
                _LIMIT_S + _LIMIT_S_OF_SECOND * duration_ns / 1e9,
                lambda console: progress(_share(console, duration_ns)),
            )
        except Stopped:
            return None
        except BootError as error:
            raise RunError(f"the guest: {error}") from error
        queues, series, events = _observe(scenario, job, folder)
        counts, steps = without_steps((folder / "counts").read_text())
        played, more = without_steps(_told(folder, "played"))
        read = statistics(scenario, [tap.link for tap in job.taps], _told(folder, "readings"))
        bad = [_bad_verdicts((folder / f"{tap.space}.tc").read_text()) for tap in job.taps]
    report = {
        "queues": [
            {**queue, "bad_verdicts": verdicts}
            for queue, verdicts in zip(json.loads(queues), bad, strict=True)
        ],
        **report_flows(scenario, counts, played),
        "not_on_linux": {f["name"]: keys for f in scenario["flows"] if (keys := ignored(f))},
        "fingerprint": digest(queues.encode() + series + counts.encode() + played.encode())[:16],
    }
    over_time = {
        "statistics.parquet": read,
        "group_series.parquet": group_series(scenario, steps + more),
    }
    others = {name: file for name, file in over_time.items() if file is not None}
    return {**report, "cpu_s": outcome.cpu_s}, series, events, others


def _told(folder: Path, name: str) -> str:
    """By a program that not all scenarios need."""
    path = folder / name
    return path.read_text() if path.exists() else ""


def _share(console: Path, duration_ns: int) -> float:
    """How far the guest says it is."""
    marks = re.findall(rb"^at (\d+)", console.read_bytes(), re.M)
    return int(marks[-1]) / duration_ns if marks else 0.0


def _bad_verdicts(listing: str) -> dict[str, int]:
    """Of our qdisc, by what `tc -s -j` says of it; none of another."""
    ours = [qdisc["sojourn"]["bad"] for qdisc in json.loads(listing) if "sojourn" in qdisc]
    return {name: count for bad in ours for name, count in bad.items() if count}


def _observe(
    scenario: Mapping[str, Any], job: Plan, folder: Path
) -> tuple[str, bytes, bytes | None]:
    """The engine's own measuring, of the packets that were seen."""

    def seen(name: str) -> bytes:
        return (folder / name).read_bytes()

    queues: list[tuple[str, bytes, bytes, bool, bool] | tuple[str, str, bytes | None]] = []
    for tap in job.taps:
        if tap.ours:
            behind = seen(f"{tap.space}.out") if tap.holds else None
            queues.append((tap.link, tap.device, behind))
        else:
            ends = seen(f"{tap.space}.in"), seen(f"{tap.space}.out")
            queues.append((tap.link, *ends, tap.at_head, tap.flows_apart))
    zero_ns = int(seen("zero"))
    return _native.observe(json.dumps(without_foreign(scenario)), queues, seen("log"), zero_ns)
