# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The Linux host without a kernel: what it would do, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sojourn.algorithms import algorithms, read_rows
from sojourn.core.errors import InputError
from sojourn.linux import memory, refusals
from sojourn.linux.plan import plan
from sojourn.linux.qdiscs import leaf_words, stages
from sojourn.linux.samples import read, report_flows
from sojourn.papers.experiment import experiments, find
from sojourn.runs.run import Case, count_stored, jobs_of, run, stored_runs
from sojourn.scenario import loads
from sojourn.scenario.engine import parsed
from sojourn.store.store import Store

DUMBBELL = """
format = 2
name = "two flows"
duration = "4 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "40 ms"
aqm = { algorithm = "codel", target = "7 ms", ecn = true }

[[dumbbell.flows]]
count = 2
transport = { kind = "tcp", cc = "cubic", ecn = true }
"""


def engine(text: str = DUMBBELL) -> dict[str, Any]:
    return loads(text).to_engine()


def link(**changes: Any) -> dict[str, Any]:
    return {**engine()["links"][1], **changes}


def words(**changes: Any) -> list[str]:
    found = stages(link(**changes), recorded=["bottleneck"])
    return [command for stage in found for command in stage.commands]


def test_rows_go_to_tc_by_their_names_and_in_their_units() -> None:
    queue = {"algorithm": "codel", "target": 7_000_000, "limit": 50, "ecn": 0}
    ample = "memory_limit 4294967295b"
    assert leaf_words(queue) == f"sojourn codel target 7ms limit 50p noecn {ample}"
    fq = {"algorithm": "codel", "flows": 512}
    assert leaf_words(fq) == f"sojourn fq codel flows 512 {ample}"
    own = {"algorithm": "fq_codel"}
    assert leaf_words(own) == f"sojourn fq_codel {ample}"
    single = {"algorithm": "fq_codel", "flows": 0}
    assert leaf_words(single) == f"sojourn fq_codel flows 0 {ample}"
    bound = {"algorithm": "fifo", "memory_limit": 1_000_000}
    assert leaf_words(bound) == "sojourn fifo memory_limit 1000000b"
    stock = {"algorithm": "kernel:codel", "target": 7_000_000, "ecn": 1}
    assert leaf_words(stock) == "codel target 7000.000us ecn"


def test_sizes_of_the_kernels_own_are_plain_bytes_whatever_their_unit_was() -> None:
    rows = read_rows("kernel:red", {"min": "30 kB", "max": "90 kB"})
    said = leaf_words({"algorithm": "kernel:red", **rows})
    assert said == "red limit 1500000 min 30000 max 90000 avpkt 1000 burst 55 bandwidth 10000000bit"


def test_a_wire_is_a_bucket_of_next_to_nothing_and_the_time_to_the_last_bit() -> None:
    commands = words()
    assert "class add dev {dev} parent 1: classid 1:10 htb rate 10000000bit" in commands[1]
    assert "burst 6b cburst 6b" in commands[1]
    assert commands[3:] == [
        "qdisc add dev {dev} root netem rate 10000000bit limit 1000000",
        "qdisc add dev {dev} root netem limit 1000000 delay 20000.000us",
    ]


def test_a_plain_fifo_that_is_not_measured_is_netem_alone() -> None:
    queue = {"algorithm": "fifo", "limit": 100}
    [wire] = stages(link(queue=queue, delay=0), recorded=[])
    # The packet being sent is counted by netem, and not by the engine.
    assert wire.commands == ("qdisc add dev {dev} root netem rate 10000000bit limit 101",)


def test_jitter_keeps_order_only_where_the_scenario_says_so() -> None:
    jitter = {"distribution": "normal", "sd": 1_000_000, "reorder": True}
    assert words(jitter=jitter)[-1].endswith("delay 20000.000us 1000.000us distribution normal")
    kept = words(jitter={**jitter, "reorder": False, "distribution": "uniform"})[-1]
    assert kept.endswith("delay 20000.000us 1000.000us rate 100gbit")


def test_a_later_delay_changes_netem_and_leaves_its_packets() -> None:
    jitter = {"distribution": "uniform", "sd": 1_000_000, "reorder": False}
    delays = [{"at": 5, "delay": 0}, {"at": 9, "delay": 75_000_000}]
    far = stages(link(delays=delays, jitter=jitter), recorded=["bottleneck"])[-1]
    words = "dev {dev} root netem limit 1000000 delay %s 1000.000us rate 100gbit"
    assert far.commands == (f"qdisc add {words % '20000.000us'}",)
    assert far.timetable == (
        (5, (f"qdisc change {words % '0.000us'}",)),
        (9, (f"qdisc change {words % '75000.000us'}",)),
    )
    [*_, far] = stages(link(delays=delays[1:], delay=0), recorded=["bottleneck"])
    assert far.commands == ("qdisc add dev {dev} root netem limit 1000000 delay 0.000us",)


OWN = DUMBBELL.replace(
    "count = 2", 'count = 3\nrtt = ["40 ms", "240 ms", "65 ms"]\nstart = ["0 s", "2 s", "3 s"]'
)


def test_flows_with_round_trips_of_their_own_pass_a_delay_by_their_ports() -> None:
    job = plan(engine(OWN), 1)
    # The first flow's round trip is that of its links.
    assert job.files["l0s0.qdiscs"].splitlines()[1:-1] == [
        "class add dev l0h1a parent 1: classid 1:1 htb rate 100gbit burst 1mb cburst 1mb "
        "quantum 1514",
        "qdisc add dev l0h1a parent 1:1 netem limit 1000000 delay 25000.000us",
        "class add dev l0h1a parent 1: classid 1:2 htb rate 100gbit burst 1mb cburst 1mb "
        "quantum 1514",
        "qdisc add dev l0h1a parent 1:2 netem limit 1000000 delay 200000.000us",
        "filter add dev l0h1a parent 1: protocol ip prio 1 u32 "
        "match ip dport 1025 0xffff flowid 1:2",
        "filter add dev l0h1a parent 1: protocol ip prio 1 u32 "
        "match ip dport 1026 0xffff flowid 1:1",
    ]
    flows = [line.split() for line in job.files["flows"].splitlines() if line.startswith("flow")]
    assert [words[8] for words in flows] == ["0", "2000000000", "3000000000"]


def test_a_recorded_queue_stands_behind_the_flows_own_delays() -> None:
    """Also where it is the first link of their way, and its probes begin there."""
    text = loads(OWN).expand().to_toml().replace('"codel", target = "7 ms", ecn = true', '"asqm"')
    graph = loads(text)
    data = graph.to_engine()
    data["links"] = [{**data["links"][1], "from": "sender"}, data["links"][2]]
    job = plan(data, 1)
    [tapped] = job.taps
    assert (tapped.space, tapped.before, tapped.device) == ("l0s1", "l0h1b", "l0h2a")
    assert "htb" in job.files["l0s0.qdiscs"]
    assert "sojourn asqm" in job.files["l0s1.qdiscs"]
    assert "addr add 10.3.0.0/32 dev lo" in job.files["l0s1.ip"]
    assert "addr add 10.3.0.0/32 dev lo" not in job.files["l0s0.ip"]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ('count = 5001\nrtt = "50 ms"', "up to 5000"),
        ('rtt = "300 s"', "netem delays by 274 s"),
        ('rtt = { distribution = "normal", mean = "200 s", sd = "10 s" }', "274 s"),
    ],
)
def test_round_trips_that_tc_cannot_keep_are_refused(keys: str, words: str) -> None:
    text = DUMBBELL.replace("count = 2", keys)
    with pytest.raises(InputError, match=words):
        refusals.check(engine(text))


def test_rates_follow_their_timetable() -> None:
    scenario = find(["duk/1"])[0].cases()[0].scenario.to_engine()
    job = plan(scenario, 1)
    changes = [line for line in job.files["timetable"].splitlines() if "tbf" in line]
    assert len(changes) == 4
    assert changes[1].startswith("30000000000 printf")
    assert "'qdisc change dev l1h1a root handle 1: tbf rate 20000000bit" in changes[1]
    assert "rate 20000000bit burst 12500b" in changes[1]
    assert [tap.name for tap in job.taps] == ["bottleneck"]


NEEDY = [entry.name for entry in algorithms().values() if entry.needs_rate]


@pytest.mark.parametrize("shaper", ["tbf", "htb", "wire"])
@pytest.mark.parametrize("name", [*NEEDY, "codel"])
def test_a_queue_is_told_the_links_rate_when_the_shaper_is(name: str, shaper: str) -> None:
    """As in the simulator: every queue of ours, and those that need the rate above all."""
    assert NEEDY
    schedule = [{"at": 10**9, "rate": 5_000_000}]
    changed = {"shaper": shaper, "burst": 3000, "schedule": schedule}
    queue = {"algorithm": name}
    shaping = stages(link(queue=queue, **changed), recorded=["bottleneck"])[0]
    assert shaping.commands[-1].endswith(
        f"sojourn {name} memory_limit 4294967295b bandwidth 10mbit"
    )
    [(at_ns, (first, then))] = shaping.timetable
    assert at_ns == 10**9
    assert "change" in first and f" {shaper if shaper == 'tbf' else 'htb'} rate 5000000bit" in first
    parent = "1:1" if shaper == "tbf" else "1:10"
    where = f"qdisc change dev {{dev}} parent {parent} handle 10:"
    assert then == f"{where} sojourn {name} bandwidth 5mbit"
    # Both are one process's, at the same time of the guest.
    scenario = engine()
    scenario["links"][1] |= {"queue": queue, **changed}
    lines = plan(scenario, 1).files["timetable"].splitlines()
    [line] = [line for line in lines if "bandwidth" in line]
    assert line.startswith("1000000000 printf '%s\\n' ") and line.endswith("-n l1s0 -batch -")
    assert line.index("rate 5000000bit") < line.index("bandwidth 5mbit")


def test_a_rate_that_the_scenario_sets_stays_and_the_kernels_own_hear_of_none() -> None:
    schedule = [{"at": 10**9, "rate": 5_000_000}]
    for queue in (
        {"algorithm": NEEDY[0], "bandwidth": 77},
        {"algorithm": "kernel:codel"},
    ):
        shaping = stages(link(queue=queue, schedule=schedule), recorded=["bottleneck"])[0]
        assert "10mbit" not in shaping.commands[-1]
        assert [len(commands) for _, commands in shaping.timetable] == [1]


ENDLESS = f"move 0 0 0 {(2**64 - 1) // 4} -1 0"


def test_flows_start_as_in_the_simulator_and_differ_by_seed() -> None:
    lines = plan(engine(), 1).files["flows"].splitlines()
    assert lines[:2] == ["edge 0", "edge 4000000000"]
    assert lines[4].startswith("flow 0 1024 n0 n2 10.1.0.0 10.2.0.0 cubic ")
    assert lines[5:9] == lines[10:] == ["source 0 0 0", "visit 0 0", "talk 0 -1 -1 0 0", ENDLESS]
    assert plan(engine(), 1) == plan(engine(), 1)
    assert plan(engine(), 2).files["flows"] != plan(engine(), 1).files["flows"]


def test_only_the_flows_that_ask_for_ecn_have_a_route_that_does() -> None:
    scripts = plan(engine(), 1).files
    assert "route add 10.2.0.0 dev l0h0a features ecn" in scripts["n0.ip"]
    assert "features ecn" not in scripts["n2.ip"]


def test_ect1_is_written_at_both_ends_of_the_flow_and_of_it_alone() -> None:
    scenario = engine()
    (flow,) = scenario["flows"]
    assert not [name for name in plan(scenario, 1).files if name.endswith(".egress")]
    l4s = flow | {"name": "l4s", "transport": {"kind": "tcp", "cc": "dctcp", "ecn": "ect1"}}
    scenario["flows"] = [flow, l4s, l4s | {"name": "more"}]
    files = plan(scenario, 1).files
    for node, dev, sources in (
        ("n0", "l0h0a", ["10.1.0.1"]),
        ("n2", "l2h0a", ["10.2.0.1"]),
    ):
        assert f"tc -n {node} -batch {node}.egress" in files["network"].splitlines()
        hook, *filters = files[f"{node}.egress"].splitlines()
        assert hook == f"qdisc add dev {dev} clsact"
        assert [line.split(" src ")[1].split("/32")[0] for line in filters] == sources
        for line in filters:
            assert line.startswith(f"filter add dev {dev} egress protocol ip u32 ")
            assert " match ip dsfield 0x2 0x3 action pedit ex " in line
            assert line.endswith("munge ip dsfield set 0x1 retain 0x3 pipe action csum ip")
    # Connections ask for ECN by their route, as those with ECT(0) do.
    assert "route add 10.2.0.1 dev l0h0a features ecn" in files["n0.ip"]


def ends_of(scenario: dict[str, Any]) -> list[tuple[str, str]]:
    """Addresses at sender and receiver of each group, as linux/uml/play.c reads them."""
    lines = [line.split() for line in plan(scenario, 1).files["flows"].splitlines()]
    return list(dict.fromkeys((line[5], line[6]) for line in lines if line[0] == "flow"))


def test_a_node_is_one_host_whatever_sends_and_receives_there() -> None:
    scenario = engine()
    (flow,) = scenario["flows"]
    datagrams = flow | {"name": "datagrams", "transport": {"kind": "udp"}}
    datagrams["app"] = {"kind": "cbr", "rate": 10**6, "payload": 1000}
    plain = flow | {"name": "plain", "transport": {"kind": "tcp", "cc": "cubic"}}
    scenario["flows"] = [plain, datagrams, plain | {"name": "more"}]
    assert ends_of(scenario) == [("10.1.0.0", "10.2.0.0")]
    # A route at the sender that asks for ECN leads to another address, which is the receiver's.
    scenario["flows"] = [plain, flow]
    assert ends_of(scenario) == [("10.1.0.0", "10.2.0.0"), ("10.1.0.0", "10.2.0.1")]
    # A node that sends one group and receives another is one host too.
    back = {"from": flow["to"], "to": flow["from"], "name": "back"}
    scenario["flows"] = [plain, plain | back]
    assert ends_of(scenario) == [("10.1.0.0", "10.2.0.0"), ("10.2.0.0", "10.1.0.0")]


def test_a_group_that_goes_another_way_has_addresses_of_its_own() -> None:
    scenario = engine()
    scenario["links"].append(scenario["links"][1] | {"name": "beside"})
    (flow,) = scenario["flows"]
    beside = flow | {"name": "beside", "path": ["access", "beside"]}
    scenario["flows"] = [flow | {"path": ["access", "bottleneck"]}, beside]
    assert ends_of(scenario) == [("10.1.0.0", "10.2.0.0"), ("10.1.0.0", "10.2.0.1")]


@pytest.mark.parametrize(
    ("where", "change", "sentence"),
    [
        (("links", 1), {"delay": 275 * 10**9}, r"links\[1\].delay: netem delays by 274 s"),
        (("links", 1), {"shaper": "tbf", "burst": 500}, "drops packets larger"),
        (("flows", 0), {"count": 40_000}, "a port of its own"),
        (("flows", 0), {"transport": {"kind": "tcp", "cc": "westwood"}}, "no 'westwood'"),
        (
            ("flows", 0),
            {"transport": {"kind": "tcp", "cc": "reno", "options": {"prr": False}}},
            "prr: switches of the simulator's TCP",
        ),
        (("links", 1), {"rate": 10**12}, "too many packets"),
        (
            ("flows", 0),
            {
                "linux": {"ip": 6},
                "transport": {"kind": "udp"},
                "app": {"kind": "cbr", "rate": 10**6, "payload": 1453},
            },
            "1453 does not fit into one packet of IPv6; allowed: up to 1452",
        ),
    ],
)
def test_what_linux_cannot_express_is_named(
    where: tuple[str, int], change: dict[str, Any], sentence: str
) -> None:
    scenario = engine()
    part, index = where
    scenario[part][index] |= change
    with pytest.raises(InputError, match=sentence):
        refusals.check(scenario)


def of_rate(rate_bps: int, seconds: int) -> dict[str, Any]:
    scenario = engine()
    scenario["links"][1]["rate"] = rate_bps
    return {**scenario, "duration": seconds * 10**9}


def test_a_guest_has_more_memory_only_where_its_packets_need_it() -> None:
    assert memory.guest_mb(of_rate(10**7, 4)) == memory.USUAL_MB
    # 3.125 million full packets, twice as many with the margin, of 64 bytes each: 400 MB.
    assert memory.guest_mb(of_rate(10**9, 37)) == memory.USUAL_MB
    assert memory.guest_mb(of_rate(10**9, 38)) == memory.USUAL_MB + 512
    # A rate that changes counts for as long as it lasts.
    falls = of_rate(10**9, 38)
    falls["links"][1]["schedule"] = [{"at": 10**9, "rate": 10**6}]
    assert memory.guest_mb(falls) == memory.USUAL_MB


def test_memory_depends_on_the_scenario_and_not_on_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    large = of_rate(10**9, 60)
    wanted = memory.guest_mb(large)
    monkeypatch.setattr(memory, "most_mb", lambda: 900)
    assert memory.guest_mb(large) == wanted == 1280
    with pytest.raises(
        InputError,
        match=r"duration: .* a guest of 1280 MB, .* machine's memory is 900 MB; .* up to 37 s",
    ):
        refusals.check(large)
    refusals.check(of_rate(10**9, 37))
    monkeypatch.setattr(memory, "most_mb", lambda: 1280)
    refusals.check(large)


def test_more_packets_than_the_module_keeps_are_refused_on_any_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "most_mb", lambda: 10**6)
    refusals.check(of_rate(10**9, 400))
    with pytest.raises(InputError, match=r"up to 83 million, where 67 .* rates: up to 402 s"):
        refusals.check(of_rate(10**9, 500))
    refusals.check(of_rate(10**9, 402))
    with pytest.raises(InputError, match=r"rates: up to 0\.4 s"):
        refusals.check(of_rate(10**12, 1))


def test_a_run_is_filed_under_the_kernel_of_its_hz_and_else_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two scenarios, one of another HZ, in one command."""

    class Ready:
        def __init__(self, hz: int) -> None:
            self.version = f"kernel of {hz}"

    monkeypatch.setattr("sojourn.linux.kernel.ready", lambda hz: Ready(hz))
    monkeypatch.setattr("sojourn.linux.kernel.module_for", lambda kernel, files: None)
    plain, other = (
        loads(DUMBBELL),
        loads(DUMBBELL.replace("[dumbbell]", "[linux]\nhz = 250\n\n[dumbbell]")),
    )
    explicit = loads(DUMBBELL.replace("[dumbbell]", "[linux]\nhz = 1000\n\n[dumbbell]"))
    assert "linux" not in explicit.to_engine("linux") and "linux" not in other.to_engine("sim")
    cases = [Case(one, {"of": n}) for n, one in enumerate((plain, explicit, other))]
    keys = {}
    for host in ("sim", "linux"):
        jobs = jobs_of(cases, [1], (host,))
        keys[host] = [job.key for job in jobs]
        if host == "linux":
            assert [job.host for job in jobs] == [f"kernel of {hz}" for hz in (1000, 1000, 250)]
    assert len(set(keys["sim"])) == 1
    assert keys["linux"][0] == keys["linux"][1] != keys["linux"][2]
    refusals.check(other.to_engine("linux"))
    assert plan(other.to_engine("linux"), 1) == plan(plain.to_engine("linux"), 1)


def test_a_kernel_of_another_hz_is_not_built_only_to_look(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def built(*_: object, **__: object) -> None:
        raise AssertionError("a kernel was built")

    monkeypatch.setattr("sojourn.linux.kernel.examine", lambda hz: [("linux: kernel", False, "")])
    monkeypatch.setattr("sojourn.linux.kernel.ready", built)
    text = DUMBBELL.replace("format = 2", "format = 2\nlinux = { hz = 250 }")
    cases = [Case(loads(text), {"aqm": "codel"})]
    assert count_stored(cases, [1], Store(tmp_path), "linux") == 0
    assert stored_runs(cases, [1], Store(tmp_path), "linux") == []


def test_every_experiment_but_one_runs_in_the_usual_memory() -> None:
    # The thousands of browsers of LQD's paper are more than Linux takes.
    for experiment in experiments():
        if experiment.paper == "lqd":
            continue
        first = experiment.cases()[0].scenario.to_engine("linux")
        wanted = 1280 if experiment.id == "duk/2" else memory.USUAL_MB
        assert memory.guest_mb(first) == wanted, experiment.id


def test_a_receive_buffer_is_that_of_the_namespace_in_which_the_flow_ends() -> None:
    scenario = engine()
    (flow,) = scenario["flows"]
    options = {"rcvbuf_bytes": 6 << 20, "rcvbuf_moderation": False}
    scenario["flows"] = [flow | {"transport": {"kind": "tcp", "cc": "reno", "options": options}}]
    refusals.check(scenario)
    spaces = plan(scenario, 1).files["settings"].split("space ")
    own = "sysctl net/ipv4/tcp_rmem 4096 6291456 6291456\nsysctl net/ipv4/tcp_moderate_rcvbuf 0\n"
    end = scenario["nodes"].index(flow["to"])
    assert [space.split()[0] for space in spaces if own in space] == [f"n{end}"]
    scenario["flows"].append(flow)
    with pytest.raises(InputError, match="unlike receive buffers; a namespace has one size"):
        refusals.check(scenario)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"header": 34}, r"links\[1\]\.header: tc's size table does not count"),
        ({"mpu": 84}, r"links\[1\]\.mpu: tc's size table does not count"),
        ({"linklayer": "atm"}, r"links\[1\]\.linklayer: tc's size table does not count"),
        ({"queue": {"algorithm": "kernel:cake"}}, "kernel:cake splits large segments"),
        (
            {"shaper": "tbf", "queue": {"algorithm": "kernel:codel"}},
            "tbf above kernel:codel splits large segments",
        ),
    ],
)
def test_what_large_segments_would_falsify_is_refused_with_them_alone(
    change: dict[str, Any], sentence: str
) -> None:
    scenario = engine(DUMBBELL)
    scenario["links"][1] |= change
    refusals.check(scenario)
    with pytest.raises(InputError, match=sentence):
        refusals.check({**scenario, "linux": {"offloads": True}})


def test_probes_have_a_responder_of_each_family_that_the_flows_have() -> None:
    scenario = engine()
    scenario["links"][1]["queue"] = {"algorithm": "asqm"}
    scenario["flows"][0]["linux"] = {"ip": 6}
    refusals.check(scenario)
    job = plan(scenario, 1)
    assert "sojourn asqm responder 10.4.0.1 responder fd00::4:1 " in job.files["l1s0.qdiscs"]
    far = job.files["n2.ip"]
    assert "addr add 10.4.0.1/32 dev lo" in far and "addr add fd00::4:1/128 dev lo" in far
    assert "addr add fd00::3:1/128 dev lo" in job.files["l1s0.ip"]
    # Any kernel answers an echo request.
    assert "respond" not in job.files["network"]


def test_experimental_probes_are_answered_as_if_no_router_lay_between() -> None:
    scenario = engine()
    scenario["links"][1] |= {"queue": {"algorithm": "asqm"}, "probe": "experimental"}
    job = plan(scenario, 1)
    assert "sojourn asqm responder 10.4.0.1 probe experimental " in job.files["l1s0.qdiscs"]
    assert "sojourn fifo respond" in job.files["network"]
    [name] = [name for name in job.files if name.endswith(".egress")]
    assert "ip protocol 253 0xff action pedit ex munge ip ttl set 255" in job.files[name]


def test_flows_of_ipv6_have_addresses_and_routes_of_it_beside_those_of_ipv4() -> None:
    two = DUMBBELL.replace("cubic", "dctcp")
    two = two.replace("ecn = true }\n", 'ecn = "ect1" }\n').replace('ecn = "ect1"', "ecn = true", 1)
    old = two.rpartition("[[")[2]
    scenario = loads(f'{two}linux = {{ ip = 6 }}\n[[{old}name = "old"\n').to_engine("linux")
    assert ["linux" in flow for flow in scenario["flows"]] == [True, False]
    files = plan(scenario, 1).files
    lines = files["n0.ip"].splitlines()
    assert "addr add fd00::1:0/128 dev lo" in lines
    assert "addr add 10.1.0.1/32 dev lo" in lines
    assert any(line.startswith("route add fd00::2:0 dev l0h0a features ecn") for line in lines)
    assert {"route add default dev l1h1a", "route add ::/0 dev l1h1a"} <= {
        *files["l1s0.ip"].splitlines()
    }
    assert " fd00::1:0 fd00::2:0 dctcp " in files["flows"]
    [ours] = [line for line in files["n0.egress"].splitlines() if "protocol ipv6" in line]
    assert "match u16 0x20 0x30 at 0 action pedit munge offset 0 u16 set 0x10 retain 0x30" in ours
    # Forwarding comes when devices are in no group: else a router would announce itself.
    said = files["settings"].splitlines()
    assert "sysctl net/ipv6/conf/all/disable_ipv6 1" not in said
    assert said.index("alone l0h0a") < said.index("sysctl net/ipv6/conf/all/forwarding 1")


def test_devices_have_large_segments_only_where_a_scenario_says_so() -> None:
    plain = engine()
    large = {**plain, "linux": {"offloads": True}}
    for scenario, verb, bound in ((plain, "plain", True), (large, "large", False)):
        files = plan(scenario, 1).files
        assert f"{verb} l0h0a" in files["settings"].splitlines()
        assert ("gso_max_segs 1" in files["n0.ip"]) is bound


def test_what_linux_alone_has_is_not_in_the_simulators_form() -> None:
    text = DUMBBELL.replace("format = 2", "format = 2\nlinux = { offloads = true }")
    text += "linux = { ip = 6 }\n"
    assert loads(text).to_engine("sim") == loads(text.replace("ip = 6", "")).to_engine("sim")
    assert loads(text).to_engine("linux")["linux"]["offloads"] is True


def test_refusals_come_before_anything_starts() -> None:
    scenario = loads(DUMBBELL.replace('rtt = "40 ms"', 'rtt = "600 s"'))
    with pytest.raises(InputError, match="netem delays by 274 s"):
        run(scenario, hosts=["linux"])


def test_a_qdisc_of_the_kernel_needs_the_kernel() -> None:
    with pytest.raises(
        InputError, match="'kernel:pie', of link 'bottleneck', runs only on Linux: add --host linux"
    ):
        run(loads(DUMBBELL), aqms=["kernel:pie"])


def test_counts_become_the_engines_report() -> None:
    scenario = engine()
    text = """\
count 0 0 0 0 1 0 0 0 0 0 0 0 0 0
count 0 1 0 0 1 0 0 0 0 0 0 0 0 0
done 0 1500000000 500000000
done 1 2500000000 750000000
count 1 0 2000000 0 1 1400 3 1 41000 0 0 0 0 0
count 1 1 2000000 0 1 1380 2 0 0 0 0 0 0 0
"""
    report = report_flows(read(parsed(scenario), text))
    assert report["goodput_mbps"] == pytest.approx(8)
    assert report["jain"] == pytest.approx(1)
    assert report["fct_s"] == {
        **{"n": 2, "mean": 0.625},
        **{"p25": 0.5, "p50": 0.5, "p75": 0.75, "p95": 0.75},
    }
    (window,) = report["transport"]
    assert window["retransmitted_pkts"] == 5
    (group,) = window["groups"]
    assert (group["name"], group["flows"], group["retransmitted_pkts"]) == ("flow", 2, 5)
    assert group["least_share"] == pytest.approx(1) and group["lost_pkts"] is None
    assert all(window[key] == report[key] for key in ("goodput_mbps", "jain", "fct_s"))
    assert [flow["srtt_ms"] for flow in report["flows"]] == [41.0, None]


SCRIPTS = (
    DUMBBELL
    + """
[[dumbbell.flows]]
name = "users"
count = 2
rtt = "100 ms"
app = { kind = "web", think = "500 ms" }

[[dumbbell.flows]]
name = "more"
app = "bulk"

[[dumbbell.flows]]
name = "files"
rtt = "200 ms"
app = { kind = "files", gap = "200 ms", size = "10 kB" }
"""
)


def test_flows_have_the_numbers_of_the_scenario_and_a_port_each() -> None:
    job = plan(engine(SCRIPTS), 1)
    lines = job.files["flows"].splitlines()
    flows = [line.split() for line in lines if line.startswith("flow ")]
    assert [flow[1:3] for flow in flows] == [[str(n), str(1024 + n)] for n in range(6)]
    # Files come whatever becomes of those before them.
    sources = [line for line in lines if line.startswith("source ")]
    assert sources == ["source 0 0 0"] * 5 + ["source 1 0 0"]
    assert {line.split()[0] for line in lines} == {
        *("edge", "samples", "group"),
        *("flow", "source", "visit", "talk", "move"),
    }
    # A browser's packets go to the port of its server, and the server's come from there.
    delays = "\n".join(text for name, text in job.files.items() if name.endswith(".qdiscs"))
    assert "match ip sport 1026 0xffff" in delays and "match ip sport 1027 0xffff" in delays
    assert "match ip dport 1029 0xffff" in delays
    assert "play $t0 < flows > played" in job.job("programs", "/m/module", 1)


def test_groups_are_read_by_their_numbers() -> None:
    lines = plan(engine(SCRIPTS), 1).files["flows"].splitlines()
    groups = [line for line in lines if line.startswith(("samples", "group"))]
    assert groups == [
        "samples 100000000 40 1024",
        *("group 0 0 2", "group 1 2 2", "group 2 4 1", "group 3 5 1"),
    ]


def test_statistics_are_read_at_the_leaf_of_each_recorded_queue() -> None:
    job = plan(engine(), 1)
    assert job.files["queues"] == "l1s0 l1h1a 10\n"
    assert "statistics $t0 100000000 40 < queues > readings" in job.job("programs", "/m/module", 1)


def test_without_a_series_the_guest_reads_nothing() -> None:
    scenario = engine(SCRIPTS)
    scenario["record"]["series"] = 0
    job = plan(scenario, 1)
    assert "samples" not in job.files["flows"]
    assert "queues" not in job.files
    assert "statistics" not in job.job("programs", "/m/module", 1)


def test_what_was_played_becomes_the_engines_report() -> None:
    scenario = engine(SCRIPTS)
    played = "".join(
        f"count {e} {n} {e * 1000} 0 1 1 0 0 0 0 0 0 0 0\n" for e in (0, 1) for n in (0, 1, 4)
    )
    played += "".join(f"count 0 {n} 0 0 0 0 0 0 0 0 0 0 0 0\n" for n in (2, 3, 5))
    played += """\
done 2 1000000000 200000000
done 2 1100000000 100000000
page 2 1100000000 300000000
done 5 3000000000 400000000
count 1 2 9000 700 3 12 2 1 50000 0 0 0 0 0
count 1 3 0 0 0 0 0 0 0 0 0 0 0 0
count 1 5 20000 0 2 14 0 0 40000 0 0 0 0 0
"""
    (window,) = report_flows(read(parsed(scenario), played))["transport"]
    flow, users, more, files = window["groups"]
    assert (flow["delivered_bytes"], more["delivered_bytes"]) == (2000, 1000)
    assert (users["delivered_bytes"], users["answered_bytes"], users["opened"]) == (9000, 700, 3)
    assert (users["retransmitted_pkts"], users["timeouts"]) == (2, 1)
    assert users["page_s"]["p50"] == 0.3 and users["fct_s"]["n"] == 2
    assert files["page_s"] is None and files["fct_s"]["p50"] == 0.4
    assert "opened" not in flow
    assert window["fct_s"]["n"] == 3


def test_echoes_become_the_engines_report() -> None:
    scenario = engine()
    ping = {"kind": "ping", "interval": 100_000_000, "payload": 56}
    scenario["flows"][0] |= {"app": ping, "transport": {"kind": "udp"}}
    played = "".join(f"count {e} {n} 0 0 0 0 0 0 0 0 0 0 0 0\n" for e in (0, 1) for n in (0, 1))
    played += "echo 1 500000000 40000000\necho 1 600000000 0\n"
    report = report_flows(read(parsed(scenario), played))
    echo = {"name": "flow", "index": 1, "sent_s": [0.5, 0.6], "rtt_ms": [40.0, None]}
    assert report["echoes"] == [echo]
    silent = read(parsed(scenario), played.split("echo")[0])
    assert "echoes" not in report_flows(silent)


def test_datagrams_have_a_delay_and_a_jitter() -> None:
    scenario = engine()
    cbr = {"kind": "cbr", "rate": 80_000, "payload": 1_000}
    scenario["flows"][0] |= {"app": cbr, "transport": {"kind": "udp"}}
    text = """\
count 0 0 10000 0 1 10 0 0 0 10 50000000 9 9000000 10
count 0 1 10000 0 1 10 0 0 0 10 50000000 9 9000000 10
count 1 0 20000 0 1 26 0 0 0 20 130000000 19 29000000 25
count 1 1 10000 0 1 20 0 0 0 10 50000000 9 9000000 16
"""
    (group,) = report_flows(read(parsed(scenario), text))["transport"][0]["groups"]
    assert group["delay_p50_ms"] is None
    told = text + "took 0 0 90000000\ntook 1 0 6000000 7000000\ntook 1 1 11000000\n"
    (group,) = report_flows(read(parsed(scenario), told))["transport"][0]["groups"]
    quantiles = [group[f"delay_p{share}_ms"] for share in (50, 95, 99)]
    assert quantiles == pytest.approx([7, 11, 11], rel=1e-3)
    # Of 46 sent 41 were expected and 30 arrived; 20 expected and 20 arrived before the window.
    assert group["lost_pkts"] == 11
    assert (group["delay_ms"], group["jitter_ms"]) == (8.0, 2.0)


def test_a_header_is_counted_by_the_root_of_each_shaper_and_stays_with_a_change() -> None:
    later = [{"at": 10**9, "rate": 5_000_000}]
    for shaper, kind in (("wire", "htb"), ("htb", "htb"), ("tbf", "tbf")):
        keys = {"shaper": shaper, "header": 0, "schedule": later}
        found = stages(link(**keys), recorded=["bottleneck"])
        rated = [stage for stage in found if "rate" in str(stage.commands)]
        assert len(rated) == (2 if shaper == "wire" else 1)
        for stage in rated:
            (root,) = (words for words in stage.commands if " root " in words)
            assert "stab overhead -14 " in root
        assert f"stab overhead -14 {kind} " in rated[0].commands[0]
        # What a change of a whole qdisc leaves out is gone; a class has none.
        changes = [words for stage in rated for _, each in stage.timetable for words in each]
        of_roots = [words for words in changes if words.startswith("qdisc") and " root " in words]
        assert bool(of_roots) == (shaper != "htb")
        assert all("stab overhead -14 " in words for words in of_roots)
    assert not any("stab" in command for command in words())


def test_a_least_frame_and_cells_are_words_of_tcs_table_of_every_length() -> None:
    every = "mtu 2047 tsize 2048"
    for keys, said in (
        ({"mpu": 84}, f"stab mpu 84 {every} htb"),
        ({"header": 38, "mpu": 84}, f"stab overhead 24 mpu 84 {every} htb"),
        ({"linklayer": "atm"}, f"stab linklayer atm {every} htb"),
        (
            {"header": 54, "mpu": 96, "linklayer": "atm"},
            f"stab overhead 40 mpu 96 linklayer atm {every} htb",
        ),
    ):
        assert (
            f" {said} "
            in stages(link(shaper="htb", **keys), recorded=["bottleneck"])[0].commands[0]
        )


@pytest.mark.parametrize(("keys", "least"), [({"header": 40}, 1540), ({"linklayer": "atm"}, 1696)])
def test_a_bucket_must_hold_a_packet_as_the_link_counts_it(keys: Any, least: int) -> None:
    scenario = engine()
    scenario["links"][1] |= {"shaper": "tbf", "burst": 1_520, **keys}
    with pytest.raises(InputError, match=rf"burst: .* allowed: {least} and more"):
        refusals.check(scenario)


CROWD = """
format = 2
name = "crowd"
duration = "1 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "40 ms"

[[dumbbell.senders]]
name = "user"
count = 500
rate = "10 Mbit/s"

[[dumbbell.flows]]
count = 500
"""


def test_more_nodes_than_a_guest_can_lay_are_refused_before_it_starts() -> None:
    with pytest.raises(InputError, match=r"nodes: with the stages of their links 1507 namespaces"):
        refusals.check(loads(CROWD).to_engine("linux"))
    refusals.check(loads(CROWD.replace("500", "300")).to_engine("linux"))


def test_ip_may_open_the_file_of_each_namespace() -> None:
    network = plan(engine(), 1).files["network"].splitlines()
    assert network.index("ulimit -n 262144") < network.index("ip -batch spaces")
