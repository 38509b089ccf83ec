# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What a run did otherwise than it was asked: algorithms against the rules of `aqm.h`, which the
queue corrected and counted, and options of TCP that a host cannot set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from sojourn.result import Run


def breaks(report: Mapping[str, Any]) -> bool:
    """Whether an algorithm broke a rule in the run of this report."""
    return any(n for queue in report["queues"] for n in queue["bad_verdicts"].values())


def broken(runs: Iterable[Run]) -> list[str]:
    """A sentence for each algorithm, queue and rule; none where all were kept."""
    counts: Counter[tuple[str, str, str, str]] = Counter()
    for run in runs:
        for queue in run.report["queues"]:
            for rule, count in queue["bad_verdicts"].items():
                name = str(queue["name"])
                where = run.aqm_of(name), str(run.labels["host"]), name
                counts[(*where, rule)] += count
    return [
        f"{aqm} broke the rule '{rule}' (enum aqm_bad in aqm.h) {count} times in the queue "
        f"'{queue}', host {host}"
        for (aqm, host, queue, rule), count in counts.items()
        if count
    ]


def ignored(runs: Iterable[Run]) -> list[str]:
    """A sentence for each group of flows whose TCP's age asks for more than the host can set."""
    found = {
        (str(run.labels["host"]), flow): options
        for run in runs
        for flow, options in run.report.get("not_on_linux", {}).items()
    }
    return [
        f"host {host}: of the TCP of flows '{flow}' these stay as Linux has them: "
        + ", ".join(options)
        for (host, flow), options in found.items()
    ]
