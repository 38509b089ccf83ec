# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""From a scenario, algorithms and seeds to a Result."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sojourn import algorithms
from sojourn.core.errors import InputError
from sojourn.core.hosts import BINNED, LINUX_ONLY_CONTROLS, check_hosts
from sojourn.result.request import Request
from sojourn.result.result import Result, Run, read_request
from sojourn.runs.forms import MAX_SEEDS, Form, Labels, jobs_of_forms, run_jobs
from sojourn.runs.job import Job
from sojourn.scenario.assignments import write_value
from sojourn.scenario.changes import apply
from sojourn.scenario.engine import of_links, to_engine, without_opportunities
from sojourn.scenario.files import placed
from sojourn.scenario.model import Scenario
from sojourn.scenario.tested import under_test
from sojourn.scenario.toml import load, validate
from sojourn.scenario.variant import Variant, read_all
from sojourn.store.folder import claim
from sojourn.store.store import Store, default_root


@dataclass(frozen=True)
class Case:
    """One scenario to run under every seed, and the labels of its runs."""

    scenario: Scenario
    labels: Mapping[str, str | int]
    title: str = ""  # in messages; unless given, the labels


def open_store(out: str | Path | None) -> Store:
    """The store in a result's folder, or the user's own."""
    return Store(claim(out).path / "runs" if out else default_root())


def _refuse(host: str, scenarios: Sequence[Mapping[str, Any]]) -> None:
    """What the host cannot run."""
    for scenario in scenarios:
        for i, algorithm in of_links(scenario):
            if host not in algorithm.hosts:
                link, other = scenario["links"][i]["name"], algorithm.hosts[0]
                raise InputError(
                    f"'{algorithm.name}', of link '{link}', runs only on {other.capitalize()}: "
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
    """The scenario with each algorithm in the queues under test, or as it is, and then changed."""
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
    """The scenario with this algorithm in the queues under test and with these changes; `source`
    is where they come from, for messages."""
    data = scenario.to_data()
    apply(data, variant, changes)
    return validate(data, source=source)


def algorithms_of(scenario: Scenario) -> str:
    """Name the algorithms under test as tables do: each once, in the order of the links."""
    graph = scenario.expand()
    tested = under_test(scenario, graph)
    names = [link.queue.algorithm for link in graph.links if link.name in tested]
    return "+".join(dict.fromkeys(algorithms.shown_names(names).values()))


def _own_names(scenario: Scenario, graph: Scenario) -> dict[str, str]:
    """The algorithm of each recorded queue that has another one than the label of the run says: of
    one that is not under test, and of each where those under test are not alike."""
    of = {link.name: link.queue.algorithm for link in graph.links}
    tested = under_test(scenario, graph)
    alike = len({of[name] for name in tested}) == 1
    unlike = [name for name in graph.record.queues if not (alike and name in tested)]
    shown = algorithms.shown_names(of[name] for name in (*unlike, *tested))
    return {name: shown[of[name]] for name in unlike}


def _runs_on(host: str, scenario: Mapping[str, Any], hosts: Sequence[str]) -> bool:
    """Where one host has not all its algorithms and another has, it runs on the other alone."""
    having = [h for h in hosts if all(h in algorithm.hosts for _, algorithm in of_links(scenario))]
    return host in having or not having


def _forms(
    host: str, scenario: dict[str, Any], hosts: Sequence[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The runs of a host: where Linux is among the hosts, a link that follows a trace is also run
    as a schedule of rates, the only form that Linux has."""
    traces = any("opportunities" in link for link in scenario["links"])
    if host == "sim" or not traces:
        yield host, scenario
    if traces and "linux" in hosts:
        yield f"{host}{BINNED}", without_opportunities(scenario)


def jobs_of(
    cases: Sequence[Case], seeds: Sequence[int], hosts: Sequence[str]
) -> list[tuple[Job, Labels]]:
    """Every case on every host under every seed, in that order, and the labels of each run. What
    cannot be run is refused here."""
    return jobs_of_forms(forms_of(cases, hosts), seeds)


def forms_of(cases: Sequence[Case], hosts: Sequence[str]) -> list[Form]:
    """Every case on every host, in that order. What cannot be run is refused here."""
    found = []
    graphs = [case.scenario.expand() for case in cases]
    own_names = [_own_names(c.scenario, graph) for c, graph in zip(cases, graphs, strict=True)]
    of_host = {host: [to_engine(graph, host) for graph in graphs] for host in hosts}
    _try_files(of_host[hosts[0]])
    # Every refusal before the first run.
    for host, scenarios in of_host.items():
        _refuse(host, [s for s in scenarios if _runs_on(host, s, hosts)])
    for (number, case), host in product(enumerate(cases), hosts):
        scenario = of_host[host][number]
        if not _runs_on(host, scenario, hosts):
            continue
        for label, form in _forms(host, scenario, hosts):
            text, files = json.dumps(form, sort_keys=True), algorithms.libraries(scenario)
            name = case.title or " ".join(map(str, case.labels.values()))
            name += f" {label}" if label != "sim" else ""
            title = f"{case.scenario.name}, {name}"
            short = case.scenario.shorthand is not None
            found.append(Form(text, case.labels, label, title, files, own_names[number], short))
    return found


def run_cases(
    cases: Sequence[Case],
    seeds: Sequence[int],
    *,
    store: Store,
    workers: int | None = None,
    again: bool = False,
    title: str = "running",
    hosts: Sequence[str] = ("sim",),
    processes: bool = False,
    client: Any = None,
) -> tuple[Run, ...]:
    """Every case on every host under every seed, in that order."""
    return run_jobs(
        jobs_of(cases, seeds, hosts),
        store=store,
        workers=workers,
        again=again,
        title=title,
        processes=processes,
        client=client,
    )


def _try_files(scenarios: Sequence[Mapping[str, Any]]) -> None:
    """What a user's file does wrong is found in a process of its own, before any run."""
    files = dict.fromkeys(file for s in scenarios for file in algorithms.libraries(s))
    if files:
        from sojourn.user_aqm import trial

        for file in files:
            trial.before_run(file)


def run(
    scenario: Scenario | str | os.PathLike[str],
    *,
    aqms: Sequence[str] = (),
    changes: Mapping[str, object] = MappingProxyType({}),
    seeds: int = 1,
    out: str | Path | None = None,
    workers: int | None = None,
    again: bool = False,
    hosts: Sequence[str] = ("sim",),
    processes: bool = False,
    client: Any = None,
    checked: Callable[[Sequence[Form]], object] | None = None,
) -> Result:
    """Run a scenario, or the one in a file: with each of `aqms` ("pie", "pie:target=5ms") in its
    queues under test and with the `changes` of `--set`, on each of `hosts` ("sim", "linux"), with
    seeds 1 to `seeds`.

    Runs that the store already holds are taken from there, unless `again`. A folder `out` that
    holds a result of this scenario gets these runs added. `workers` runs go at once, in threads:
    they hold no lock of Python's. With `processes` a run that crashes takes no other along; a
    script then needs `if __name__ == "__main__":`. A `client` (anything with `submit` and futures:
    an executor of `concurrent.futures`, a client of Dask) makes the runs instead, `workers` of them
    at once. Before the first run `checked` is called with what is to run under each seed.
    """
    if not isinstance(scenario, Scenario):
        scenario = load(Path(scenario))
    if not isinstance(seeds, int):
        raise InputError(f"seeds = {seeds!r}: a number N is wanted, for seeds 1 to N")
    aqms = [aqms] if isinstance(aqms, str) else aqms
    if not 1 <= seeds <= MAX_SEEDS:
        raise InputError(f"{seeds} seeds; allowed: 1 to {MAX_SEEDS}")
    variants = read_all(aqms)
    labels = tuple(str(variant) for variant in variants)
    presets = {str(variant): variant.without_preset() for variant in variants if variant.preset}
    # A result is repeated from another folder.
    changes = placed(changes, Path())
    hosts = check_hosts(hosts)
    request = Request(scenario.to_toml() if out else "", labels, changes, seeds, hosts, presets)
    if out:
        earlier = read_request(out)
        request = request.added_to(earlier, out) if earlier else request
    cases = cases_of(scenario, request.aqms, request.changes)
    store = open_store(out)
    forms = forms_of(cases, request.hosts)
    if checked:
        checked(forms)
    runs = run_jobs(
        jobs_of_forms(forms, range(1, request.seeds + 1)),
        store=store,
        workers=workers,
        again=again,
        title=f"running {scenario.name}",
        processes=processes,
        client=client,
    )
    result = Result(scenario, runs, request.to_json() if out else {})
    if out:
        result.save(out)
    return result
