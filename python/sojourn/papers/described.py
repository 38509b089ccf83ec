# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The set-up of an experiment as tables of words. They are made from its files, and no page has to
repeat them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sojourn.core.text import Table
from sojourn.scenario.changes import under_test
from sojourn.scenario.variant import write_value

if TYPE_CHECKING:
    from sojourn.papers.experiment import Experiment

# The tables list at most this many links or flows; the scenario's file has all.
_LISTED = 24


def describe(experiment: Experiment) -> list[Table]:
    """List the network, the traffic, the algorithms, and the changes from cell to cell."""
    return [_links(experiment), _flows(experiment), _algorithms(experiment), _cells(experiment)]


def abouts(experiment: Experiment) -> list[tuple[str, str]]:
    """List the algorithms that the paper has not, and describe each."""
    return [(found.name, found.about) for found in experiment.contenders() if found.about]


def window(experiment: Experiment) -> str:
    """Write the begin, the end and the place of the measurement."""
    end = experiment.scenario.duration
    span = f"{experiment.window.from_} to {experiment.window.to} of {end}"
    if not experiment.scenario.record.windows:
        span = f"begin to end, {end}"
    return f"{span}, at “{experiment.data['queue']}”"


def _links(experiment: Experiment) -> Table:
    rows = []
    graph = experiment.scenario.expand()
    links, tested = graph.links, under_test(experiment.scenario, graph)
    for link in links[:_LISTED]:
        queue = link.queue
        limits = _pairs(queue.rows) if queue else ""
        rates = [str(link.rate or "any"), *(f"{s.rate} from {s.at}" for s in link.schedule)]
        delay = str(link.delay) if link.delay else ""
        if link.jitter:
            sd = getattr(link.jitter, "sd", "")
            delay += f", {link.jitter.distribution} jitter {sd}"
        manner = "" if link.shaper == "wire" else f"{link.shaper}, burst {link.burst}"
        held = "under test" if link.name in tested else f"{queue.algorithm} {limits}"
        rows.append((link.name, f"{link.from_} → {link.to}", ", ".join(rates), delay, manner, held))
    headings = ("link", "from → to", "rate", "delay", "shaper", "queue")
    return Table.of_rows("Network", headings, rows, _more(len(links)))


def _flows(experiment: Experiment) -> Table:
    flows = experiment.scenario.expand().flows
    rows = []
    for flow in flows[:_LISTED]:
        app = flow.app.model_dump(exclude_defaults=True)
        app.pop("kind", None)
        transport = flow.transport
        words: list[str] = [transport.kind]
        words += [str(found) for key in ("tcp", "cc") if (found := getattr(transport, key, None))]
        begin = str(flow.start)
        if flow.start_spread:
            begin += f", spread over {flow.start_spread}"
        if flow.stop is not None:
            begin += f", until {flow.stop}"
        rows.append(
            (
                flow.name,
                str(flow.count),
                f"{flow.from_} → {flow.to}",
                ", ".join(words),
                f"{flow.app.kind} {_pairs(app)}".strip(),
                begin,
            )
        )
    headings = ("flows", "count", "from → to", "transport", "traffic", "begin")
    return Table.of_rows("Traffic", headings, rows, _more(len(flows)))


def _algorithms(experiment: Experiment) -> Table:
    rows = [(c.name, c.algorithm, _pairs(c.rows)) for c in experiment.contenders()]
    return Table.of_rows(
        "Algorithms", ("in the paper", "here", "settings other than by default"), rows
    )


def _cells(experiment: Experiment) -> Table:
    rows = [
        (signal.name, signal.table, _pairs(signal.set))
        for signal in experiment.signals()
        if not signal.ablates
    ]
    return Table.of_rows("Cells", ("cell", "in the paper", "what is set"), rows)


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {_written(value)}" for key, value in values.items())


def _written(value: Any) -> str:
    try:
        return write_value(value)
    except (TypeError, ValueError):
        return str(value)


def _more(count: int) -> str:
    more = count - _LISTED
    return f"And {more} more: the scenario’s file has all." if more > 0 else ""
