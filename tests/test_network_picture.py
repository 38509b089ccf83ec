# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Pictures of networks: all names are there, nothing lies on anything else, like parts are one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import sojourn
from sojourn.cli import status
from sojourn.papers.experiment import experiments
from sojourn.papers.page import network as network_of
from sojourn.scenario.ends import queues_of
from sojourn.scenario.known import KNOWN, known_scenarios
from sojourn.show import network_layout
from sojourn.show.measured import Measured
from sojourn.show.network import read, text
from sojourn.show.network_layout import NARROW, WIDE, Drawing, draw, svg
from sojourn.show.network_page import of_results, of_scenario

from tests.conftest import SMALL
from tests.pages import parse

SCENARIOS = {name: sojourn.load(KNOWN / f"{name}.toml") for name in known_scenarios()}
SCENARIOS |= {experiment.id: experiment.scenario for experiment in experiments()}


PLAIN = """
rate = "20 Mbit/s"
queue = "codel"
"""
# Two stages and a ring.
UPLINK = """
[[links.end]]
name = "ip"
kind = "htb"
default = "af"
classes = [
    { name = "root", rate = "16 Mbit/s" },
    { name = "ef", parent = "root", rate = "1 Mbit/s", ceil = "16 Mbit/s", queue = "fifo", MATCH },
    { name = "af", parent = "root", rate = "8 Mbit/s", prio = 1, queue = "codel" },
]
[[links.end]]
name = "mac"
kind = "htb"
default = "rest"
classes = [
    { name = "all", rate = "21 Mbit/s" },
HOSTS
    { name = "rest", parent = "all", rate = "1 Mbit/s", queue = "fifo" },
]
[[links.end]]
name = "card"
kind = "ring"
packets = 64
bql = true
rate = "100 Mbit/s"
""".replace("MATCH", 'match = [{ dscp = "ef" }]').replace(
    "HOSTS",
    "\n".join(
        f'{{ name = "host {n}", parent = "all", rate = "1 Mbit/s", ceil = "20 Mbit/s", '
        f'match = [{{ via = "host {n}" }}], queue = {{ algorithm = "fifo", limit = 50 }} }},'
        for n in (1, 2, 3, 4)
    ),
)
# Bands, one of them with classes inside, above a ring.
DOWNLINK = """
delay = "7 ms"
[[links.end]]
name = "bands"
kind = "prio"
default = "rest"
bands = [
    { name = "voice", match = [{ flows = "files 1" }, { transport = "udp" }], queue = "fifo" },
    { name = "rest", inner = { kind = "drr", default = "be", classes = [
        { name = "af4", quantum = "6056 B", match = [{ dscp = "af41" }], queue = "pie" },
        { name = "be", queue = "codel" },
    ] } },
]
[[links.end]]
name = "line"
kind = "ring"
packets = 8
rate = "9 Mbit/s"
"""


def star(uplink: str = PLAIN, downlink: str = PLAIN) -> dict[str, Any]:
    """Forty hosts with equal links to one switch, and a server behind it."""
    numbers = range(1, 41)
    flow = '[[flows]]\nname = "files {n}"\nfrom = "host {n}"\nto = "server"\ncount = 2'

    def link(name: str, from_: str, to: str, keys: str) -> str:
        return f'[[links]]\nname = "{name}"\nfrom = "{from_}"\nto = "{to}"\n{keys}'

    port = 'rate = "100 Mbit/s"\ndelay = "1 ms"'
    parts = [
        'format = 2\nname = "star"\nduration = "5 s"',
        f"nodes = {[*(f'host {n}' for n in numbers), 'switch', 'server']}",
        *(link(f"port {n}", f"host {n}", "switch", port) for n in numbers),
        *(link(f"port {n} back", "switch", f"host {n}", port) for n in numbers),
        link("uplink", "switch", "server", uplink),
        link("downlink", "server", "switch", downlink),
        *(flow.format(n=n) for n in numbers),
        f"[record]\nqueues = ['uplink{'' if uplink == PLAIN else '/ip/af'}']",
    ]
    return sojourn.loads("\n\n".join(parts)).to_engine(None)


def words(drawing: Drawing) -> str:
    return " ".join(text.words for text in drawing.texts).replace("\u00a0", " ")


def has_name(drawn: str, name: str) -> bool:
    """Tell whether a name is in the picture, alone or as one of a span such as `port 1…40`."""
    pattern = re.sub(r"\d+", r"\\d+(?:…\\d+|(?:, \\d+)+)?", re.escape(name))
    return re.search(pattern, drawn) is not None


Box = tuple[float, float, float, float]


def meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def holds(a: Box, b: Box) -> bool:
    return a[0] <= b[0] and a[1] <= b[1] and b[2] <= a[2] and b[3] <= a[3]


def overlaps(drawing: Drawing) -> Iterator[str]:
    """Every two parts of which one covers the other, and every part outside the picture."""
    texts = [((t.x, t.y - 10, t.x + t.width, t.y + 3), t.words) for t in drawing.texts]
    frames = [((f.x, f.y, f.x + f.width, f.y + f.height), f.kind) for f in drawing.frames]
    whole = (0, 0, drawing.width, drawing.height)
    for box, name in [*texts, *frames]:
        if not holds(whole, box):
            yield f"{name} is outside: {box}"
    for (a, first), (b, second) in [*combinations(texts, 2), *combinations(frames, 2)]:
        if meet(a, b):
            yield f"{first} meets {second}: {a} {b}"
    for frame, kind in frames:
        for box, name in texts:
            if meet(frame, box) and not holds(frame, box):
                yield f"{name} leaves its {kind}"
    for line in segments(drawing):
        for box, name in texts:
            is_in_node = any(kind == "node" and holds(frame, box) for frame, kind in frames)
            if meet(line, box) and not is_in_node:
                yield f"a line crosses {name}: {line} {box}"


def segments(drawing: Drawing) -> Iterator[Box]:
    """The straight parts of all lines."""
    for stroke in drawing.strokes:
        x = y = 0.0
        for command, rest in re.findall(r"([MHVCQ])([^MHVCQ]*)", stroke.path):
            numbers = [float(n) for n in re.findall(r"-?[\d.]+", rest)]
            before = x, y
            if command == "H":
                x = numbers[0]
            elif command == "V":
                y = numbers[0]
            else:
                x, y = numbers[-2:]
            if command in "HV":
                yield (min(x, before[0]), min(y, before[1]), max(x, before[0]), max(y, before[1]))


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_is_drawn_with_all_names_and_without_overlap(name: str, width: int) -> None:
    scenario = SCENARIOS[name].to_engine(None)
    drawing = draw(read(scenario), width)
    assert list(overlaps(drawing)) == []
    assert drawing.width <= (1256 if width == WIDE else NARROW)
    drawn = words(drawing)
    names = [
        *scenario["nodes"],
        *(link["name"].removesuffix(" back") for link in scenario["links"]),
    ]
    names += [f["name"].removesuffix(f" {f['from']}-{f['to']}") for f in scenario["flows"]]
    assert [name for name in names if not has_name(drawn, name)] == []
    timed = [link for link in scenario["links"] if link.get("rate") or link.get("end")]
    drawn_queues = {queue["algorithm"] for queue in queues_of(timed).values()}
    assert [queue for queue in drawn_queues if queue not in drawn] == []


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_trees_of_queues_are_boxes_with_their_classes(width: int) -> None:
    drawing = draw(read(star(UPLINK, DOWNLINK)), width)
    assert list(overlaps(drawing)) == []
    drawn = words(drawing)
    for line in (
        "ip: htb root, 16 Mbit/s ef, 1 to 16 Mbit/s, fifo takes dscp ef",
        "af, 8 Mbit/s, prio 1, codel takes all else",
        "host 1…4 (×4), 1 to 20 Mbit/s, fifo, limit 50 takes via host 1…4",
        "card: ring of 64, BQL, 100 Mbit/s",
        "bands: prio voice, fifo takes flows files 1, or transport udp rest, drr takes all else",
        "af4, quantum 6.056 kB, pie takes dscp af41",
        "line: ring of 8, 9 Mbit/s",
    ):
        assert line in drawn
    (measured,) = {t.words for t in drawing.texts if t.colour == network_layout.MEASURED} - {
        "Blue: queues that are measured"
    }
    assert measured.startswith("af, 8 Mbit/s")


def test_stages_of_an_end_are_from_top_to_bottom_at_its_begin() -> None:
    drawing = draw(read(star(UPLINK, DOWNLINK)))
    places = {text.words: (text.x, text.y) for text in drawing.texts}
    ip, mac = places["ip: htb"], places["mac: htb"]
    card = next(place for words, place in places.items() if words.startswith("card: ring"))
    assert ip[1] < mac[1] < card[1]
    assert ip[0] == mac[0] == card[0]
    bands, line = places["bands: prio"], places["line: ring of 8, 9 Mbit/s"]
    assert card[1] < bands[1] < line[1], "the way back is below the line"


def test_like_hosts_are_drawn_once_and_unlike_ones_apart() -> None:
    scenario = star()
    network = read(scenario)
    assert [node.text for node in network.nodes.values()] == [
        "host 1…40 (×40)",
        "switch",
        "server",
    ]
    (flow,) = network.flows
    assert flow.text == "80 × files 1…40: host 1…40 → server, bulk, TCP cubic"
    scenario["links"][3]["rate"] //= 2
    names = [node.text for node in read(scenario).nodes.values()]
    assert names[:3] == ["host 1…3, 5…40 (×39)", "host 4", "switch"]


def test_chains_of_like_nodes_are_one_chain() -> None:
    names = [f"{kind} {n}" for n in (1, 2, 3) for kind in ("user", "modem")]
    links = [
        {"name": f"{a} {n}", "from": f"{a} {n}", "to": f"{b} {n}" if b == "modem" else b}
        for n in (1, 2, 3)
        for a, b in (("user", "modem"), ("modem", "isp"))
    ]
    graph = {"format": 2, "name": "chains", "duration": "1 s", "nodes": [*names, "isp"]}
    links.append({"name": "back", "from": "isp", "to": "user 2", "delay": "1 ms"})
    flows = [{"from": "user 2", "to": "isp"}]
    scenario = sojourn.Scenario.model_validate(graph | {"links": links, "flows": flows}).to_engine()
    del scenario["links"][-1]
    network = read(scenario)
    assert [node.count for node in network.nodes.values()] == [3, 3, 1]
    assert [wire.there.name for wire in network.wires] == ["user 1…3", "modem 1…3"]


def test_links_that_close_a_ring_are_drawn_below_and_named_in_the_outline() -> None:
    links = [
        {"name": f"{a}{b}", "from": a, "to": b, "delay": "1 ms"}
        for a, b in ("ab", "bc", "ca", "cd", "db", "ac")
    ]
    graph = {"format": 2, "name": "ring", "duration": "1 s", "nodes": list("abcd")}
    flows = [
        {
            "from": "a",
            "to": "d",
            "path": ["ab", "bc", "cd"],
            "reverse_path": ["db", "bc", "ca"],
        }
    ]
    scenario = sojourn.Scenario.model_validate(graph | {"links": links, "flows": flows})
    network = of_scenario(scenario)
    for width in (WIDE, NARROW):
        drawing = draw(network, width)
        assert list(overlaps(drawing)) == []
        assert all(has_name(words(drawing), link["name"]) for link in links)
    assert "├─ to a:" in text(network)


def test_a_terminal_gets_the_network_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["show", "--network", "rrul"]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[:4] == [
        "server",
        "│    server side ↕ back",
        "provider",
        "│    ↓ bottleneck: 50 Mbit/s, 20 ms",
    ]
    assert "4 × upload: client → server, bulk, TCP cubic, from 5 s to 65 s" in printed


def test_a_picture_is_written_of_a_file_a_known_scenario_or_an_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(SMALL)
    for name in ("mine.toml", "rrul", "duk/1"):
        for file in ("a.svg", "a.html"):
            assert status(["show", "--network", name, "-o", file]) == 0
            assert "bottleneck" in Path(file).read_text()
            parse(Path(file).read_text())
    capsys.readouterr()
    assert status(["show", "--network", "rrul", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["flows"][0]["from"] == "server"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--network", "rul"], "Did you mean 'rrul'?"),
        (["--network", "none.toml"], "none.toml"),
        (["--network", "rrul", "-o", "a.png"], "ends in .svg or .html"),
        (["codel", "-o", "a.svg"], "add --network"),
        (["codel", "--network", "rrul"], "show one of the three"),
        (["--network", "rrul", "--tc"], "--tc: an algorithm is wanted"),
    ],
)
def test_a_wrong_request_gets_one_sentence(
    arguments: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert status(["show", *arguments]) == 2
    error = capsys.readouterr().err
    assert sentence in error and error.count("\n") == 1


def test_the_page_of_a_result_names_the_algorithms_that_take_turns() -> None:
    scenario = sojourn.loads(SMALL)
    two = sojourn.run(scenario, aqms=["codel", "pie"], workers=1)
    (figure,) = of_results(Measured({"two": two}))
    assert "codel or pie" in figure["wide"] and "codel or pie" in figure["narrow"]
    four = sojourn.run(scenario, aqms=["codel", "pie", "red", "fifo"], workers=1)
    other = sojourn.loads(SMALL.replace("10 Mbit/s", "8 Mbit/s"))
    figures = of_results(Measured({"four": four, "other": sojourn.run(other, workers=1)}))
    assert "4 algorithms in turn" in figures[0]["wide"] and "8 Mbit/s" in figures[1]["wide"]
    assert [figure["caption"].split(":")[0] for figure in figures] == ["four", "other"]


def test_the_page_of_an_experiment_has_its_network_with_the_queue_under_test() -> None:
    (experiment,) = (e for e in experiments() if e.id == "duk/1")
    drawn = words(draw(network_of(experiment)))
    assert "under test; tbf" in drawn and "40 × short: sender → receiver" in drawn


def test_a_file_has_its_own_ground_and_letters_of_both_schemes() -> None:
    picture = svg(draw(of_scenario(SCENARIOS["rrul"])), "words", is_file=True)
    assert "prefers-color-scheme: dark" in picture and "var(" not in picture
    in_page = svg(draw(of_scenario(SCENARIOS["rrul"])), "words")
    assert not re.search(r"#[0-9a-f]{6}", re.sub(r"var\(.*?\)", "", in_page))
