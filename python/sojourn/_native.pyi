# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The engine and the C core, compiled. Private: use the modules of `sojourn` instead."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self, TypedDict, final

class Row(TypedDict):
    name: str
    help: str
    unit: str
    kind: str
    default: int
    min: int
    max: int
    choices: list[str]
    fixed: bool
    attr: int

class Algorithm(TypedDict):
    name: str
    brief: str
    source: str
    marks: bool
    acts: list[str]
    samples: bool
    probes: bool
    needs_rate: bool
    defaults: dict[str, int]
    params: list[Row]
    stats: list[Row]

class TrafficKey(TypedDict):
    name: str
    unit: str
    words: list[str]
    least: float
    most: float
    needed: bool
    default: float | str | list[float] | None
    help: str

class TrafficKind(TypedDict):
    name: str
    help: str
    transports: list[str]
    keys: list[TrafficKey]

def core_version() -> str:
    """Version of the engine and a digest of the sources it was built from."""

def algorithms() -> list[Algorithm]:
    """Every algorithm of the C core, with its rows."""

def units() -> list[tuple[str, str, int, int, str]]:
    """What rows are counted in: name, base, and a number of the base as canonical numbers:
    number * multiplier / divisor. The note says what cannot be read off the unit."""

def load(path: str, name: str) -> Algorithm:
    """Loads the algorithm of a library, to be known as `name`. ValueError: why it cannot be."""

def queue_rows() -> list[Row]:
    """The rows of the queue itself, which every algorithm shares."""

def traffic() -> list[TrafficKind]:
    """Every kind of traffic, with its keys: in base units, ranges too."""

def reason_names() -> list[str]:
    """The reasons for a drop or a mark, in the order of their numbers."""

def bad_names() -> list[str]:
    """The rules that a verdict can break, in the order of their numbers."""

def check(algorithm: str, rows: dict[str, int]) -> tuple[str | None, str, int, int] | None:
    """None if a queue can be made of this; else the row refused, the sentence and the range."""

def tcp_options() -> str:
    """JSON of every switch of the TCP, at its default."""

def congestion_controls() -> list[str]:
    """The names of the congestion controls."""

def check_scenario(scenario: str) -> list[tuple[str, str, tuple[str, list[str]] | None]]:
    """Nothing if the engine can run this scenario (JSON); else each key at fault, with the
    reason; of a name that nothing has also the name, and those that there are."""

def run(
    scenario: str,
    seed: int,
    progress: Callable[[float], bool] | None = None,
    transfers: Path | None = None,
) -> tuple[str, dict[str, bytes]] | None:
    """One run. `progress` gets the share done about every 50 ms and answers whether to go on.
    Where the scenario records transfers, their table grows in the file `transfers` meanwhile.

    Gives the report as JSON and Parquet files by name: the recorded queues' series, distributions
    of delays and times, packet events where they are asked for, and, where there are rows, the
    series of groups and the algorithms' statistics; None if `progress` said stop. ValueError: the
    engine's sentence. OSError: `transfers` cannot be written.
    """

def recorded_columns() -> list[tuple[str, str, str, str]]:
    """Of each column of the Parquet files of `run`: the table ('series', 'events', 'statistics',
    'group_series', 'distributions', 'transfers'), name, unit, meaning."""

def statistics_file(
    statistics: Sequence[tuple[str, str, str, str, Sequence[int], Sequence[float]]],
) -> bytes | None:
    """`statistics.parquet` of another host; None where nothing was read. Of each statistic its
    queue, its name, the unit of the core's rows in which it is, or else an empty word and the unit
    to show; then when it was read (ns) and what it was."""

def group_series_file(
    groups: Sequence[tuple[str, Sequence[tuple[int, int, int, int, int, int, int, int]]]],
) -> bytes | None:
    """`group_series.parquet` of another host; None where there is no step. Of each group its
    name, and readings: time (ns), payload delivered so far to the ends `from` and `to`, flows,
    flows that were looked at, and of their connections the number, the sum of congestion windows
    and the sum of smoothed round trips (us)."""

def group_series_every(steps: int, groups: int) -> tuple[int, int]:
    """Of how many steps of the series one has rows of groups, and at how many flows of a group at
    most is looked then."""

@final
class Scenario:
    """A scenario (JSON), read and checked once for all that another host needs of the engine.
    ValueError: what is wrong."""

    def __new__(cls, scenario: str) -> Self: ...
    def ways(self, seed: int) -> list[tuple[list[int], list[int], list[int], list[int]]]:
        """Of each group of flows: numbers of its links there and back; of each of its flows the
        start, and what its own round trip adds to the delays of the links (ns)."""

    def scripts(self, seed: int) -> list[list[str]]:
        """For each group of flows the scripts of its flows, as linux/uml/play.c reads them.
        ValueError: they are too long, or no host can keep one."""

    def probe_ways(self) -> list[tuple[int, str, list[int], list[int], str]]:
        """By queue with an algorithm that probes: the number of its link, its name in results, the
        links behind its own to the responder, those back, and the responder's node."""

    def flows(self, played: str) -> Flows:
        """The flows by what linux/uml/play.c wrote of them. RuntimeError: the line that is not of
        this scenario."""

    def observe(
        self,
        queues: Sequence[
            tuple[
                str,
                tuple[str, int] | None,
                bool,
                tuple[bytes, bytes, bytes, bool, bool] | tuple[str, bytes | None],
            ]
        ],
        log: bytes,
        zero_ns: int,
        flows: Flows,
    ) -> tuple[str, dict[str, bytes]]:
        """Measures queues of another host. Of each its link, name and rate of a ring below it, and
        whether it has a report, as against sharing a ring with one that has. Then, seen from
        outside, the logs of its arrivals, departures and counted drops, whether its algorithm acts
        at the head, and whether it keeps the order of each flow's packets only; or its name in
        `log`, what the queues themselves logged, `zero_ns` being the start of the run there, and
        the log of what left a shaper that holds packets back. Gives the queues' reports as JSON and
        Parquet files as `run` does; of `flows` the distributions of times."""

@final
class Flows:
    """The flows of another host."""

    def report(self) -> str:
        """`flows`, `transport` and what is reckoned of all flows, as in the report of `run`
        (JSON)."""

    def write_transfers(self, path: Path) -> None:
        """The table that `run` writes. OSError: `path` cannot be written."""

def fairness(shares: Sequence[float]) -> tuple[float, float | None]:
    """Of what flows were given: Jain's index, and the least share over the mean; None of
    nothing."""

__all__: list[str]
