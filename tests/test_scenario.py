# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Scenarios: read, checked, written back, and every mistake named where it stands."""

from __future__ import annotations

import json
import pickle
import time
import tomllib
from pathlib import Path

import jsonschema
import pytest
from pydantic import ValidationError
from sojourn import _native, algorithms
from sojourn.bench.command import FOLDER
from sojourn.core.errors import InputError, nearest
from sojourn.papers.experiment import ROOT
from sojourn.runs.run import cases_of
from sojourn.scenario import (
    Bulk,
    Dumbbell,
    Duration,
    Even,
    Flow,
    Jitter,
    Link,
    Poisson,
    Queue,
    Rate,
    Record,
    Respawn,
    Scenario,
    Share,
    Size,
    Step,
    Tcp,
    Traffic,
    Window,
    flows,
    links,
    load,
    loads,
    queues,
    reference,
)
from sojourn.scenario.changes import assign, use_algorithm
from sojourn.scenario.toml import placed, placed_variant
from sojourn.scenario.variant import read_assignment

from tests.conftest import SMALL

SHIPPED = sorted(ROOT.glob("*/**/scenario.toml")) + sorted(FOLDER.glob("*.toml"))

GRAPH = """\
format = 2
name = "graph"
duration = "10 s"
nodes = ["a", "r", "b"]

[[links]]
name = "up"
from = "a"
to = "r"

[[links]]
name = "down"
from = "r"
to = "b"
rate = "10 Mbit/s"
schedule = [
    { at = "2 s", rate = "5 Mbit/s" },
    { at = "4 s", rate = "10 Mbit/s" },
]
queue = { algorithm = "codel", target = "5 ms", limit = 500 }

[[links]]
name = "back"
from = "b"
to = "a"
delay = "10 ms"

[[flows]]
name = "bulk"
from = "a"
to = "b"
path = ["up", "down"]
transport = { kind = "tcp", cc = "cubic" }

[record]
queues = ["down"]
windows = [{ name = "late", from = "5 s", to = "10 s" }]
"""


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.parent.name)
def test_a_shipped_scenario_is_valid_and_round_trips(path: Path) -> None:
    scenario = load(path)
    assert loads(scenario.to_toml()) == scenario
    graph = scenario.expand()
    assert loads(graph.to_toml()) == graph
    assert graph.to_engine() == scenario.to_engine()


@pytest.mark.parametrize("text", [SMALL, GRAPH])
def test_a_scenario_round_trips(text: str) -> None:
    assert loads(loads(text).to_toml()) == loads(text)


SEVERAL = """\
format = 2
name = "several"
duraton = "10 s"

[dumbbell]
rate = "20 Mbps"
rtt = 5
aqm = "coddel"

[record]
events = 1
"""


def test_all_mistakes_of_a_file_are_named_at_once_in_its_order() -> None:
    with pytest.raises(InputError) as caught:
        loads(SEVERAL)
    lines = str(caught.value).splitlines()
    begins = [
        "<text>:3: duraton: unknown key (its value: '10 s'). Did you mean 'duration'?",
        "<text>:6: dumbbell.rate: '20 Mbps': ",
        "<text>:7: dumbbell.rtt: ",
        "<text>:8: dumbbell.aqm.algorithm: unknown algorithm 'coddel'. Did you mean 'codel'?",
        "<text>:11: record.events: 1 is not true or false",
    ]
    assert [line[: len(begin)] for line, begin in zip(lines, begins, strict=True)] == begins


@pytest.mark.parametrize("window", ["", 'windows = [{ name = "all", from = "0 s", to = "1 s" }]'])
def test_a_run_of_no_time_is_one_mistake(window: str) -> None:
    """The window of the whole run, which no file has, is none, and no other would fit."""
    with pytest.raises(InputError) as caught:
        loads(SMALL.replace("2 s", "0 s") + f"[record]\n{window}")
    assert str(caught.value) == "<text>:3: duration: a run of no time; allowed: more than 0 s"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"nodes": []}, "nodes: no nodes; the links name ['a', 'r', 'b']"),
        ({"links": []}, "links: no links; each leads from one of the nodes to another"),
        ({"nodes": [], "links": []}, "nodes: no network: give nodes, links and flows, or a"),
    ],
)
def test_a_graph_without_nodes_or_links_is_one_mistake(
    changes: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        cases_of(loads(GRAPH), [], changes)
    assert "\n" not in str(caught.value) and said in str(caught.value)


def test_parts_made_in_python_get_the_sentences_of_a_file() -> None:
    with pytest.raises(InputError) as caught:
        Scenario(nam="x", duration=5)  # type: ignore[call-arg]
    assert str(caught.value).split("\n") == [
        "Scenario: duration: 5 has no unit; write it as '5 s' or '5 ms'",
        "Scenario: nam: unknown key (its value: 'x'). Did you mean 'name'?",
    ]
    with pytest.raises(InputError, match=r"^Dumbbell: rtt: is missing$"):
        Dumbbell(rate="1 Mbit/s")  # type: ignore[call-arg]
    with pytest.raises(InputError, match=r"^Scenario: its values have names: give each as KEY="):
        Scenario("x")  # type: ignore[call-arg]
    small = loads(SMALL)
    with pytest.raises(InputError, match=r"^Scenario: dumbbell\.rtt: 3 has no unit"):
        small.replace(lambda data: data["dumbbell"].update(rtt=3))
    with pytest.raises(InputError, match=r"^Scenario\.replace: change: 3 is no function$"):
        small.replace(3)  # type: ignore[arg-type]


def test_parts_that_do_not_fit_are_named_at_once_by_either_side() -> None:
    """What this package finds first, and what the engine finds where nothing else is wrong."""
    apart = GRAPH.replace('to = "b"', 'to = "c"').replace('queues = ["down"]', 'queues = ["dwn"]')
    with pytest.raises(InputError) as caught:
        loads(apart)
    keys = [line.split(": ")[1] for line in str(caught.value).splitlines()]
    assert keys == ["links[1].to", "flows[0].to", "record.queues[0]"]
    slow = GRAPH.replace('delay = "10 ms"', 'delay = "34560000 s"')
    with pytest.raises(InputError) as caught:
        loads(slow.replace("schedule =", 'shaper = "tbf"\nburst = "9 B"\nschedule ='))
    assert [line.split(": ")[1] for line in str(caught.value).splitlines()] == [
        "links[1].burst",
        "links[2].delay",
    ]


def test_more_mistakes_than_a_screen_holds_are_cut() -> None:
    nodes = ", ".join('"a"' for _ in range(1000))
    with pytest.raises(InputError) as caught:
        loads(GRAPH.replace('["a", "r", "b"]', f"[{nodes}]"))
    lines = str(caught.value).splitlines()
    assert len(lines) == 21
    assert lines[-1] == "<text>: and more; these come first"


TIMES = """\
format = 2
name = "times"
duration = "10 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "20 ms"

[[dumbbell.flows]]
count = 5
START
RTT
"""
FORMS = (
    '"2 s"',
    '["20 ms", "30 ms"]',
    '{ distribution = "even", from = "20 ms", to = "2 s" }',
    '{ distribution = "uniform", from = "20 ms", to = "2 s" }',
    '{ distribution = "normal", mean = "200 ms", sd = "50 ms" }',
    '{ distribution = "exponential", mean = "200 ms" }',
)


@pytest.mark.parametrize("form", FORMS)
def test_times_by_flow_are_read_written_and_run(form: str) -> None:
    text = TIMES.replace("START", f"start = {form}").replace("RTT", f"rtt = {form}")
    scenario = loads(text)
    assert loads(scenario.to_toml()) == scenario
    assert loads(scenario.expand().to_toml()).to_engine() == scenario.to_engine()
    jsonschema.validate(tomllib.loads(text), json.loads(reference.schema_text()))
    [(_, _, starts, added)] = _native.Scenario(json.dumps(scenario.to_engine())).ways(1)
    assert len(starts) == len(added) == 5
    assert all(ns >= 0 for ns in added)


def test_times_by_flow_in_python_are_those_of_a_file() -> None:
    text = TIMES.replace("START", 'start = { distribution = "poisson", gap = "1 s" }')
    file = loads(text.replace("RTT", 'rtt = "90 ms"').replace("count = 5", 'name = "a"'))
    flow = Traffic(name="a", start=Poisson(gap=Duration("1 s")), rtt=Duration("90 ms"))
    assert file.dumbbell
    changed = Dumbbell(**{**dict(file.dumbbell), "flows": (flow,)})
    assert file.model_copy(update={"dumbbell": changed}).to_engine() == file.to_engine()
    spread = Traffic(start=Even(from_=Duration(0), to=Duration("1 s")))
    assert spread.model_dump(mode="json", by_alias=True)["start"]["from"] == "0 s"


def test_python_objects_round_trip() -> None:
    scenario = Scenario(
        name="objects",
        duration=Duration("10 s"),
        nodes=("a", "b"),
        links=(
            Link(
                name="forth",
                from_="a",
                to="b",
                rate=Rate("10 Mbit/s"),
                schedule=(Step(at=Duration("5 s"), rate=Rate("5 Mbit/s")),),
                shaper="tbf",
                burst=Size("3 kB"),
                delay=Duration("10 ms"),
                jitter=Jitter(sd=Duration("1 ms")),
                loss=Share(0.001),
                queue=Queue(algorithm="codel", rows={"target": 7_000_000, "ecn": 1}),
            ),
            Link(name="back", from_="b", to="a"),
        ),
        flows=(
            Flow(name="short", from_="a", to="b", app=Respawn(size=Size("250 kB"))),
            Flow(name="long", from_="a", to="b", app=Bulk(), transport=Tcp(ecn=True), count=3),
        ),
        record=Record(
            queues=("forth",),
            windows=(Window(name="w", from_=Duration("1 s"), to=Duration("9 s")),),
        ),
    )
    assert loads(scenario.to_toml()) == scenario


def test_the_engine_gets_base_units() -> None:
    engine = loads(GRAPH).to_engine()
    down = engine["links"][1]
    assert down["rate"] == 10_000_000
    assert down["schedule"][0] == {"at": 2_000_000_000, "rate": 5_000_000}
    assert down["queue"] == {"algorithm": "codel", "target": 5_000_000, "limit": 500}
    assert engine["record"]["windows"] == [
        {"name": "late", "from": 5_000_000_000, "to": 10_000_000_000}
    ]


def test_the_kind_of_probe_is_a_key_of_links_and_of_a_dumbbell() -> None:
    graph = loads(GRAPH.replace("queue = {", 'probe = "experimental"\nqueue = {'))
    assert [link.probe for link in graph.links] == ["echo", "experimental", "echo"]
    probes = [link["probe"] for link in graph.to_engine()["links"]]
    assert probes == ["echo", "experimental", "echo"]
    assert loads(graph.to_toml()) == graph
    small = loads(SMALL.replace("[dumbbell]", '[dumbbell]\nprobe = "experimental"'))
    kinds = {link.name: link.probe for link in small.expand().links}
    assert kinds.pop("bottleneck") == "experimental"
    assert set(kinds.values()) == {"echo"}


MISTAKES = {
    "a probe": (
        "rate =",
        'probe = "ping"\nrate =',
        r":15: links\[1\].probe: 'ping' is not a choice",
    ),
    "a key": ("duration =", "durration =", r":3: durration: unknown key.*'duration'"),
    "an aqm": ('"codel"', '"coddel"', r"queue.algorithm: unknown algorithm 'coddel'.*'codel'"),
    "a parameter": ("target", "taget", r"queue.taget: 'codel' has no such parameter.*'target'"),
    "a unit": ('"5 ms"', '"5 mss"', r"queue.target: '5 mss': unknown unit 'mss'.*'ms'"),
    "a range": ('"5 ms"', '"5 h"', r"queue.target: '5 h' is out of range; allowed: .* to "),
    "a rate in bps": ('"10 Mbit/s"', '"10 Mbps"', r":15: links\[1\].rate: .*tc reads"),
    "a rate of zero": ('"10 Mbit/s"', '"0 Mbit/s"', r"links\[1\].rate: '0 Mbit/s': a rate of zero"),
    "a schedule": ('at = "4 s"', 'at = "1 s"', r":18: .*schedule\[1\].at: '1 s' is not later"),
    "a node": ('to = "b"', 'to = "bb"', r"links\[1\].to: there is no node 'bb'. Valid.*: a, b, r"),
    "a path": (
        '"up", "down"',
        '"up", "dwn"',
        r"flows\[0\].path\[1\]: there is no link 'dwn'.*'down'",
    ),
    "a broken path": ('"up", "down"', '"down"', r"path\[0\]: 'down' begins at 'r', not at 'a'"),
    "a window": ('to = "10 s"', 'to = "11 s"', r"windows\[0\].to: '11 s' is after the end.*'10 s'"),
    "a recorded queue": (
        'queues = ["down"',
        'queues = ["up"',
        r"queues\[0\]: there is no link 'up'",
    ),
    "a control": ('"cubic"', '"cubci"', r"transport.cc: .*'cubic'"),
    "an option": (
        '"cubic"',
        '"cubic", options = { sakc = true }',
        r"options.sakc: TCP has no.*'sack'",
    ),
    "a kind": (
        'kind = "tcp"',
        'kind = "tpc"',
        r"flows\[0\].transport: 'tpc' is not a choice.*'tcp'",
    ),
    "a format": ("format = 2", "format = 3", r"g.toml:1: format = 3 is not known; write 2"),
    "an old format": ("format = 2", "format = 1", r"g.toml:1: format = 1 is no longer read; write"),
    "a name twice": ('name = "back"', 'name = "up"', r"links\[2\].name: 'up' is there twice"),
    "no way": ('path = ["up", "down"]', 'reverse_path = ["up"]', r"reverse_path\[0\]: 'up' begins"),
    "a bad line": ("nodes = [", "nodes = ", r"g.toml:4:\d+: not TOML"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_with_its_place_and_the_nearest_name(name: str, tmp_path: Path) -> None:
    right, wrong, sentence = MISTAKES[name]
    assert right in GRAPH
    path = tmp_path / "g.toml"
    path.write_text(GRAPH.replace(right, wrong, 1))
    with pytest.raises(InputError, match=sentence) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))


def test_every_row_of_the_core_refuses_what_is_outside_its_range() -> None:
    for algorithm in algorithms.algorithms().values():
        for row in algorithms.rows_of(algorithm.name).values():
            for number in (row.min, row.default, row.max):
                assert row.read(row.write(number)) == number, (algorithm.name, row.name, number)
            with pytest.raises(ValueError, match=r"allowed|not a|true or false|number|unit"):
                row.read(row.max + 1 if row.unit in ("count", "pkts", "log2") else object())


def test_a_change_from_outside_reaches_its_key() -> None:
    data = tomllib.loads(GRAPH)
    for text in (
        "duration=20s",
        "links.down.rate=1 Mbit/s",
        "flows.bulk.transport.ecn=true",
        "target=9ms",
        "queue.ecn=true",
    ):
        assign(data, *read_assignment(text))
    engine = Scenario.model_validate(data).to_engine()
    assert engine["duration"] == 20_000_000_000
    assert engine["links"][1]["rate"] == 1_000_000
    assert engine["flows"][0]["transport"]["ecn"] is True
    assign(data, *read_assignment("flows.bulk.transport.cc=dctcp"))
    assign(data, *read_assignment("flows.bulk.transport.ecn=ect1"))
    changed = Scenario.model_validate(data)
    assert changed.to_engine()["flows"][0]["transport"]["ecn"] == "ect1"
    assert loads(changed.to_toml()) == changed
    queue = {"algorithm": "codel", "target": 9_000_000, "limit": 500, "ecn": 1}
    assert engine["links"][1]["queue"] == queue
    assign(data, "one_host", True)
    assert Scenario.model_validate(data).one_host


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("duraton=1 s", "no such key.*'duration'"),
        ("links.dwn.rate=1 Mbit/s", "there is no 'dwn'.*'down'"),
        ("rate", "write it as key=value"),
        ("queue=codel", "is a table; set queue.algorithm"),
        ("name.first=1", "nothing to set in .graph"),
    ],
)
def test_a_change_of_what_is_not_there_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        assign(tomllib.loads(GRAPH), *read_assignment(text))


def test_another_algorithm_keeps_the_rows_of_the_queue() -> None:
    data = tomllib.loads(GRAPH)
    use_algorithm(data, "pie")
    assert data["links"][1]["queue"] == {"algorithm": "pie", "limit": 500}


def test_the_page_of_keys_is_fresh_and_says_something_of_each() -> None:
    published = Path(__file__).parent.parent / "docs/reference/keys.md"
    assert published.read_text() == reference.text(), "run: make generate"
    rows = [line.split(" | ") for line in reference.text().splitlines() if line.startswith("| `")]
    assert len(rows) > 80
    assert all(len(row) == 4 and row[1] and row[3].strip(" |") for row in rows)
    rate = next(row for row in rows if row[0] == "| `rtt`")
    assert rate[1] == "a time"


@pytest.mark.parametrize("text", [SMALL, GRAPH, SMALL + 'app = "bulk"\n'])
def test_the_schema_takes_what_the_models_take(text: str) -> None:
    loads(text)
    jsonschema.validate(tomllib.loads(text), json.loads(reference.schema_text()))


def _with_starts(count: int) -> str:
    times = ", ".join(f'"{number % 9000} ms"' for number in range(count))
    return SMALL + f"start = [{times}]\n"


def test_a_list_of_times_is_read_and_written_in_time_that_grows_with_its_length() -> None:
    def cpu_s(count: int) -> float:
        before = time.process_time()
        scenario = loads(_with_starts(count))
        assert loads(scenario.to_toml()) == scenario
        return time.process_time() - before

    cpu_s(1_000)
    # A square would be sixty-four times as much.
    assert cpu_s(40_000) < 20 * min(cpu_s(5_000) for _ in range(2))


UNSOUND = """\
format = 2
name = "unsound"
duration = "2 s"

[dumbbell]
rtt = "10 ms"

[[dumbbell.flows]]
name = "bulk"
stop = "0 s"
transport = { kind = "tcp", cc = "cubc" }

[[dumbbell.flows]]
name = "calls"
app = { kind = "cbr", rate = "64 kbit/s" }

[record]
windows = [{ name = "w", from = "1 s", to = "3 s" }]
"""


def test_a_network_that_cannot_be_laid_hides_no_mistake_of_flows_and_record() -> None:
    with pytest.raises(InputError) as caught:
        loads(UNSOUND)
    assert str(caught.value).splitlines() == [
        "<text>:5: dumbbell.rate: is missing",
        "<text>:10: dumbbell.flows[0].stop: '0 s' is not later than the start, '0 s'",
        "<text>:11: dumbbell.flows[0].transport.cc: there is no 'cubc'. Did you mean 'cubic'?",
        "<text>:13: dumbbell.flows[1].transport: a 'cbr' source sends by 'udp': "
        'write transport = "udp"',
        "<text>:18: record.windows[0].to: '3 s' is after the end; allowed: up to '2 s'; "
        "set record.windows.w.to beside the duration",
    ]


def test_of_thousands_of_names_the_nearest_is_found_and_no_list_is_endless() -> None:
    many = [f"user{number}" for number in range(20_000)]
    assert nearest("user12x", many).startswith(" Did you mean 'user1")
    said = nearest("zebra", many)
    assert said.endswith(" and 19900 more.")
    assert len(said) < 2_000


def test_a_mistake_of_one_thing_hides_none_of_another() -> None:
    changes = {
        'to = "r"': 'to = "x"',
        'path = ["up", "down"]': 'path = ["up", "dwn"]',
        'cc = "cubic"': 'cc = "cubc"',
        'queues = ["down"]': 'queues = ["up"]',
        'to = "10 s" }': 'to = "4 s" }',
    }
    text = GRAPH
    for right, wrong in changes.items():
        assert right in text
        text = text.replace(right, wrong, 1)
    with pytest.raises(InputError) as caught:
        loads(text)
    assert [line.split(": ", 1)[1] for line in str(caught.value).splitlines()] == [
        "links[0].to: there is no node 'x'. Valid names: a, b, r.",
        "flows[0].path[1]: there is no link 'dwn'. Did you mean 'down'?",
        "flows[0].transport.cc: there is no 'cubc'. Did you mean 'cubic'?",
        "record.queues[0]: there is no link 'up' with a rate. Valid names: down.",
        "record.windows[0].to: '4 s' is not later than its beginning, '5 s'",
    ]


@pytest.mark.parametrize(
    ("key", "most", "also"),
    [
        ("header", links.MOST_HEADER, {}),
        ("mpu", links.MOST_MPU, {}),
        ("burst", queues.MOST_BURST, {"shaper": "tbf"}),
    ],
)
def test_the_bounds_of_lengths_are_those_of_the_engine(
    key: str, most: Size, also: dict[str, object]
) -> None:
    data = loads(SMALL).to_data()
    data["dumbbell"] |= {key: str(most), **also}
    form = Scenario.model_validate(data).to_engine()
    assert not _native.check_scenario(json.dumps(form))
    form["links"][1][key] = most + 1
    (fault,) = _native.check_scenario(json.dumps(form))
    assert fault[0] == f"links[1].{key}" and str(int(most) + 1) in fault[1]
    data["dumbbell"][key] = str(Size(most + 1))
    with pytest.raises(ValidationError, match=f"is outside 0 B to {most}"):
        Scenario.model_validate(data)


def test_the_header_of_an_ethernet_has_a_name_wherever_a_header_is_taken() -> None:
    ethernet = {"header": "ethernet"}
    data = loads(SMALL).to_data()
    data["dumbbell"] |= ethernet
    dumbbell = Scenario.model_validate(data)
    assert dumbbell.dumbbell and dumbbell.to_data()["dumbbell"]["header"] == "38 B"
    lot = {"hops": [{"rate": "1 Mbit/s"}], **ethernet}
    parts = {"format": 2, "name": "x", "duration": "1 s"}
    nodes = {"nodes": ["a", "b"], "flows": [{"from": "a", "to": "b"}]}
    cable = {"name": "c", "between": ["a", "b"], "rate": "1 Mbit/s"}
    for scenario, names in (
        (dumbbell, {"bottleneck"}),
        (Scenario.model_validate({**parts, "parking_lot": lot}), {"hop 1"}),
        (
            Scenario.model_validate({**parts, **nodes, "cables": [cable | ethernet]}),
            {"c", "c back"},
        ),
    ):
        for host in ("sim", "linux"):
            links = scenario.to_engine(host)["links"]
            assert {link["name"] for link in links if link["header"] == 38} == names
    data["dumbbell"]["header"] = "etherne"
    with pytest.raises(ValidationError, match="'etherne' is not a number with a unit"):
        Scenario.model_validate(data)


def test_both_directions_of_a_bottleneck_have_a_ring_of_their_own() -> None:
    data = loads(SMALL).to_data()
    data["dumbbell"] |= {
        "sim": {"ring": 128},
        "back": {"rate": "10 Mbit/s", "sim": {"ring": 256}},
    }
    links = Scenario.model_validate(data).to_engine()["links"]
    rings = {link["name"]: link.get("sim", {}).get("ring") for link in links}
    assert (rings["bottleneck"], rings["back"]) == (128, 256)
    data["dumbbell"]["back"]["sim"]["ring"] = -1
    with pytest.raises(ValidationError):
        Scenario.model_validate(data)


@pytest.mark.parametrize("kind", sorted(flows.KINDS))
def test_a_flow_of_each_kind_goes_to_another_process(kind: str) -> None:
    app = flows.KINDS[kind].model_construct(kind=kind)
    assert pickle.loads(pickle.dumps(app)) == app
    assert pickle.loads(pickle.dumps(loads(SMALL))) == loads(SMALL)


def test_a_path_is_found_from_its_folder_in_a_file_a_sweep_and_a_change(tmp_path: Path) -> None:
    flows = [{"name": "a", "app": {"kind": "tmix", "vectors": "a.cv"}}, {"app": {"vectors": "S\n"}}]
    data = {"links": [{"trace": "a.down", "queue": "./a.c"}, {"trace": [1], "queue": "pie"}]}
    there = {"trace": str(tmp_path / "a.down"), "queue": str(tmp_path / "a.c")}
    assert placed({**data, "flows": flows}, tmp_path) == {
        "links": [there, {"trace": [1], "queue": "pie"}],
        "flows": [
            {"name": "a", "app": {"kind": "tmix", "vectors": str(tmp_path / "a.cv")}},
            {"app": {"vectors": "S\n"}},
        ],
    }
    changes = {"links.up.trace": "a.down", "links.up.queue.algorithm": "a.c", "limit": 9}
    assert list(placed(changes, tmp_path).values()) == [*there.values(), 9]
    assert placed_variant("./a.c:limit=9", tmp_path) == f"{tmp_path / 'a.c'}:limit=9"
    assert placed_variant("red:min_th=8 MB/s", tmp_path) == "red:min_th=8 MB/s"


def test_a_window_in_pieces_is_that_window_and_its_equal_parts() -> None:
    whole = Window(name="w", from_=Duration("1 s"), to=Duration("3 s"), pieces=3)
    assert [(str(w.from_), str(w.to), w.name) for w in whole.cut()] == [
        ("1 s", "3 s", "w"),
        ("1 s", "1.666666666 s", "w 1 of 3"),
        ("1.666666666 s", "2.333333333 s", "w 2 of 3"),
        ("2.333333333 s", "3 s", "w 3 of 3"),
    ]


def test_a_mistake_behind_a_window_in_pieces_is_told_once_with_its_own_line() -> None:
    windows = """windows = [
    { name = "w", from = "1 s", to = "9 s", pieces = 4 },
    { name = "early", from = "5 s", to = "4 s", pieces = 2 },
    { name = "w 1 of 4", from = "1 s", to = "2 s" },
]
"""
    text = GRAPH.replace('windows = [{ name = "late", from = "5 s", to = "10 s" }]\n', windows)
    assert text != GRAPH
    with pytest.raises(InputError) as caught:
        loads(text)
    assert [line.split(": ", 1)[1] for line in str(caught.value).splitlines()] == [
        "record.windows[1].to: '4 s' is not later than its beginning, '5 s'",
        "record.windows[2].name: 'w 1 of 4' is there twice: a piece of 'w' has it",
    ]
