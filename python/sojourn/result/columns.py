# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The columns of a result's tables: the name, unit and meaning of each, and its place in a run's
report; and the rows of these tables.

Columns with a label are also metrics (`sojourn.result.metrics`), under the same name.
`sojourn.result.result` writes these columns and no others. The columns that the engine itself
writes are described beside its schemas (`crates/py/src/recorded.rs`).

`python -m sojourn.result.columns [--check] [FILE]` writes docs/reference/columns.md, or with
--check tells whether the file equals it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import _native
from sojourn.core.hosts import HOSTS

if TYPE_CHECKING:
    from sojourn.result.result import Run


@dataclass(frozen=True)
class Column:
    """One column."""

    name: str
    unit: str
    meaning: str
    # The keys to the value in the report's entry of the row; empty for labels of the row itself.
    path: tuple[str, ...] = ()
    hosts: tuple[str, ...] = HOSTS
    # Whether all entries have it: `bulk`, `respawn` and `cbr` are no scripts of conversations.
    of_all: bool = True
    label: str = ""  # the name of a metric in printed tables and claims

    def read(self, entry: Mapping[str, Any]) -> Any:
        """Read its value; None where nothing was measured."""
        value: Any = entry
        for key in self.path:
            value = None if value is None else value[key]
        return value


def _same(name: str, unit: str, meaning: str, label: str = "") -> Column:
    """Make a column that has the same name in the report."""
    return Column(name, unit, meaning, (name,), label=label)


def values(columns: tuple[Column, ...], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Read the columns that the report's entry has."""
    return {
        column.name: column.read(entry)
        for column in columns
        if column.path and (column.of_all or column.path[0] in entry)
    }


_RUN_LABELS = (
    Column("seed", "", "of the run's random numbers"),
    Column("host", "", "`sim`, `linux`, or either with `, binned`"),
)
_TESTED = "algorithm, or its variant, in the queues under test"
LABELS = (Column("aqm", "", _TESTED), *_RUN_LABELS)
# The labels in rows of a queue.
QUEUE_LABELS = (
    Column("aqm", "", "algorithm of the queue, or its variant"),
    *_RUN_LABELS,
    Column("tested", "", f"{_TESTED}; `aqm` of tables without queues"),
)

SHAPES = {
    "mean": "mean",
    "sd": "standard deviation",
    "iqr": "distance of the quartiles",
    "p5": "5th percentile",
    "p25": "first quartile",
    "p50": "median",
    "p75": "third quartile",
    "p90": "90th percentile",
    "p95": "95th percentile",
    "p99": "99th percentile",
    "max": "largest",
}
# The shapes of delays at a queue.
_OF_DELAYS = ("mean", "sd", "iqr", "p25", "p50", "p75", "p95", "p99", "max")
# The shapes of completion and page load times.
_TIMES = ("mean", "p25", "p50", "p75", "p95")
# The shapes that have other words in a label.
_LABELS = {"sd": "sd", "iqr": "IQR"}


def shape_label(shape: str) -> str:
    """Return the words of a shape in a label."""
    return _LABELS.get(shape, SHAPES[shape])


def _shaped(key: str, meaning: str, label: str, shapes: Iterable[str]) -> list[Column]:
    """Make a column for each shape of a number: `queue_delay_p95_ms` is `p95` of
    `queue_delay_ms`."""
    kind, _, unit = key.rpartition("_")
    return [
        Column(
            f"{kind}_{shape}_{unit}",
            unit,
            f"{meaning}: {SHAPES[shape]}",
            (key, shape),
            label=label and f"{label}, {shape_label(shape)}",
        )
        for shape in shapes
    ]


def _quantiles(name: str, meaning: str, label: str) -> Iterator[Column]:
    """Make the columns of a group's quantiles in ms, which the report has under the same names."""
    for shape in ("p50", "p95", "p99"):
        words = f"{label}, {shape_label(shape)}"
        yield _same(f"{name}_{shape}_ms", "ms", f"{meaning}: {SHAPES[shape]}", words)


_DELAYS = {
    "system_delay_ms": ("from arrival at the queue to the last bit sent", "system delay"),
    "queue_delay_ms": ("from arrival at the queue to departure from it", "queue delay"),
    "queue_delay_whole_ms": (
        "queue delay, each packet's cut to whole ms",
        "queue delay in whole ms",
    ),
}


WINDOWS = (
    *QUEUE_LABELS,
    Column("queue", "", "link of the queue"),
    Column("window", "", "name of the window"),
    _same("from_s", "s", "start of the window"),
    _same("to_s", "s", "end of the window"),
    *(column for key, words in _DELAYS.items() for column in _shaped(key, *words, _OF_DELAYS)),
    *(
        Column(
            f"queue_pkts_{shape}",
            "packets",
            f"in the queue, over time: {SHAPES[shape]}",
            ("queue_pkts", shape),
            label=f"queue length, {shape}",
        )
        for shape in ("mean", "sd")
    ),
    _same("utilisation_pct", "%", "bits sent, of what the link could have sent", "utilisation"),
    _same(
        "ip_mbps",
        "Mbit/s",
        "bits of IP packets sent, without the link's header; null with `mpu`, cells, or packets of "
        "a trace",
        "throughput, IP bytes",
    ),
    _same("drop_pct", "%", "packets dropped, of those that arrived", "drops"),
    _same("mark_pct", "%", "packets marked, of those that arrived", "marks"),
    _same("arrived_pkts", "packets", "that came to the queue"),
    _same("departed_pkts", "packets", "that left the queue to be sent"),
    _same("dropped_pkts", "packets", "dropped, for any reason"),
    _same("marked_pkts", "packets", "marked, for any reason"),
)


def _whole(key: str, unit: str, meaning: str) -> Column:
    return Column(f"{key}_whole_run", unit, f"{meaning}, in the whole run", (key,))


FLOWS = (
    *LABELS,
    Column("flow", "", "name of the flow's group"),
    Column("index", "", "number of the flow in its group, from 0"),
    Column("window", "", "name of the window"),
    Column("goodput_mbps", "Mbit/s", "payload delivered in order, in the window"),
    _whole("delivered_bytes", "bytes", "payload delivered in order"),
    _whole("data_pkts_sent", "packets", "with data, sent"),
    _whole("retransmitted_pkts", "packets", "sent again, as Linux's RetransSegs counts"),
    _whole("timeouts", "", "timeouts of retransmission"),
    _whole("completions", "", "transfers completed"),
    Column(
        "srtt_ms_whole_run",
        "ms",
        "smoothed round trip at the end of the run; null without a connection",
        ("srtt_ms",),
    ),
)


def _script_columns() -> tuple[Column, ...]:
    """Make the columns of the kinds of traffic that are scripts; only tables with such traffic have
    them."""
    scripts = "; of kinds but `bulk`, `respawn` and `cbr`"
    pages = "pages complete in the window; of `web`"
    times = _shaped("page_s", f"load time of {pages}", "page load time", _TIMES)
    return (
        Column(
            "opened",
            "",
            f"connections opened{scripts}",
            ("opened",),
            of_all=False,
            label="connections opened",
        ),
        Column(
            "answered_bytes",
            "bytes",
            f"payload delivered to the end `from`{scripts}",
            ("answered_bytes",),
            of_all=False,
        ),
        Column("page_n", "", pages, ("page_s", "n"), of_all=False),
        *(replace(column, of_all=False) for column in times),
    )


def _view_columns() -> Iterator[Column]:
    """Make the columns of traffic that somebody watches; only tables with such traffic have
    them."""
    for key, unit, meaning, label in (
        ("segments", "", "segments that came", "segments"),
        ("bitrate_mbps", "Mbit/s", "their mean bit rate", "bit rate of the video"),
        ("rung", "", "their mean rung, of which the least is 1", "rung"),
        ("switches", "", "segments of another rung than the one before", "switches of the rung"),
        ("stalls", "", "times that a picture stood still, after it began", "stalls"),
        ("stalled_s", "s", "how long, of all viewers together", "stalled"),
    ):
        yield replace(_same(key, unit, f"{meaning}; of `video`", label), of_all=False)


GROUPS = (
    *LABELS,
    Column("group", "", "name of the group"),
    Column("window", "", "name of the window"),
    _same("flows", "", "flows of the group"),
    _same(
        "least_share",
        "",
        "the least flow's goodput, of the mean of the group",
        "least flow, of the mean",
    ),
    _same("lost_pkts", "packets", "datagrams lost; null for TCP, which sends again", "lost"),
    _same("lost_pct", "%", "the same, of those sent", "lost, of those sent"),
    _same(
        "delay_ms",
        "ms",
        "of datagrams that arrived: mean; null for TCP",
        "delay of datagrams, mean",
    ),
    *_quantiles("delay", "of those that arrived; null of a part of a group", "delay of datagrams"),
    _same(
        "jitter_ms",
        "ms",
        "of datagrams that arrived: mean difference of two delays",
        "jitter of datagrams",
    ),
    _same("retransmitted_pkts", "packets", "sent again", "sent again"),
    _same("timeouts", "", "timeouts of retransmission"),
    _same("data_pkts_sent", "packets", "with data, sent", "sent"),
    _same("delivered_bytes", "bytes", "payload delivered in order"),
    _same("goodput_mbps", "Mbit/s", "of all flows of the group", "goodput"),
    _same("jain", "", "Jain's index of the flows' goodput", "Jain's index"),
    Column("fct_n", "", "transfers completed in the window", ("fct_s", "n")),
    *_shaped("fct_s", "their completion time", "completion time", _TIMES),
    *_script_columns(),
    Column(
        "mos",
        "",
        "mean opinion score, 1 to 4.5; of `voip`",
        ("mos",),
        of_all=False,
        label="mean opinion score",
    ),
    *(
        replace(column, of_all=False)
        for column in _quantiles("rtt", "of echoes sent in the window; of `ping`", "round trip")
    ),
    *_view_columns(),
)


def _step(key: str, meaning: str, label: str) -> Column:
    return Column(f"step_{key}", key.rpartition("_")[2], meaning, (key,), label=label)


STEPS = (
    *QUEUE_LABELS,
    Column("queue", "", "link of the queue"),
    _same("at_s", "s", "when the scenario changes"),
    _same("to_s", "s", "the next change, or the end of the run"),
    Column("change", "", "what changes"),
    _step("peak_delay_ms", "largest queue delay until then", "peak delay"),
    _step("later_delay_ms", "mean queue delay in the later half", "later delay, mean"),
    _step("settling_s", "until delay stays within twice that; null: it does not", "settling time"),
    _step(
        "utilised_s",
        "until utilisation is 90 % over 0.1 s; null: it never is",
        "utilisation, time to 90 %",
    ),
)


CLASSES = (
    *LABELS,
    Column("class", "", "name of the class, band or ring: LINK/CLASS, or LINK/STAGE/CLASS"),
    Column("kind", "", "its discipline: `htb`, `prio` or `drr`; or `ring`"),
    Column("window", "", "name of the window"),
    _same("from_s", "s", "start of the window"),
    _same("to_s", "s", "end of the window"),
    Column("rate_mbps", "Mbit/s", "what it sent, with its classes below and the link's header"),
    _same("sent_pkts", "packets", "sent, with its classes below"),
    _same("sent_bytes", "bytes", "of these"),
    _same("lent_pkts", "packets", "of `htb`: sent by its own tokens, for itself or those below"),
    _same("borrowed_pkts", "packets", "of `htb`: sent by the tokens of a class above"),
    *(
        Column(f"{mode}_pct", "%", f"of `htb`: share of time in which it {words}", (f"{mode}_pct",))
        for mode, words in (
            ("can_send", "could send by its own tokens"),
            ("may_borrow", "could send by tokens of a class above only"),
            ("cannot_send", "was at its ceiling"),
        )
    ),
    _same("backlog_pkts", "packets", "waiting, over time: mean; with its classes below"),
)


PINGS = (
    *LABELS,
    Column("flow", "", "name of the flow's group"),
    Column("index", "", "number of the flow in its group, from 0"),
    Column("sent_s", "s", "when the ping was sent"),
    Column("rtt_ms", "ms", "its round trip; null: it has not come back"),
)


def _recorded(table: str) -> tuple[Column, ...]:
    """Make the columns of a table that the engine writes."""
    return tuple(
        Column(name, unit, meaning)
        for owner, name, unit, meaning in _native.recorded_columns()
        if owner == table
    )


SERIES = (*QUEUE_LABELS, *_recorded("series"))
GROUP_SERIES = (*LABELS, *_recorded("group_series"))
STATISTICS = (*QUEUE_LABELS, *_recorded("statistics"))
EVENTS = _recorded("events")
DISTRIBUTIONS = (*QUEUE_LABELS, *_recorded("distributions"))
TRANSFERS = (*LABELS, *_recorded("transfers"))

# The rows and the columns of each file of a result.
TABLES: dict[str, tuple[str, tuple[Column, ...]]] = {
    "windows.parquet": ("one row for each run, queue and window", WINDOWS),
    "series.parquet": ("one row for each run, queue and step of the grid", SERIES),
    "group_series.parquet": (
        "one row for each run, name of flows and step of the grid",
        GROUP_SERIES,
    ),
    "statistics.parquet": (
        "one row for each run, queue, statistic of its algorithm and step of the grid",
        STATISTICS,
    ),
    "flows.parquet": ("one row for each run, flow and window", FLOWS),
    "groups.parquet": ("one row for each run, window and name of flows", GROUPS),
    "steps.parquet": (
        "one row for each run, queue and change of the scenario; written where it changes",
        STEPS,
    ),
    "classes.parquet": (
        "one row for each run, window, and class or ring at a link's `end`; written where one is "
        "recorded",
        CLASSES,
    ),
    "pings.parquet": ("one row for each run and ping; written where there are any", PINGS),
    "distributions.parquet": (
        "one row for each run, window, and cell of a histogram in which there is any",
        DISTRIBUTIONS,
    ),
    "transfers.parquet": (
        "with `record.transfers`: one row for each run and transfer, in the order of their ends; "
        "one that has none stands where it was given up, or behind all others",
        TRANSFERS,
    ),
}

_SIM, _LINUX = HOSTS
# The keys of an entry of `runs` in result.json and `--json`.
RUN = (
    *LABELS,
    Column("queues", "", "recorded queues: name, windows, and the two below"),
    Column(
        "classes",
        "",
        "each class and ring at recorded ends: name, kind, and for each window the numbers of "
        "classes.parquet",
        of_all=False,
    ),
    Column("flows", "", "each flow: the columns of flows.parquet, a list of windows' goodput"),
    Column("transport", "", "each window: the flows together, and the groups of groups.parquet"),
    Column("goodput_mbps", "Mbit/s", "of all flows, in the first window"),
    Column("jain", "", "Jain's index of all flows, in the first window"),
    Column("fct_s", "s", "completion times of all flows, in the first window"),
    Column(
        "echoes",
        "",
        "of `ping`: for each flow when each was sent, and its round trip",
        of_all=False,
    ),
    Column("fingerprint", "", "hash of every departure and drop at the recorded queues"),
    Column("cpu_s", "s", "processor time that the run took"),
    Column("events", "", "events handled", hosts=(_SIM,)),
    Column("conservation", "packets", "where every packet went", hosts=(_SIM,)),
    Column(
        "not_on_linux",
        "",
        "by group, options of an age's TCP that were not set",
        hosts=(_LINUX,),
    ),
    Column(
        "refused_by_machine",
        "",
        "what the machine refused the guest, without which a repetition may give other bytes",
        hosts=(_LINUX,),
    ),
)
QUEUE = (
    Column("aqm", "", "its algorithm, or the variant"),
    Column("tested", "", f"{_TESTED}; `aqm` of the entry"),
    Column("name", "", "link of the queue"),
    Column("windows", "", "each window: the numbers of windows.parquet; drops and marks by reason"),
    Column(
        "steps",
        "",
        "each change: the numbers of steps.parquet, what changes as a list of tables",
        of_all=False,
    ),
    Column("events_left_out", "packets", "more than events.parquet can keep"),
    Column("bad_verdicts", "", "verdicts of the algorithm that broke a rule, by rule"),
    Column(
        "probes",
        "",
        "of an algorithm that probes, over the whole run: the counters that tc has for them "
        "([results](../guide/results.md#of-its-probes))",
        of_all=False,
    ),
    Column(
        "flows",
        "",
        "of a queue with flows, as it counts them itself, over the whole run: new_flow_count, "
        "collisions, delay_mean_ms, delay_sparse_ms, delay_peak_ms",
        of_all=False,
    ),
)


def _queue_labels(run: Run, queue: str) -> dict[str, str | int]:
    tested = str(run.labels["aqm"])
    return {**run.labels, "aqm": run.aqm_of(queue), "tested": tested, "queue": queue}


def window_rows(runs: Iterable[Run]) -> Iterator[dict[str, Any]]:
    """Yield one row for each run, queue and window."""
    for run in runs:
        for queue in run.report["queues"]:
            for window in queue["windows"]:
                labels = {**_queue_labels(run, queue["name"]), "window": window["name"]}
                yield labels | values(WINDOWS, window)


def flow_rows(runs: Iterable[Run]) -> Iterator[dict[str, Any]]:
    """Yield one row for each run, flow and window.

    Goodput is of the window. All other counts are of the whole run, and their names say it.
    """
    for run in runs:
        windows = [window["name"] for window in run.report["transport"]]
        for flow in run.report["flows"]:
            whole = values(FLOWS, flow)
            goodputs = zip(windows, flow["goodput_mbps_of_windows"], strict=True)
            for window, goodput_mbps in goodputs:
                labels = {**run.labels, "flow": flow["name"], "index": flow["index"]}
                yield {**labels, "window": window, "goodput_mbps": goodput_mbps, **whole}


def group_rows(runs: Iterable[Run]) -> Iterator[dict[str, Any]]:
    """Yield one row for each run, window and name of flows."""
    for run in runs:
        for window in run.report["transport"]:
            for group in window["groups"]:
                labels = {**run.labels, "group": group["name"], "window": window["name"]}
                yield labels | values(GROUPS, group)


def step_rows(runs: Iterable[Run]) -> Iterator[dict[str, Any]]:
    """Yield one row for each run, queue and change of the scenario."""
    for run in runs:
        for queue in run.report["queues"]:
            for step in queue.get("steps", ()):
                labels = _queue_labels(run, queue["name"])
                numbers = values(STEPS, step)
                at = {key: numbers.pop(key) for key in ("at_s", "to_s")}
                yield labels | at | {"change": spell(step["changes"])} | numbers


def class_rows(runs: Iterable[Run]) -> Iterator[dict[str, Any]]:
    """Yield one row for each run, window, and class or ring at a link's end."""
    for run in runs:
        for of in run.report.get("classes", ()):
            for window in of["windows"]:
                labels = {**run.labels, "class": of["name"], "kind": of["kind"]}
                numbers = values(CLASSES, window)
                at = {key: numbers.pop(key) for key in ("from_s", "to_s")}
                rate_mbps = window["sent_bytes"] * 8e-6 / (at["to_s"] - at["from_s"])
                yield {**labels, "window": window["name"], **at, "rate_mbps": rate_mbps, **numbers}


def spell(changes: Iterable[Mapping[str, Any]]) -> str:
    """Write all changes of one time in words."""
    return ", ".join(map(_spell, changes))


def _spell(change: Mapping[str, Any]) -> str:
    name = change["of"]
    match change["kind"]:
        case "rate":
            return f"{name} {change['rate_mbps']:.6g} Mbit/s"
        case "delay":
            return f"{name} delay {change['delay_ms']:.6g} ms"
        case kind:
            flows = "flow" if change["flows"] == 1 else "flows"
            return f"{change['flows']} {flows} {name} {kind}{'s' if change['flows'] == 1 else ''}"


DEFAULT = Path("docs/reference/columns.md")

_HEAD = """\
<!-- SPDX-FileCopyrightText: 2026 The Sojourn authors -->
<!-- SPDX-License-Identifier: MIT OR GPL-2.0-only -->
# Every column of a result

<!-- Made from the tables by `python -m sojourn.result.columns`; edit those, not this. -->

[Results](../guide/results.md) has the files and [defines the numbers](../guide/results.md#numbers).
A number that was not measured is null, in a series NaN. Where no host is named, both have it.
Experiments add their own labels as columns. The last cell has the label of printed tables. A column
of `windows.parquet` or `steps.parquet` that has one is a metric of claims and sweeps.
"""


def text() -> str:
    """Write the page as it is published."""
    tables = {
        f"`{file}`": (f"{rows[0].upper()}{rows[1:]}.", table)
        for file, (rows, table) in TABLES.items()
    }
    tables |= {
        "`events.parquet` of a run": (
            "One row for each packet that left a recorded queue or was dropped there.",
            EVENTS,
        ),
        "`runs` of `result.json`": ("The keys of an entry, as of `--json`.", RUN),
        "`queues` of an entry": ("The keys of each.", QUEUE),
    }
    return "\n".join([_HEAD, *(_section(title, *table) for title, table in tables.items())])


def _section(title: str, rows: str, table: tuple[Column, ...]) -> str:
    from sojourn.core.text import markdown

    lines = []
    for column in table:
        hosts = "" if column.hosts == HOSTS else ", ".join(f"`{host}`" for host in column.hosts)
        lines.append((f"`{column.name}`", column.unit, hosts, column.meaning, column.label))
    head = ("column", "unit", "host", "what", "label")
    return "\n".join([f"## {title}", "", rows, "", markdown(head, lines)])


if __name__ == "__main__":
    from sojourn.core.text import write_page

    sys.exit(write_page(sys.argv[1:], DEFAULT, text))
