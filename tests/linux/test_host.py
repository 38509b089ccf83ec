# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Scenarios on the Linux host: short runs in a guest."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sojourn import _native
from sojourn.algorithms import algorithms
from sojourn.linux import plan
from sojourn.linux import run as host
from sojourn.linux.run import run
from sojourn.linux.uml.boot import BootError, boot
from sojourn.linux.uml.build import Built
from sojourn.result import columns
from sojourn.runs.run import run as run_scenario
from sojourn.scenario import loads

from tests.linux.tables import PROBE_NAMES
from tests.test_tested import TWO_STAGES

# The first case may have to build a kernel.
pytestmark = pytest.mark.timeout(1800)

SCENARIO = """
format = 2
name = "all kinds of traffic"
duration = "6 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "40 ms"
aqm = { algorithm = "codel", ecn = true }

[[dumbbell.flows]]
name = "bulk"
count = 2
transport = { kind = "tcp", ecn = true }

[[dumbbell.flows]]
name = "short"
count = 2
app = { kind = "respawn", size = "50 kB" }

[[dumbbell.flows]]
name = "voice"
app = { kind = "cbr", rate = "64 kbit/s" }
transport = "udp"
stop = "5 s"
"""


def outcome(text: str, seed: int) -> tuple[dict[str, Any], bytes]:
    found = run(json.dumps(loads(text).to_engine()), seed, lambda share: True)
    assert found
    report, tables = found
    return {key: value for key, value in report.items() if key != "cpu_s"}, tables["series.parquet"]


@pytest.mark.usefixtures("kernel")
def test_linux_and_the_simulator_agree_on_a_short_run() -> None:
    linux, _ = outcome(SCENARIO, 1)
    done = _native.run(json.dumps(loads(SCENARIO).to_engine()), 1)
    assert done
    sim = json.loads(done[0])
    [here], [there] = (report["queues"][0]["windows"] for report in (linux, sim))
    assert here["utilisation_pct"] == pytest.approx(there["utilisation_pct"], abs=2)
    assert here["queue_delay_ms"]["mean"] == pytest.approx(
        there["queue_delay_ms"]["mean"], rel=0.25
    )
    assert here["marked_pkts"] > 0
    assert here["dropped_pkts"] > 0
    voice = [report["flows"][-1]["delivered_bytes"] for report in (linux, sim)]
    assert voice[0] == pytest.approx(voice[1], rel=0.05)
    assert linux["fct_s"]["n"] == pytest.approx(sim["fct_s"]["n"], rel=0.25)


VECTORS = """\
SEQ 1000000 2 0 0
r 20000
> 300
t 50000
< 5000
t 400000
> 200
< 9000
t 100000
CONC 2000000 2 2 0 0
r 20000
c> 500
t> 100000
c< 700
t< 150000
c> 500
c< 700
"""

PAGES = """
format = 2
name = "pages and files"
duration = "12 s"

[dumbbell]
rate = "20 Mbit/s"
rtt = "40 ms"
aqm = "codel"

[[dumbbell.flows]]
name = "near"
count = 5
app = { kind = "web", think = "0.5 s", response = "900 B", response_sigma = 1.5, tail = 0 }

[[dumbbell.flows]]
name = "far"
count = 5
rtt = "200 ms"
app.kind = "web"
app.think = "0.5 s"
app.response = "900 B"
app.response_sigma = 1.5
app.tail = 0
app.persistent = 0.8

[[dumbbell.flows]]
name = "files"
count = 2
app = { kind = "files", gap = "300 ms", size = "10 kB" }
stop = "9 s"

[[dumbbell.flows]]
name = "appended"
app = { kind = "files", gap = "300 ms", size = "10 kB", connections = "one" }

[[dumbbell.flows]]
name = "paced"
app = { kind = "paced", rate = "1 Mbit/s" }

[[dumbbell.flows]]
name = "voice"
count = 2
app = "voip"
transport = "udp"

[[dumbbell.flows]]
name = "arrivals"
app = { kind = "poisson", rate = "200 kbit/s" }
transport = "udp"

[[dumbbell.flows]]
name = "bursts"
app = { kind = "onoff", rate = "500 kbit/s", on = "200 ms", off = "300 ms" }
transport = "udp"
stop = "9 s"

[[dumbbell.flows]]
name = "echo"
app = { kind = "ping", interval = "50 ms" }
transport = "udp"

[[dumbbell.flows]]
name = "trace"
start_spread = "0 s"
app = { kind = "tmix", vectors = VECTORS }
""".replace("VECTORS", json.dumps(VECTORS))


@pytest.mark.usefixtures("kernel")
def test_both_hosts_play_the_same_scripts() -> None:
    """Where nothing waits, each transfer is the same and takes nearly as long."""
    linux, _ = outcome(PAGES, 3)
    done = _native.run(json.dumps(loads(PAGES).to_engine()), 3)
    assert done
    sim = json.loads(done[0])
    both = zip(linux["transport"][0]["groups"], sim["transport"][0]["groups"], strict=True)
    for here, there in both:
        assert here.keys() == there.keys()
        for key in ("opened", "delivered_bytes", "answered_bytes"):
            # What is under way at the end may differ.
            assert here[key] == pytest.approx(there[key], rel=0.02, abs=2), (here["name"], key)
        assert here["data_pkts_sent"] == pytest.approx(there["data_pkts_sent"], rel=0.03)
        for key in ("fct_s", "page_s"):
            if there[key] and there[key]["n"]:
                assert here[key]["n"] == pytest.approx(there[key]["n"], abs=2)
                assert here[key]["p50"] == pytest.approx(there[key]["p50"], rel=0.05)
    assert linux["transport"][0]["groups"][-1]["fct_s"]["n"] == 2
    (here,), (there,) = linux["echoes"], sim["echoes"]
    assert here["sent_s"] == there["sent_s"]
    # Each waits for a few packets at most, and not for the same ones.
    for rtt_ms in (*here["rtt_ms"][:-1], *there["rtt_ms"][:-1]):
        assert 40 < rtt_ms < 60


OWN = """
format = 2
name = "round trips of their own"
duration = "20 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "20 ms"
aqm = "codel"

[[dumbbell.flows]]
count = 4
rtt = ["20 ms", "120 ms", "320 ms", "620 ms"]
start = { distribution = "poisson", gap = "100 ms" }
"""


@pytest.mark.usefixtures("kernel")
def test_each_flow_has_its_own_round_trip_on_both_hosts() -> None:
    linux, _ = outcome(OWN, 1)
    done = _native.run(json.dumps(loads(OWN).to_engine()), 1)
    assert done
    for report in (linux, json.loads(done[0])):
        # CoDel lets some packets wait for more than its interval of 100 ms, but not a whole one.
        for flow, rtt_ms in zip(report["flows"], (20, 120, 320, 620), strict=True):
            assert rtt_ms <= flow["srtt_ms"] < rtt_ms + 60, flow


LOT = """
format = 2
name = "two bottlenecks"
duration = "10 s"

[parking_lot]
edges = { rate = "20 Mbit/s", delay = "2 ms" }

[[parking_lot.hops]]
count = 2
rate = "4 Mbit/s"
delay = "10 ms"
aqm = "codel"
back = { rate = "4 Mbit/s" }

[[parking_lot.flows]]
name = "through"
count = 2

[[parking_lot.flows]]
name = "cross"
over = "each"

[[parking_lot.flows]]
name = "against"
over = [2, 1]
transport = "udp"
app = { kind = "cbr", rate = "1 Mbit/s", payload = "1000 B" }
"""


@pytest.mark.usefixtures("kernel")
def test_a_parking_lot_is_the_same_network_on_both_hosts() -> None:
    linux, _ = outcome(LOT, 1)
    done = _native.run(json.dumps(loads(LOT).to_engine()), 1)
    assert done
    sim = json.loads(done[0])
    for here, there in zip(linux["queues"], sim["queues"], strict=True):
        [ours], [theirs] = here["windows"], there["windows"]
        assert ours["utilisation_pct"] == pytest.approx(theirs["utilisation_pct"], abs=3)
        assert ours["queue_delay_ms"]["mean"] == pytest.approx(
            theirs["queue_delay_ms"]["mean"], rel=0.3
        )
    for report in (linux, sim):
        groups = {group["name"]: group for group in report["transport"][0]["groups"]}
        assert groups.keys() == {"through", "cross 1", "cross 2", "against"}
        # 2 + 2 * 10 + 2 ms, and what two full queues on the way back add.
        assert 24 < groups["against"]["delay_ms"] < 40
        assert groups["cross 1"]["goodput_mbps"] > groups["through"]["goodput_mbps"] / 2


AGED = """
format = 2
name = "an age"
duration = "10 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "40 ms"
aqm = { algorithm = "fifo", limit = 300 }

[[dumbbell.flows]]
name = "bulk"
count = 2
transport = TRANSPORT
"""


@pytest.mark.usefixtures("kernel")
def test_the_tcp_of_an_age_runs_on_linux_and_says_what_it_could_not_set() -> None:
    text = AGED.replace("TRANSPORT", '{ tcp = "ns2_newreno" }').replace("300", "9000")
    found, _ = outcome(text, 1)
    assert "byte_counting" in found["not_on_linux"]["bulk"]
    # Segments of 1000 bytes, which the receiver announces, a few of them under way at the end.
    for flow in found["flows"]:
        assert flow["delivered_bytes"] % 1000 == 0
        assert 600 < flow["delivered_bytes"] / flow["data_pkts_sent"] <= 1000


@pytest.mark.usefixtures("kernel")
def test_bbr_keeps_a_large_buffer_shorter_than_cubic_does() -> None:
    delays_ms = {
        cc: outcome(AGED.replace("TRANSPORT", f'{{ cc = "{cc}" }}'), 1)[0]["queues"][0]["windows"][
            0
        ]["queue_delay_ms"]["mean"]
        for cc in ("bbr", "vegas", "cubic")
    }
    assert delays_ms["vegas"] < delays_ms["bbr"] < 0.6 * delays_ms["cubic"]


RATED = """
format = 2
name = "a rate that falls"
duration = "30 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "80 ms"
shaper = "htb"
schedule = [{ at = "15 s", rate = "4 Mbit/s" }]
aqm = { algorithm = "NAME" }

[[dumbbell.flows]]
count = 10
transport = { kind = "tcp", cc = "reno" }

[record]
windows = [
    { name = "before", from = "5 s", to = "15 s" },
    { name = "after", from = "18 s", to = "30 s" },
]
"""


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("name", [a.name for a in algorithms().values() if a.needs_rate])
def test_an_algorithm_that_needs_the_links_rate_has_it_on_both_hosts(name: str) -> None:
    """With the first rate only, it would take a full link for one that is half idle. Some swing
    slowly, and one seed says little of the next: Linux lies among the simulator's."""
    text = RATED.replace("NAME", name)
    linux, _ = outcome(text, 1)
    done = [_native.run(json.dumps(loads(text).to_engine()), seed) for seed in range(1, 7)]
    sims = [json.loads(found[0])["queues"][0]["windows"] for found in done if found]
    assert len(sims) == len(done)
    for here, *there in zip(linux["queues"][0]["windows"], *sims, strict=True):
        is_among(here["utilisation_pct"], [w["utilisation_pct"] for w in there], by=8)
        delays = [w["queue_delay_ms"]["mean"] for w in there]
        is_among(here["queue_delay_ms"]["mean"], delays, times=1.5)
        is_among(here["dropped_pkts"], [w["dropped_pkts"] for w in there], times=1.5)


def is_among(one: float, others: list[float], by: float = 0, times: float = 1) -> None:
    assert min(others) / times - by <= one <= max(others) * times + by, (one, others)


def seen_both_ways(
    text: str, monkeypatch: pytest.MonkeyPatch, *, flows_apart: bool = False
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The first window of the first queue of one run: as seen from outside, and as it is logged."""
    both: list[dict[str, Any]] = []

    def planned(scenario: Any, seed: int, known: Any) -> plan.Plan:
        job = plan.plan(scenario, seed, known)
        outside = (replace(tap, ours=False, flows_apart=flows_apart) for tap in job.taps)
        return replace(job, taps=tuple(outside))

    def observed(known: Any, job: plan.Plan, folder: Path, counted: Any) -> Any:
        logging = replace(job, taps=tuple(replace(tap, ours=True) for tap in job.taps))
        for way in (job, logging):
            queues, _ = found = observe(known, way, folder, counted)
            both.append(json.loads(queues)[0]["windows"][0])
        return found

    observe = host._observe
    monkeypatch.setattr(host, "plan", planned)
    monkeypatch.setattr(host, "_observe", observed)
    outcome(text, 1)
    outside, inside = both
    return outside, inside


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("shaper", ["htb", "tbf", "wire"])
@pytest.mark.parametrize(("algorithm", "header"), [("codel", 14), ("pie", 14), ("pie", 60)])
def test_what_a_queue_logs_is_what_is_seen_around_it(
    shaper: str, algorithm: str, header: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One run, observed both ways."""
    text = SCENARIO.replace('"codel"', f'"{algorithm}"')
    keys = f'rtt = "40 ms"\nshaper = "{shaper}"\nburst = "3200 B"\nheader = "{header} B"'
    text = text.replace('rtt = "40 ms"', keys)
    outside, inside = seen_both_ways(text, monkeypatch)
    assert inside["dropped_pkts"] > 5
    assert inside["marked_pkts"] > 5
    counts = ("arrived_pkts", "departed_pkts", "dropped_pkts", "marked_pkts", "drops", "marks")
    assert {key: inside[key] for key in counts} == {key: outside[key] for key in counts}
    # The clock is read again, and again it takes 256 ns, between the queue and its observer.
    for delay in ("queue_delay_ms", "system_delay_ms"):
        assert inside[delay]["mean"] == pytest.approx(outside[delay]["mean"], abs=0.003)
    assert inside["utilisation_pct"] == pytest.approx(outside["utilisation_pct"], abs=0.05)


CROWDED = """
format = 2
name = "many flows that lose the last packet that they have in the queue"
duration = "8 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "20 ms"
shaper = "htb"
aqm = "fq_codel"

[[dumbbell.flows]]
count = 75

[record]
windows = [{ name = "late", from = "3 s", to = "7 s" }]
"""


@pytest.mark.usefixtures("kernel")
def test_a_queue_of_flows_is_as_long_from_outside_as_it_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One run of our queue, by its log and as those of the kernel's own are seen: a packet that its
    flow loses last is gone when the queue counts it."""
    outside, inside = seen_both_ways(CROWDED, monkeypatch, flows_apart=True)
    assert inside["dropped_pkts"] > 1_000
    assert outside["dropped_pkts"] == pytest.approx(inside["dropped_pkts"], abs=20)
    mean_pkts = outside["queue_pkts"]["mean"]
    assert mean_pkts == pytest.approx(inside["queue_pkts"]["mean"], rel=0.02)


@pytest.mark.usefixtures("kernel")
def test_a_report_has_the_keys_of_the_page_of_columns() -> None:
    report, _ = outcome(SCENARIO, 1)
    mine = {column.name for column in columns.RUN if "linux" in column.hosts and column.of_all}
    labels = {column.name for column in columns.LABELS}
    assert report.keys() == mine - labels - {"cpu_s"}
    # This queue has neither probes nor flows; its algorithms are named when a result is written.
    absent = {"aqm", "tested", "probes", "flows"}
    assert report["queues"][0].keys() == {column.name for column in columns.QUEUE} - absent
    done = _native.run(json.dumps(loads(SCENARIO).to_engine()), 1)
    assert done
    sim = json.loads(done[0])
    for table in ("flows", "transport"):
        assert report[table][0].keys() == sim[table][0].keys()
    assert report["transport"][0]["groups"][0].keys() == sim["transport"][0]["groups"][0].keys()


PROBED = """
format = 2
name = "a queue that probes"
duration = "6 s"

[dumbbell]
rate = "20 Mbit/s"
rtt = "40 ms"
aqm = "asqm"
KEYS

[[dumbbell.flows]]
count = 2
"""


def of_both(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Reports of Linux and of the simulator."""
    done = _native.run(json.dumps(loads(text).to_engine()), 1)
    assert done
    return outcome(text, 1)[0], json.loads(done[0])


def balances(probes: dict[str, int]) -> None:
    """Compare the counters with docs/reference/qdisc.md, "Counters of probes"."""
    joined = probes["joined_pkts"] + probes["refused_pkts"]
    answered = probes["answered_pkts"] + probes["unheard_pkts"] + probes["forgotten_pkts"]
    assert 0 <= probes["joined_pkts"] - probes["left_pkts"] - probes["freed_pkts"] < 100
    assert 0 < probes["ready_pkts"] <= joined
    assert 0 <= joined - answered < 100
    assert probes["strayed_pkts"] == 0
    assert 0 <= probes["asked_pkts"] - joined - probes["unmade_pkts"] < 100
    # All that joined later than they were asked for have waited.
    assert (probes["waited_ns"] > 0) == (joined > probes["ready_pkts"])


DIVIDED = """
format = 2
name = "a queue with flows"
duration = "6 s"

[dumbbell]
rate = "20 Mbit/s"
rtt = "40 ms"
aqm = "fq_codel"

[[dumbbell.flows]]
count = 4

[[dumbbell.flows]]
name = "voice"
transport = "udp"
app = { kind = "cbr", rate = "64 kbit/s" }
"""


@pytest.mark.usefixtures("kernel")
def test_flows_of_a_queue_are_counted_on_both_hosts() -> None:
    linux, sim = (report["queues"][0] for report in of_both(DIVIDED))
    assert linux["flows"].keys() == sim["flows"].keys()
    for queue in (linux, sim):
        [window], flows = queue["windows"], queue["flows"]
        assert flows["delay_peak_ms"] == pytest.approx(window["queue_delay_ms"]["max"], rel=0.01)
        assert 0 < flows["delay_sparse_ms"] < flows["delay_mean_ms"] < flows["delay_peak_ms"]
        assert flows["new_flow_count"] > 40
        assert flows["collisions"] == 0


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize(
    ("shaper", "probe", "header"),
    [("wire", "experimental", 38), ("htb", "echo", 14), ("tbf", "echo", 38)],
)
def test_probes_are_counted_apart_on_both_hosts(shaper: str, probe: str, header: int) -> None:
    keys = f'shaper = "{shaper}"\nprobe = "{probe}"\nheader = "{header} B"'
    of_hosts = of_both(PROBED.replace("KEYS", keys))
    for report in of_hosts:
        [queue] = report["queues"]
        [window], probes = queue["windows"], queue["probes"]
        assert probes["left_pkts"] == pytest.approx(window["departed_pkts"] / 4, rel=0.02)
        assert probes["left_bytes"] == probes["left_pkts"] * (28 + header)
        assert probes["answered_pkts"] == pytest.approx(probes["left_pkts"], rel=0.02)
        assert probes["refused_pkts"] == probes.get("unmade_pkts", 0) == 0
        # Little's law holds of users' packets alone; those that still wait make the difference.
        pkts = window["departed_pkts"] / 6 * window["queue_delay_ms"]["mean"] / 1000
        assert window["queue_pkts"]["mean"] == pytest.approx(pkts, rel=0.04)
    of_linux = of_hosts[0]["queues"][0]["probes"]
    assert [name.removesuffix("_pkts") for name in of_linux] == list(PROBE_NAMES)
    balances(of_linux)
    linux, sim = (report["queues"][0]["windows"][0] for report in of_hosts)
    assert linux["utilisation_pct"] == pytest.approx(sim["utilisation_pct"], abs=3)
    # The probes in front of a packet have taken their tokens.
    sending = [w["system_delay_ms"]["mean"] - w["queue_delay_ms"]["mean"] for w in (linux, sim)]
    assert sending[0] == pytest.approx(sending[1], abs=0.03)


ABOVE = """
format = 2
name = "asqm above fq"
duration = "10 s"
nodes = ["sender", "home", "modem", "receiver"]

[[links]]
name = "access"
from = "home"
to = "modem"
rate = "10 Mbit/s"
queue = "asqm"
responder = "receiver"

[[links]]
name = "below"
from = "modem"
to = "receiver"
rate = "5 Mbit/s"
delay = "5 ms"
queue = { algorithm = "fq_codel", limit = "500 packets", target = "10 s" }

[[cables]]
name = "in"
between = ["sender", "home"]
delay = "5 ms"

[[links]]
name = "back"
from = "receiver"
to = "home"
delay = "5 ms"

[[flows]]
from = "sender"
to = "receiver"

[record]
queues = ["access", "below"]
"""


@pytest.mark.usefixtures("kernel")
def test_in_queues_on_its_way_a_probe_is_a_flow_of_its_own_on_both_hosts() -> None:
    """The law of the queue below never acts; the flow waits there, and the probe does not."""
    for report in of_both(ABOVE):
        access, below = (queue["windows"][0] for queue in report["queues"])
        assert access["dropped_pkts"] == 0
        assert below["queue_delay_ms"]["mean"] > 200
        # Probes are packets there.
        sent = report["queues"][0]["probes"]["left_pkts"]
        assert below["arrived_pkts"] == pytest.approx(access["departed_pkts"] + sent, rel=0.01)


FULL = """
format = 2
name = "long headers"
duration = "6 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "10 ms"
aqm = AQM
header = "200 B"

[[dumbbell.flows]]
app = { kind = "cbr", rate = "12 Mbit/s", payload = "1000 B" }
transport = "udp"

[record]
windows = [{ name = "late", from = "2 s", to = "6 s" }]
"""


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("shaper", ["htb", "tbf", "wire"])
@pytest.mark.parametrize("aqm", ["fifo", "kernel:pfifo"])
@pytest.mark.parametrize(
    ("frame", "counted"),
    # 1,000 bytes of data, 28 of IP and UDP, and the header; 26 cells of 53 bytes.
    [("", 1_228), ('mpu = "1400 B"', 1_400), ('linklayer = "atm"', 1_378)],
)
def test_a_frame_takes_its_part_of_the_rate_on_both_hosts(
    shaper: str, aqm: str, frame: str, counted: int
) -> None:
    text = FULL.replace("AQM", f'"{aqm}"\nshaper = "{shaper}"\n{frame}')
    reports = [outcome(text, 1)[0]]
    if aqm == "fifo":
        done = _native.run(json.dumps(loads(text).to_engine()), 1)
        assert done
        reports.append(json.loads(done[0]))
    for report in reports:
        [window] = report["queues"][0]["windows"]
        assert window["utilisation_pct"] == pytest.approx(100, abs=0.3)
        assert report["goodput_mbps"] == pytest.approx(10 * 1_000 / counted, rel=0.003)


HOSTS = """
format = 2
name = "two users of one host beside one of another"
duration = "4 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "10 ms"
aqm = "kernel:cake"
senders = [{ name = "one" }, { name = "other" }]
receivers = [{ name = "there" }, { name = "elsewhere" }]

[[dumbbell.flows]]
name = "first"
from = "one"
to = "there"
transport = "udp"
app = { kind = "cbr", rate = "8 Mbit/s", payload = "1000 B" }

[[dumbbell.flows]]
name = "second"
from = "one"
to = "there"
transport = "udp"
app = { kind = "cbr", rate = "8 Mbit/s", payload = "1000 B" }

[[dumbbell.flows]]
name = "alone"
from = "other"
to = "elsewhere"
transport = "udp"
app = { kind = "cbr", rate = "8 Mbit/s", payload = "1000 B" }

[record]
windows = [{ name = "late", from = "2 s", to = "4 s" }]
"""


@pytest.mark.usefixtures("kernel")
def test_the_groups_of_a_node_have_one_hosts_part_of_cake() -> None:
    report, _ = outcome(HOSTS, 1)
    groups = report["transport"][0]["groups"]
    shares = [group["goodput_mbps"] / report["goodput_mbps"] for group in groups]
    assert shares == pytest.approx([0.25, 0.25, 0.5], abs=0.03)


TINY = """
format = 2
name = "datagrams that are shorter than their number in full"
duration = "10 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "40 ms"
aqm = "fifo"

[[dumbbell.flows]]
name = "tiny"
app = { kind = "cbr", rate = "3200 bit/s", payload = "4 B" }
transport = "udp"
sim = { send_jitter = "0 s" }
"""


@pytest.mark.usefixtures("kernel")
def test_the_least_datagrams_have_the_delay_of_the_path() -> None:
    linux, _ = outcome(TINY, 1)
    done = _native.run(json.dumps(loads(TINY).to_engine()), 1)
    assert done
    here, there = (report["transport"][0]["groups"][0] for report in (linux, json.loads(done[0])))
    assert there["data_pkts_sent"] > 900
    assert here["delay_ms"] == pytest.approx(there["delay_ms"], abs=0.1)


LOST_EARLY = """
format = 2
name = "lost early"
duration = "5 s"

[dumbbell]
rate = "100 kbit/s"
rtt = "20 ms"
aqm = { algorithm = "fifo", limit = 50 }
schedule = [{ at = "2 s", rate = "10 Mbit/s" }]

[[dumbbell.flows]]
name = "even"
transport = "udp"
app = { kind = "cbr", rate = "400 kbit/s", payload = "200 B" }

[[dumbbell.flows]]
name = "drawn"
transport = "udp"
app = { kind = "poisson", rate = "200 kbit/s", payload = "200 B" }
"""


@pytest.mark.usefixtures("kernel")
def test_losses_are_all_counted_where_delays_were_longer_before() -> None:
    """A datagram that was sent a moment ago and has arrived makes up for no loss."""
    linux, _ = outcome(LOST_EARLY, 1)
    done = _native.run(json.dumps(loads(LOST_EARLY).to_engine()), 1)
    assert done
    for report in (json.loads(done[0]), linux):
        dropped = sum(report["queues"][0]["windows"][0]["drops"].values())
        lost = [group["lost_pkts"] for group in report["transport"][0]["groups"]]
        assert dropped > 200
        assert sum(lost) == dropped
        assert min(lost) > 50


@pytest.mark.usefixtures("kernel")
def test_a_trace_in_bins_is_the_same_link_on_both_hosts(tmp_path: Path) -> None:
    times = [ms for ms in range(1_000) if ms % 500 < 250 or ms % 3 == 0]
    text = SCENARIO.replace('rate = "10 Mbit/s"', f"trace = {times}", 1)
    result = run_scenario(loads(text), hosts=["sim", "linux"], out=tmp_path, workers=2)
    whole, here, there = (run.report["queues"][0]["windows"][0] for run in result)
    assert [run.labels["host"] for run in result] == ["sim", "sim, binned", "linux, binned"]
    assert here["utilisation_pct"] == pytest.approx(there["utilisation_pct"], abs=3)
    assert here["queue_delay_ms"]["mean"] == pytest.approx(
        there["queue_delay_ms"]["mean"], rel=0.25
    )
    assert here["queue_delay_ms"]["mean"] != whole["queue_delay_ms"]["mean"]


@pytest.mark.usefixtures("kernel")
def test_a_lower_queue_keeps_its_algorithm_on_both_hosts() -> None:
    result = run_scenario(loads(TWO_STAGES), aqms=["fifo", "red"], hosts=["sim", "linux"])
    rows = {(r["host"], r["queue"], r["aqm"], r["tested"]) for r in result.windows().to_pylist()}
    assert rows == {
        (host, queue, aqm if queue == "lan" else "codel", aqm)
        for host in ("sim", "linux")
        for queue in ("lan", "wan")
        for aqm in ("fifo", "red")
    }


@pytest.mark.usefixtures("kernel")
def test_reasons_are_those_that_the_queue_gave() -> None:
    text = SCENARIO.replace("ecn = true }\n", "ecn = true, limit = 20 }\n", 1)
    window = outcome(text.replace("6 s", "3 s").replace('stop = "5 s"', ""), 1)[0]["queues"][0]
    assert window["windows"][0]["drops"].keys() == {"delay", "limit"}
    assert window["bad_verdicts"] == {}


@pytest.mark.usefixtures("kernel")
def test_one_seed_gives_the_same_bytes_and_another_does_not() -> None:
    text = SCENARIO.replace("6 s", "2 s").replace('stop = "5 s"', "")
    first, again, other = (outcome(text, seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.usefixtures("kernel")
def test_a_qdisc_of_the_kernels_own_runs_beside_ours(tmp_path: Path) -> None:
    text = SCENARIO.replace("6 s", "3 s").replace('stop = "5 s"', "")
    result = run_scenario(
        loads(text), aqms=["codel", "kernel:codel"], hosts=["linux"], out=tmp_path, workers=2
    )
    ours, stock = (run.report["queues"][0]["windows"][0] for run in result)
    assert ours["queue_delay_ms"]["mean"] == pytest.approx(
        stock["queue_delay_ms"]["mean"], rel=0.25
    )
    assert [run.labels["host"] for run in result] == ["linux", "linux"]


@pytest.mark.usefixtures("kernel")
def test_a_file_of_ones_own_runs_in_a_module_of_its_own(tmp_path: Path) -> None:
    """Under another name, and under the name of ours, in the place of which it then stands."""
    (ours,) = (Path(__file__).parents[2] / "aqm").glob("**/codel.c")
    for name in ("codel", "mine"):
        text = ours.read_text().replace(".brief =", f'.brief = "{name}", .source = "here", //', 1)
        text = text.replace("aqm_codel = {", f"aqm_{name} = {{").replace('"codel"', f'"{name}"')
        text = text.replace('.source = "RFC 8289",', "")
        (tmp_path / f"{name}.c").write_text(text)
    scenario = loads(SCENARIO.replace("6 s", "2 s").replace('stop = "5 s"', ""))
    aqms = ["codel", str(tmp_path / "codel.c"), str(tmp_path / "mine.c")]
    result = run_scenario(scenario, aqms=aqms, hosts=["linux"], workers=1)
    assert [run.labels["aqm"] for run in result][2] == "mine"
    assert len({run.report["fingerprint"] for run in result}) == 1
    assert len({run.entry.key for run in result}) == 3


# Few flows: the two queues read the clock some hundred nanoseconds apart, and with hundreds of
# signals one falls on the other side of a departure, after which everything differs.
SLOW_STARTS = """
format = 2
name = "three slow starts"
duration = "6 s"
[dumbbell]
rate = "10 Mbit/s"
rtt = "20 ms"
aqm = {{ algorithm = "codel", limit = 1000, ecn = {ecn} }}
[[dumbbell.flows]]
name = "bulk"
count = 3
transport = {{ kind = "tcp", ecn = {ecn} }}
"""


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("ecn", [False, True])
def test_codel_in_linux_s_form_decides_packet_by_packet_as_the_kernel_s_own(ecn: bool) -> None:
    """Round trips alone may differ, by the nanoseconds that a reading of the clock takes."""
    text = SLOW_STARTS.format(ecn=str(ecn).lower())
    aqms = ["codel:form=linux", "kernel:codel", "codel"]
    found = run_scenario(loads(text), aqms=aqms, hosts=["linux"], workers=2)
    form, kernel, ours = (run.report for run in found)
    seen = [[flow | {"srtt_ms": None} for flow in report["flows"]] for report in (form, kernel)]
    assert seen[0] == seen[1]
    keys = ("arrived_pkts", "departed_pkts", "dropped_pkts", "marked_pkts")
    counts = [
        {key: report["queues"][0]["windows"][0][key] for key in keys}
        for report in (form, kernel, ours)
    ]
    assert counts[0] == counts[1]
    assert counts[0]["dropped_pkts"] + counts[0]["marked_pkts"] > 50
    assert counts[0] != counts[2], "both forms do the same: nothing was shown"


# Overwrites the code of process 1, which the kernel cannot do without.
PANIC = """\
for line in open("/proc/1/maps"):
    first, last = (int(word, 16) for word in line.split()[0].split("-"))
    if " r-xp " in line and last < 1 << 47:
        with open("/proc/1/mem", "r+b", buffering=0) as memory:
            memory.seek(first)
            memory.write(bytes(last - first))
"""


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("while :; do :; done", "no end after 3 s"),
        (f"/usr/bin/python3 -S - <<E\n{PANIC}E", "Kernel panic - not syncing: .* kill init"),
        ("echo the last word; exit 3", "the last word"),
    ],
)
def test_a_guest_that_hangs_or_fails_is_ended_and_heard(
    kernel: Built, tmp_path: Path, command: str, sentence: str
) -> None:
    job = tmp_path / "job"
    job.write_text(f"#!/bin/sh\n{command}\n")
    job.chmod(0o755)
    with pytest.raises(BootError, match=sentence):
        boot(kernel, tmp_path, limit_s=3)


FARTHER = """
format = 2
name = "a way that is longer for a while"
duration = "3 s"
[dumbbell]
rate = "10 Mbit/s"
rtt = "20 ms"
aqm = "fifo"
rtts = [{ at = "1 s", rtt = "60 ms" }, { at = "2 s", rtt = "4 ms" }]
[[dumbbell.flows]]
name = "datagrams"
transport = "udp"
app = { kind = "cbr", rate = "800 kbit/s", payload = "1000 B" }
start_spread = "0 s"
sim = { send_jitter = "0 s" }
[record]
windows = [
    { name = "near", from = "500 ms", to = "900 ms" },
    { name = "far", from = "1500 ms", to = "1900 ms" },
    { name = "next door", from = "2500 ms", to = "2900 ms" },
]
"""


@pytest.mark.usefixtures("kernel")
def test_a_round_trip_changes_while_the_run_goes_on() -> None:
    """Half of it each way; a packet takes 0.834 ms to send."""
    found = run_scenario(loads(FARTHER), hosts=["sim", "linux"], workers=2)
    for one in found:
        delays = [window["groups"][0]["delay_ms"] for window in one.report["transport"]]
        assert delays == pytest.approx([10.834, 30.834, 2.834], abs=0.1), one.labels["host"]
        steps = one.report["queues"][0]["steps"]
        assert [[c["delay_ms"] for c in step["changes"]] for step in steps] == [[30, 30], [2, 2]]


# 1,042 bytes each 10 ms take 8.336 ms at 1 Mbit/s, and 16.672 ms at half of it.
FILLS = """
format = 2
name = "a queue that fills and empties"
duration = "3 s"
[dumbbell]
rate = "1 Mbit/s"
rtt = "20 ms"
aqm = "fifo"
schedule = [{ at = "1 s", rate = "500 kbit/s" }, { at = "2 s", rate = "1 Mbit/s" }]
[[dumbbell.flows]]
name = "datagrams"
transport = "udp"
app = { kind = "cbr", rate = "800 kbit/s", payload = "1000 B" }
start_spread = "0 s"
"""


@pytest.mark.usefixtures("kernel")
def test_a_queue_responds_to_a_change_as_in_the_simulator() -> None:
    """Each packet waits 6.672 ms longer than the one before it while the link is slow. Where in
    its 10 ms the change comes is another matter on Linux, of two packets at most."""
    found = run_scenario(loads(FILLS), hosts=["sim", "linux"], workers=2)
    there, here = (run.report["queues"][0]["steps"] for run in found)
    assert [step["changes"] for step in here] == [step["changes"] for step in there]
    for step, peak_ms in zip(here, (393.648, 400.32), strict=True):
        assert step["peak_delay_ms"] == pytest.approx(peak_ms, abs=2 * 6.672)
    for of_sim, of_linux in zip(there, here, strict=True):
        assert of_linux["later_delay_ms"] == pytest.approx(of_sim["later_delay_ms"], abs=2 * 6.672)
        for key in ("settling_s", "utilised_s"):
            assert of_linux[key] == pytest.approx(of_sim[key], abs=0.1)
