# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Deviations of a run from its request, as sentences.

They report algorithms that broke the rules of `aqm.h`, which the queue corrected and counted. They
report options of TCP that a host cannot set, and calls that a machine refused. They report probes
that turn back before the queue that they are to measure, and classes of HTB that do not do what
their ceilings seem to say.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sojourn import _native
from sojourn.core.units import Duration, Rate
from sojourn.result.result import Run

if TYPE_CHECKING:
    from sojourn.runs.job import Job


def breaks(report: Mapping[str, Any]) -> bool:
    """Tell whether an algorithm broke a rule in the run of this report."""
    return any(n for queue in report["queues"] for n in queue["bad_verdicts"].values())


def odd(report: Mapping[str, Any]) -> bool:
    """Tell whether any sentence of this module is about this run."""
    return breaks(report) or bool(report.get("not_on_linux") or report.get("refused_by_machine"))


def broken(runs: Iterable[Run]) -> list[str]:
    """Write a sentence for each algorithm, queue and broken rule; none where all were kept."""
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
    """Write a sentence for each group of flows whose TCP's age needs options that the host cannot
    set."""
    options_by_group = {
        (str(run.labels["host"]), flow): options
        for run in runs
        for flow, options in run.report.get("not_on_linux", {}).items()
    }
    return [
        f"host {host}: of the TCP of flows '{flow}' these stay as Linux has them: "
        + ", ".join(options)
        for (host, flow), options in options_by_group.items()
    ]


def unmeasured(jobs: Iterable[Job]) -> list[str]:
    """Write a sentence for each queue whose probes never cross a slower link of its flows."""
    # Seeds repeat a scenario, hosts and parameters its network.
    scenarios = dict.fromkeys((job.scenario, job.is_shorthand) for job in jobs)
    return list(
        dict.fromkeys(sentence for scenario in scenarios for sentence in _unmeasured(*scenario))
    )


def _unmeasured(text: str, is_shorthand: bool) -> Iterator[str]:
    from sojourn.scenario.ends import queue_rates, queues_of  # slow to import

    scenario = json.loads(text)
    links, media = scenario["links"], scenario.get("media", ())
    aqms = {name: queue["algorithm"] for name, queue in queues_of(links).items()}
    # The package's registry of algorithms is slow to import.
    ours = {raw["name"]: raw["probes"] for raw in _native.algorithms()}
    if not any(ours.get(aqm, True) for aqm in aqms.values()):
        return
    from sojourn.scenario.engine import parsed  # slow to import

    known = parsed(scenario)
    first = "; `sojourn show --expand FILE` writes the links out first" if is_shorthand else ""
    ways = [way for forth, back, *_ in known.ways(1) for way in (forth, back)]
    for i, name, crossed, _, responder in known.probe_ways():
        own_bps = next((bps for _, bps in queue_rates(links[i], name, media)), math.inf)
        behind = (j for way in ways if i in way for j in way[way.index(i) + 1 :])
        slower = [j for j in behind if j not in crossed and _least_bps(links[j], media) < own_bps]
        if slower:
            what = "queue" if "end" in links[i] else "link"
            yield (
                f"{what} '{name}': the probes of '{aqms[name]}' turn back at '{responder}' and "
                f"measure nothing of the slower link '{links[slower[0]]['name']}': name a "
                f"responder behind that{first}"
            )


def _least_bps(link: Mapping[str, Any], media: Sequence[Mapping[str, Any]]) -> float:
    """Return the least rate of a link; infinity for one that takes no time. HTB sends with the
    ceilings of its roots, a stage on a medium with that one's rate."""
    of_medium = {medium["name"]: medium for medium in media}
    if "end" not in link:
        return min(_rates_bps(link, "rate"))
    return min(
        sum(min(_rates_bps(root, "ceil")) for root in stage["classes"] if "parent" not in root)
        if stage["kind"] == "htb"
        else min(_rates_bps(of_medium.get(stage.get("medium"), stage), "rate"))
        for stage in link["end"]
    )


def _rates_bps(table: Mapping[str, Any], key: str) -> list[float]:
    """List the rates of a table; infinity where it has none."""
    first = table.get(key)
    later = [float(step[key]) for step in table.get("schedule", ())]
    return [math.inf if first is None else float(first), *later]


def unheld(jobs: Iterable[Job]) -> list[str]:
    """Write a sentence for each class of HTB that has nothing to borrow from, or that does not hold
    its children below its ceiling."""
    # Seeds repeat a scenario.
    texts = dict.fromkeys(job.scenario for job in jobs)
    return list(dict.fromkeys(sentence for text in texts for sentence in _unheld(text)))


def _unheld(text: str) -> Iterator[str]:
    from sojourn.scenario.ends import disciplines  # slow to import

    for link in json.loads(text)["links"]:
        for stage in link.get("end", ()):
            where = f"link '{link['name']}', stage '{stage['name']}'"
            for _, discipline in disciplines(stage):
                if discipline["kind"] == "htb":
                    yield from (f"{where}, {sentence}" for sentence in _htb(discipline["classes"]))


def _htb(classes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    children: dict[str, list[Mapping[str, Any]]] = {}
    for entry in classes:
        if "parent" in entry:
            children.setdefault(entry["parent"], []).append(entry)
    for entry in classes:
        own = children.get(entry["name"], [])
        if not own and "parent" not in entry and entry["ceil"] > entry["rate"]:
            yield (
                f"class '{entry['name']}': it has no parent, and nothing to borrow from: it sends "
                f"{Rate(entry['rate'])}, not {Rate(entry['ceil'])}"
            )
        times = {0, *(step["at"] for part in (entry, *own) for step in part.get("schedule", ()))}
        for at_ns in sorted(times):
            sum_bps = sum(_at(child, "rate", at_ns) for child in own)
            if sum_bps > (ceil_bps := _at(entry, "ceil", at_ns)):
                since = f" from {Duration(at_ns)} on" if at_ns else ""
                yield (
                    f"class '{entry['name']}': HTB does not hold a class below its own rate: its "
                    f"children send {Rate(sum_bps)} through {Rate(ceil_bps)}{since}; a slower link "
                    "below is a stage of its own"
                )
                break


def _at(entry: Mapping[str, Any], key: str, at_ns: int) -> int:
    """Return a rate of a class at a time."""
    steps = [step[key] for step in entry.get("schedule", ()) if step["at"] <= at_ns]
    return int([entry[key], *steps][-1])


def refused(runs: Iterable[Run]) -> list[str]:
    """Name each call that the machine refused the guest, with the number of runs that it
    concerns."""
    counts = Counter(what for run in runs for what in run.report.get("refused_by_machine", ()))
    return [
        f"this machine refuses {what} (a container's filter of system calls does): a repetition of "
        f"{count} runs of --host linux may give other bytes"
        for what, count in counts.items()
    ]
