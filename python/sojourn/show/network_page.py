# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Pictures of networks for pages, as files of their own, and of the scenarios of results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sojourn.core.errors import InputError
from sojourn.scenario import Scenario
from sojourn.scenario.ends import queues_of
from sojourn.show.measured import Measured
from sojourn.show.network import Network, read
from sojourn.show.network_layout import BROAD, NARROW, draw, svg
from sojourn.show.network_words import queue_words
from sojourn.show.page import render
from sojourn.store.store import write_whole

SUFFIXES = (".svg", ".html")
CAPTION = "The network: nodes, links with their queues, and who sends to whom."
# A page has no picture of a network with more nodes than a reader would look at.
_MOST_NODES = 120
# More algorithms than this are counted, in place of named.
_MOST_NAMES = 3


def of_scenario(scenario: Scenario, under_test: Iterable[str] = ()) -> Network:
    """Read the network of a scenario, with the keys of both hosts."""
    return read(scenario.to_engine(None), dict.fromkeys(under_test, "under test"))


def drawn(network: Network, caption: str = CAPTION) -> dict[str, str]:
    """Draw a network in both widths, for the figure of a template."""
    words = description(network)
    wide, narrow = draw(network), draw(network, NARROW)
    broad = svg(wide, words)
    return {
        "wide": f'<div class="broad">{broad}</div>' if wide.width > BROAD else broad,
        "narrow": svg(narrow, words),
        "host": "",
        "caption": caption,
        "link": "",
    }


def of_page(network: Network, caption: str = CAPTION) -> list[dict[str, str]]:
    """Draw a network for a page; none that is too large to look at."""
    return [drawn(network, caption)] if len(network.nodes) <= _MOST_NODES else []


def description(network: Network) -> str:
    """Describe the picture in words."""
    texts = [node.text for node in network.nodes.values()]
    links = [" to ".join(network.nodes[end].text for end in wire.ends) for wire in network.wires]
    flows = [sent.text for sent in network.flows]
    return f"Network of {', '.join(texts)}. Links: {'; '.join(links)}. Traffic: {'; '.join(flows)}."


def write(scenario: Scenario, out: Path) -> None:
    """Write the picture of a scenario's network as SVG, or as a page."""
    check_name(out)
    network = of_scenario(scenario)
    if out.suffix == ".svg":
        text = svg(draw(network), description(network), is_file=True)
    else:
        figure = drawn(network)
        text = render(
            "network.html", title=scenario.name, about=scenario.description, figure=figure
        )
    write_whole(out, text.encode())


def check_name(out: Path) -> None:
    """Check that the suffix of the name is that of such a picture; InputError if not."""
    if out.suffix not in SUFFIXES:
        raise InputError(f"{out}: a network's picture ends in {' or '.join(SUFFIXES)}")


def of_results(measured: Measured) -> list[dict[str, str]]:
    """Draw the network of each result once. Where its cases differ in more than the algorithms
    under test, the picture is of the first case."""
    by_result: dict[str, list[dict[str, Any]]] = {}
    for case in measured.by_case:
        by_result.setdefault(case.result, []).append(measured.scenario(case))
    networks: dict[str, Network] = {}
    for name, scenarios in by_result.items():
        network = read(scenarios[0], _tested(scenarios))
        if network not in networks.values():
            networks[name] = network
    figures = []
    for name, network in networks.items():
        caption = f"{name}: {CAPTION[0].lower()}{CAPTION[1:]}" if len(networks) > 1 else CAPTION
        if _differ(by_result[name]):
            caption += " It is drawn as in the first case; others have other keys."
        figures += of_page(network, caption)
    return figures


def _tested(scenarios: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Name the algorithms that take turns, for each queue that differs between the scenarios."""
    words: dict[str, dict[str, None]] = {}
    for scenario in scenarios:
        for name, queue in queues_of(scenario["links"]).items():
            words.setdefault(name, {})[queue_words(queue)] = None
    return {
        name: " or ".join(each) if len(each) <= _MOST_NAMES else f"{len(each)} algorithms in turn"
        for name, each in words.items()
        if len(each) > 1
    }


def _differ(scenarios: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether the scenarios differ in more than their queues."""
    return any(_without_queues(each) != _without_queues(scenarios[0]) for each in scenarios[1:])


def _without_queues(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _without_queues(v) for k, v in value.items() if k != "queue"}
    return [_without_queues(item) for item in value] if isinstance(value, list) else value
