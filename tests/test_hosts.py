# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Keys of one host: the other host never sees them."""

from __future__ import annotations

import json

import pytest
from sojourn.core.errors import InputError
from sojourn.linux import refusals
from sojourn.linux.plan import plan
from sojourn.runs import run
from sojourn.runs.job import Job
from sojourn.runs.run import cases_of
from sojourn.scenario import loads
from sojourn.store.store import digest

from tests.test_shorthands import example

TWO = example("keys of two hosts")
# The same without the tables of a host.
NONE = TWO[: TWO.index("[dumbbell.flows.sim]")].replace("sim = { ring = 8 }\n", "")


def test_a_host_reads_its_own_tables_and_nothing_of_the_others() -> None:
    two, none = loads(TWO), loads(NONE)
    sim, linux, plain = two.to_engine(), two.to_engine("linux"), none.to_engine("linux")
    assert none.to_engine() == plain
    assert sim["links"][1].pop("sim") == {"ring": 8}
    assert sim["flows"][0].pop("sim") == {"send_jitter": 50_000, "options": {"prr": False}}
    sysctls = {"tcp_limit_output_bytes": 65_536}
    assert linux["flows"][0].pop("linux") == {"ip": 4, "cc": "bbr", "sysctls": sysctls}
    assert sim == linux == plain


def test_linux_sets_its_own_and_refuses_nothing_of_the_simulators() -> None:
    linux = loads(TWO).to_engine("linux")
    refusals.check(linux)
    settings = plan(linux, 1).files["settings"]
    # Both ends, and no other namespace.
    assert settings.count("sysctl net/ipv4/tcp_limit_output_bytes 65536\n") == 2
    assert plan(linux, 1).files["flows"].count(" bbr ") == 4


def test_flows_of_one_node_have_one_set_of_sysctls() -> None:
    second = '\n[[dumbbell.flows]]\nname = "second"\n'
    with pytest.raises(InputError, match=r"unlike TCPs at 'sender' \(tcp_limit_output_bytes\)"):
        refusals.check(loads(TWO + second).to_engine("linux"))


def test_a_change_for_one_host_leaves_the_runs_of_the_other_as_they_are() -> None:
    def keys(**changes: object) -> list[str]:
        named = {f"flows.bulk.{key}": value for key, value in changes.items()}
        (case,) = cases_of(loads(TWO), [], named)
        graphs = [case.scenario.to_engine(host) for host in ("sim", "linux")]
        return [digest(json.dumps(graph).encode()) for graph in graphs]

    before = keys()
    assert [a == b for a, b in zip(before, keys(linux={"cc": "vegas"}), strict=True)] == [
        True,
        False,
    ]
    jitter = keys(sim={"send_jitter": "1 ms"})
    assert [a == b for a, b in zip(before, jitter, strict=True)] == [False, True]


def test_the_tables_stay_with_a_graph_and_its_file() -> None:
    two = loads(TWO)
    graph = loads(two.expand().to_toml())
    for host in ("sim", "linux"):
        assert graph.to_engine(host) == two.to_engine(host)
    assert loads(two.to_toml()) == two


class Asked(Exception):
    """In place of runs."""


def test_each_host_of_a_command_is_asked_for_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(_: object, jobs: list[Job], title: str) -> None:
        raise Asked({job.host or "sim": json.loads(job.scenario) for job in jobs})

    monkeypatch.setattr("sojourn.runs.executor.Runner.run", asked)
    monkeypatch.setattr(run, "_host_of", lambda job: str(job.labels["host"]).replace("sim", ""))
    with pytest.raises(Asked) as caught:
        run.run(loads(TWO), hosts=["sim", "linux"])
    (told,) = caught.value.args
    flows = {host: told[host]["flows"][0] for host in ("sim", "linux")}
    assert flows["sim"]["sim"]["send_jitter"] == 50_000 and "sim" not in flows["linux"]
    assert flows["linux"]["linux"]["cc"] == "bbr" and "linux" not in flows["sim"]
