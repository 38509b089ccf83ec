# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The main flow: from a scenario, algorithms and seeds to a Result; and stored runs, found without
running any.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sojourn import algorithms
from sojourn.core import seeds as of_seeds
from sojourn.core.errors import InputError, RunError
from sojourn.core.hosts import BINNED, HZ, LINUX_ONLY_CONTROLS, check_hosts
from sojourn.core.seeds import Seeds
from sojourn.result.inputs import Inputs
from sojourn.result.request import Request
from sojourn.result.result import Result, Run, read_request
from sojourn.runs.executor import Runner
from sojourn.runs.job import Job
from sojourn.runs.rules import unheld, unmeasured
from sojourn.scenario.changes import apply, under_test
from sojourn.scenario.ends import queues_of, recorded
from sojourn.scenario.engine import libraries, queue_algorithms, to_engine, without_opportunities
from sojourn.scenario.model import Scenario, write_toml
from sojourn.scenario.toml import load, placed_variant, validate
from sojourn.scenario.variant import Variant, read_all, write_value
from sojourn.store.folder import claim, examine
from sojourn.store.store import Store, default_root

_NO_SEED = 0


@dataclass(frozen=True)
class Case:
    """One scenario to run under every seed, and the labels of its runs."""

    scenario: Scenario
    labels: Mapping[str, str | int]
    title: str = ""  # for messages; by default, the labels


def open_store(out: str | Path | None) -> Store:
    """Open the user's store, or the one in a result's folder, which takes from that what it
    has. InputError: the folder holds what Sojourn did not write."""
    if not out:
        return Store(default_root())
    examine(out)
    return Store(Path(out) / "runs", Store(default_root()), partial(claim, out))


def _refuse(host: str, scenarios: Sequence[Mapping[str, Any]]) -> None:
    """Raise InputError where the host cannot run one of the scenarios."""
    for scenario in scenarios:
        for queue, algorithm in queue_algorithms(scenario):
            if host not in algorithm.hosts:
                other = algorithm.hosts[0]
                raise InputError(
                    f"'{algorithm.name}', of link '{queue}', runs only on {other.capitalize()}: "
                    f"add --host {other}"
                )
    if host == "sim":
        for flow in (flow for scenario in scenarios for flow in scenario["flows"]):
            if flow["transport"].get("cc") in LINUX_ONLY_CONTROLS:
                raise InputError(
                    f"cc = '{flow['transport']['cc']}', of flows '{flow['name']}', runs only on "
                    "Linux: run it with --host linux alone"
                )
        return
    from sojourn.linux import refusals

    for scenario in scenarios:
        refusals.check(scenario)


def cases_of(
    scenario: Scenario, aqms: Sequence[str], changes: Mapping[str, object] = MappingProxyType({})
) -> list[Case]:
    """Make a case for each algorithm in the queues under test, or one without `aqms`; then apply
    the changes."""
    chosen = read_all(aqms)
    if not chosen:
        return [_case(scenario, None, "", changes)]
    shown = algorithms.shown_names(variant.algorithm for variant in chosen)
    return [_case(scenario, v, v.called(shown[v.algorithm]), changes) for v in chosen]


def _case(
    scenario: Scenario, variant: Variant | None, label: str, changes: Mapping[str, object]
) -> Case:
    if variant or changes:
        words = [f"--aqm {variant}"] if variant else []
        words += [f"--set {key}={write_value(value)}" for key, value in changes.items()]
        scenario = changed(scenario, variant, changes, " ".join(words))
    return Case(scenario, {"aqm": label or algorithms_of(scenario)})


def changed(
    scenario: Scenario, variant: Variant | None, changes: Mapping[str, object], source: str
) -> Scenario:
    """Return the scenario with this algorithm in the queues under test and with these changes.

    `source` names their origin in messages.
    """
    data = scenario.to_data()
    apply(data, variant, changes)
    return validate(data, source=source)


def algorithms_of(scenario: Scenario) -> str:
    """Name the algorithms under test as tables do: each once, in the order of the links."""
    graph = scenario.expand()
    tested = under_test(scenario, graph)
    names = [q.algorithm for name, q in queues_of(graph.links).items() if name in tested]
    return "+".join(dict.fromkeys(algorithms.shown_names(names).values()))


def _own_names(scenario: Scenario, graph: Scenario) -> dict[str, str]:
    """Name the algorithm of each recorded queue for which it differs from the one in the label of
    the run.

    These are queues that are not under test. If the algorithms under test differ, they are all
    recorded queues.
    """
    by_name = {name: queue.algorithm for name, queue in queues_of(graph.links).items()}
    tested = under_test(scenario, graph)
    measured = recorded(graph.links, graph.record.queues)
    alike = len({by_name[name] for name in tested}) == 1
    unlike = [name for name in measured if not (alike and name in tested)]
    shown = algorithms.shown_names(by_name[name] for name in (*unlike, *tested))
    return {name: shown[by_name[name]] for name in unlike}


def _runs_on(host: str, scenario: Mapping[str, Any], hosts: Sequence[str]) -> bool:
    """Tell whether the host runs the scenario: all hosts do, or those alone that have all its
    algorithms."""
    having = [
        h for h in hosts if all(h in algorithm.hosts for _, algorithm in queue_algorithms(scenario))
    ]
    return host in having or not having


def _forms(
    host: str, scenario: dict[str, Any], hosts: Sequence[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the runs of a host, each as its label and its scenario.

    Where Linux is among the hosts, a link that follows a trace also runs as a schedule of rates.
    Linux has no other form.
    """
    traces = any(link.get("trace") for link in scenario["links"])
    if host == "sim" or not traces:
        yield host, scenario
    if traces and "linux" in hosts:
        yield f"{host}{BINNED}", without_opportunities(scenario)


def check(cases: Sequence[Case], hosts: Sequence[str]) -> list[Job]:
    """Check every case on every host, and make a job of each, whose seed is not chosen yet.

    InputError: a host cannot run one of them.
    """
    graphs = [case.scenario.expand() for case in cases]
    scenarios = {host: [to_engine(graph, host) for graph in graphs] for host in hosts}
    _try_files(scenarios[hosts[0]])
    # All refusals come before the first run.
    for host, of_host in scenarios.items():
        _refuse(host, [scenario for scenario in of_host if _runs_on(host, scenario, hosts)])
    jobs = []
    for number, (case, graph) in enumerate(zip(cases, graphs, strict=True)):
        name = case.title or " ".join(map(str, case.labels.values()))
        queues = _own_names(case.scenario, graph)
        for host in hosts:
            if not _runs_on(host, scenarios[host][number], hosts):
                continue
            for label, scenario in _forms(host, scenarios[host][number], hosts):
                title = f"{case.scenario.name}, {name}" + (f" {label}" if label != "sim" else "")
                job = Job(
                    json.dumps(scenario, sort_keys=True),
                    _NO_SEED,
                    title,
                    files=libraries(scenario),
                    labels={**case.labels, "seed": _NO_SEED, "host": label},
                    queues=queues,
                    is_shorthand=case.scenario.shorthand is not None,
                )
                jobs.append(job)
    return jobs


def under_seeds(jobs: Sequence[Job], seeds: Sequence[int]) -> list[Job]:
    """Repeat checked jobs under every seed, each job under all seeds before the next job.

    A kernel that they need is built if it is missing.
    """
    return [
        replace(
            job,
            seed=seed,
            title=f"{job.title}, seed {seed}",
            host=host,
            labels={**job.labels, "seed": seed},
        )
        for job in jobs
        for host in [_host_of(job)]
        for seed in seeds
    ]


def _host_of(job: Job) -> str:
    """Name the host's parts as the key of the store has them; empty for the engine."""
    if str(job.labels["host"]).removesuffix(BINNED) == "sim":
        return ""
    from sojourn.linux import kernel

    ready = kernel.ready(hz=int(json.loads(job.scenario).get("linux", {}).get("hz", HZ)))
    kernel.module_for(ready, job.files)
    return ready.version


def jobs_of(cases: Sequence[Case], seeds: Sequence[int], hosts: Sequence[str]) -> list[Job]:
    """Check every case on every host, and list its runs under every seed, in that order."""
    return under_seeds(check(cases, hosts), seeds)


def run_cases(
    cases: Sequence[Case],
    seeds: Sequence[int],
    runner: Runner,
    *,
    title: str = "running",
    hosts: Sequence[str] = ("sim",),
) -> tuple[Run, ...]:
    """Run every case on every host under every seed, in that order."""
    return runner.run(jobs_of(cases, seeds, hosts), title)


def _try_files(scenarios: Sequence[Mapping[str, Any]]) -> None:
    """Try each user's C file in a process of its own, before any run, to find its errors."""
    files = dict.fromkeys(file for s in scenarios for file in libraries(s))
    if files:
        from sojourn.user_aqm import trial

        for file in files:
            trial.before_run(file)


def _request(
    scenario: Scenario,
    variants: Sequence[Variant],
    changes: Mapping[str, object],
    seeds: Seeds,
    hosts: Sequence[str],
    inputs: Inputs,
    *,
    is_kept: bool,
) -> Request:
    """Check the arguments of a run, and make a request that names its files as a result does."""
    return Request(
        write_toml(inputs.value(scenario.to_data())) if is_kept else "",
        tuple(inputs.variant(variant) for variant in variants),
        inputs.value(changes),
        of_seeds.read(seeds),
        check_hosts(hosts),
        {str(variant): variant.without_preset() for variant in variants if variant.preset},
    )


def run(
    scenario: Scenario | str | os.PathLike[str],
    *,
    aqms: Sequence[str] = (),
    changes: Mapping[str, object] = MappingProxyType({}),
    seeds: Seeds = 1,
    out: str | Path | None = None,
    workers: int | None = None,
    again: bool = False,
    hosts: Sequence[str] = ("sim",),
    client: Any = None,
    tell: Callable[[str], None] | None = None,
) -> Result:
    """Run a scenario, given as an object or a file, with seeds 1 to `seeds`, or with
    those of a range or a list.

    The queues under test run each of `aqms` ("pie", "pie:target=5ms"). `changes` are those of
    `--set`. All run on each of `hosts` ("sim", "linux").

    Runs that the store already holds are taken from it, unless `again` is true. A folder `out` that
    holds a result of this scenario gets these runs added. `workers` runs go at once, in threads:
    they hold no lock of Python's. A run with a C file of yours has its own process, and a crash
    harms no other run. A `client` has `submit` and returns futures: an executor of
    `concurrent.futures` or submitit, or a client of Dask. It makes the runs instead of threads,
    `workers` of them at once. `tell` gets, before the first run, a sentence for each quantity
    that the runs will not measure, and one that names what `out` holds besides.
    """
    if not isinstance(scenario, Scenario):
        scenario = load(scenario)
    variants = read_all(aqms)
    inputs = Inputs(Path())
    asked = _request(scenario, variants, changes, seeds, hosts, inputs, is_kept=bool(out))
    given = dict(zip(asked.aqms, map(str, variants), strict=True))
    while True:
        earlier = read_request(out) if out else None
        request = asked.added_to(earlier, out) if earlier and out else asked
        if tell and (more := request.beyond(asked)):
            tell(f"{out}: also holds earlier runs, which are shown too: {more}")
        # Algorithms of an earlier command may be files of the result.
        texts = [given.get(aqm) or placed_variant(aqm, Path(out or "")) for aqm in request.aqms]
        runner = Runner(open_store(out), workers, client, again)
        checked = check(cases_of(scenario, texts, changes), request.hosts)
        if tell:
            for sentence in (*unmeasured(checked), *unheld(checked)):
                tell(sentence)
        jobs = under_seeds(checked, request.seeds)
        runs = runner.run(jobs, f"running {scenario.name}")
        if not out:
            return Result(scenario, runs)
        result = Result(scenario, runs, request.to_json())
        with claim(out).held() as own:
            if read_request(out) == earlier:
                result.write(own, request.scenario, inputs.files)
                return result
        # Another command has added its runs meanwhile. They and ours are there.
        again = False


def is_ready(host: str, hz: int = HZ) -> bool:
    """Tell whether runs of the host can be looked up.

    Runs of Linux are filed under its kernel, and a look-up builds no kernel.
    """
    if host == "sim":
        return True
    from sojourn.linux.kernel import examine

    return all(is_built for _, is_built, _ in examine(hz))


def _in_reach(cases: Sequence[Case], host: str) -> list[Case]:
    """Return the cases whose kernel is built: the store has no runs of others."""
    ready = {hz: is_ready(host, hz) for hz in {case.scenario.linux.hz for case in cases}}
    return [case for case in cases if ready[case.scenario.linux.hz]]


def count_stored(cases: Sequence[Case], seeds: Sequence[int], store: Store, host: str) -> int:
    """Count the stored runs. InputError: the host cannot run one of them."""
    cases = _in_reach(cases, host)
    if not cases:
        return 0
    return sum(store.has(job.key) for job in jobs_of(cases, seeds, (host,)))


def seconds_stored(
    cases: Sequence[Case], seeds: Sequence[int], store: Store, host: str
) -> float | None:
    """Return the mean processor time of the stored runs, one of each case; None without any."""
    jobs = jobs_of(_in_reach(cases, host), seeds, (host,))
    # Jobs come case by case.
    first = [
        next((job for job in jobs[at : at + len(seeds)] if store.has(job.key)), None)
        for at in range(0, len(jobs), len(seeds))
    ]
    entries = [store.load(job.key) for job in first if job]
    times = [float(entry.report["cpu_s"]) for entry in entries if entry and "cpu_s" in entry.report]
    return sum(times) / len(times) if times else None


def stored_runs(
    cases: Sequence[Case],
    seeds: Sequence[int],
    store: Store,
    host: str,
    tell: Callable[[float], None] = lambda share: None,
) -> list[Run]:
    """Return the runs of each case, in order, up to the first seed that is missing.

    All cases therefore share their first seeds. `tell` gets the share of the cases that are read.
    InputError: the host cannot run one of them.
    """
    cases = _in_reach(cases, host)
    if not cases:
        return []
    try:
        jobs = jobs_of(cases, seeds, (host,))
    except RunError:  # programs that a kernel needs are missing
        return []
    runs: list[Run] = []
    for first in range(0, len(jobs), len(seeds)):
        for job in jobs[first : first + len(seeds)]:
            entry = store.load(job.key)
            if entry is None:
                break
            runs.append(Run(job.labels, entry.report, entry, job.queues))
        tell((first + len(seeds)) / len(jobs))
    return runs
