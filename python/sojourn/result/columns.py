# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The columns of a result's tables: how each is called, in what unit, what it means, and where a
run's report holds it. `sojourn.result.result` writes these and no others; those that the engine
itself writes stand beside its schemas (`crates/py/src/recorded.rs`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sojourn import _native
from sojourn.core.hosts import HOSTS


@dataclass(frozen=True)
class Column:
    """One column."""

    name: str
    unit: str
    meaning: str
    # In the entry of the report that the row is of; empty for what is known of the row itself.
    path: tuple[str, ...] = ()
    hosts: tuple[str, ...] = HOSTS
    # Whether all entries have it: `bulk`, `respawn` and `cbr` are no scripts of conversations.
    of_all: bool = True

    def of(self, entry: Mapping[str, Any]) -> Any:
        """Its value; None where nothing was measured."""
        value: Any = entry
        for key in self.path:
            value = None if value is None else value[key]
        return value


def _same(name: str, unit: str, meaning: str) -> Column:
    """One that the report has under this name."""
    return Column(name, unit, meaning, (name,))


def values(columns: tuple[Column, ...], entry: Mapping[str, Any]) -> dict[str, Any]:
    """What the columns hold that the report's entry has."""
    return {
        column.name: column.of(entry)
        for column in columns
        if column.path and (column.of_all or column.path[0] in entry)
    }


_OF_ALL = (
    Column("seed", "", "of the run's random numbers"),
    Column("host", "", "`sim`, `linux`, or either with `, binned`"),
)
_TESTED = "algorithm, or its variant, in the queues under test"
LABELS = (Column("aqm", "", _TESTED), *_OF_ALL)
# Of rows of a queue.
QUEUE_LABELS = (
    Column("aqm", "", "algorithm of the queue, or its variant"),
    *_OF_ALL,
    Column("tested", "", f"{_TESTED}; `aqm` of tables without queues"),
)

_SHAPES = {
    "mean": "mean",
    "sd": "standard deviation",
    "iqr": "distance of the quartiles",
    "p25": "first quartile",
    "p50": "median",
    "p75": "third quartile",
    "p95": "95th percentile",
    "p99": "99th percentile",
    "max": "largest",
}
_DELAYS = {
    "queue_delay_ms": "from arrival at the queue to departure from it",
    "queue_delay_whole_ms": "the same, each packet's cut to whole ms",
    "system_delay_ms": "from arrival at the queue to the last bit sent",
}


def _delays(key: str) -> tuple[Column, ...]:
    return tuple(
        Column(f"{key}_{shape}", "ms", f"{_DELAYS[key]}: {word}", (key, shape))
        for shape, word in _SHAPES.items()
    )


WINDOWS = (
    *QUEUE_LABELS,
    Column("queue", "", "link of the queue"),
    Column("window", "", "name of the window"),
    _same("from_s", "s", "begin of the window"),
    _same("to_s", "s", "end of the window"),
    *_delays("queue_delay_ms"),
    *_delays("queue_delay_whole_ms"),
    *_delays("system_delay_ms"),
    Column("queue_pkts_mean", "packets", "in the queue, over time: mean", ("queue_pkts", "mean")),
    Column(
        "queue_pkts_sd",
        "packets",
        "in the queue, over time: standard deviation",
        ("queue_pkts", "sd"),
    ),
    _same("utilisation_pct", "%", "bits sent, of what the link could have sent"),
    _same("drop_pct", "%", "packets dropped, of those that arrived"),
    _same("mark_pct", "%", "packets marked, of those that arrived"),
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


def _of_scripts() -> tuple[Column, ...]:
    """Of the kinds of traffic that are scripts, in tables that have one."""
    scripts = "; of kinds but `bulk`, `respawn` and `cbr`"
    pages = "pages complete in the window; of `web`"
    times = {shape: f"load time of {pages}: {_SHAPES[shape]}" for shape in _TIMES}
    return (
        Column("opened", "", f"connections opened{scripts}", ("opened",), of_all=False),
        Column(
            "answered_bytes",
            "bytes",
            f"payload delivered to the end `from`{scripts}",
            ("answered_bytes",),
            of_all=False,
        ),
        Column("page_s_n", "", pages, ("page_s", "n"), of_all=False),
        *(
            Column(f"page_s_{shape}", "s", meaning, ("page_s", shape), of_all=False)
            for shape, meaning in times.items()
        ),
    )


_TIMES = ("mean", "p25", "p50", "p75", "p95")

GROUPS = (
    *LABELS,
    Column("group", "", "name of the group"),
    Column("window", "", "name of the window"),
    _same("flows", "", "flows of the group"),
    _same("least_share", "", "the least flow's goodput, of the mean of the group"),
    _same("lost_pkts", "packets", "datagrams lost; null for TCP, which sends again"),
    _same("delay_ms", "ms", "of datagrams that arrived: mean; null for TCP"),
    _same("jitter_ms", "ms", "of datagrams that arrived: mean difference of two delays"),
    _same("retransmitted_pkts", "packets", "sent again"),
    _same("timeouts", "", "timeouts of retransmission"),
    _same("data_pkts_sent", "packets", "with data, sent"),
    _same("delivered_bytes", "bytes", "payload delivered in order"),
    _same("goodput_mbps", "Mbit/s", "of all flows of the group"),
    _same("jain", "", "Jain's index of the flows' goodput"),
    Column("fct_s_n", "", "transfers completed in the window", ("fct_s", "n")),
    *(
        Column(f"fct_s_{shape}", "s", f"their completion time: {_SHAPES[shape]}", ("fct_s", shape))
        for shape in _TIMES
    ),
    *_of_scripts(),
)

STEPS = (
    *QUEUE_LABELS,
    Column("queue", "", "link of the queue"),
    _same("at_s", "s", "when the scenario changes"),
    _same("to_s", "s", "the next change, or the end of the run"),
    Column("change", "", "what changes"),
    _same("peak_delay_ms", "ms", "largest queue delay until then"),
    _same("later_delay_ms", "ms", "mean queue delay in the later half"),
    _same("settling_s", "s", "until delay stays within twice that; null: it does not"),
    _same("utilised_s", "s", "until utilisation is 90 % over 0.1 s; null: it never is"),
)


def _recorded(table: str) -> tuple[Column, ...]:
    """Of a table that the engine writes."""
    return tuple(
        Column(name, unit, meaning)
        for of, name, unit, meaning in _native.recorded_columns()
        if of == table
    )


SERIES = (*QUEUE_LABELS, *_recorded("series"))
GROUP_SERIES = (*LABELS, *_recorded("group_series"))
STATISTICS = (*QUEUE_LABELS, *_recorded("statistics"))
EVENTS = _recorded("events")
DISTRIBUTIONS = (*QUEUE_LABELS, *_recorded("distributions"))
TRANSFERS = (*LABELS, *_recorded("transfers"))

_SIM, _LINUX = HOSTS
# Of an entry of `runs` in result.json and `--json`.
RUN = (
    *LABELS,
    Column("queues", "", "recorded queues: name, windows, and the two below"),
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
    Column("windows", "", "each window: the columns of windows.parquet; drops and marks by reason"),
    Column(
        "steps",
        "",
        "each change: the columns of steps.parquet, what changes as a list of tables",
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
