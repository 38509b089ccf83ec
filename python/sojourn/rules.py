# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What a run did otherwise than it was asked: algorithms against the rules of `aqm.h`, which the
queue corrected and counted, options of TCP that a host cannot set, and what a host refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from sojourn.result import Run


def breaks(report: Mapping[str, Any]) -> bool:
    """Whether an algorithm broke a rule in the run of this report."""
    return any(n for queue in report["queues"] for n in queue["bad_verdicts"].values())


def odd(report: Mapping[str, Any]) -> bool:
    """Say whether any sentence of this module is about this run."""
    return breaks(report) or bool(report.get("not_on_linux") or report.get("refused_by_machine"))


def broken(runs: Iterable[Run]) -> list[str]:
    """A sentence for each algorithm, queue and rule; none where all were kept."""
    counts: Counter[tuple[str, str, str, str]] = Counter()
    for run in runs:
        for queue in run.report["queues"]:
            for rule, count in queue["bad_verdicts"].items():
                where = str(run.labels["aqm"]), str(run.labels["host"]), str(queue["name"])
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


def refused(runs: Iterable[Run]) -> list[str]:
    """Name each thing that the machine refused the guest, with how many runs it concerns."""
    counts = Counter(what for run in runs for what in run.report.get("refused_by_machine", ()))
    return [
        f"this machine refuses {what} (a container's filter of system calls does): a repetition of "
        f"{count} runs of --host linux may give other bytes"
        for what, count in counts.items()
    ]
