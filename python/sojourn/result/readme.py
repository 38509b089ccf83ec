# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The README.md of a result's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sojourn import _native

if TYPE_CHECKING:
    from sojourn.result.result import Result

_README = """\
# A result of Sojourn

{again}* `result.json`: version, command, host, seeds, and the aggregates of every run (`runs`)
* `scenario.toml`: the scenario, before the changes of the command
* `windows.parquet`: one row for each run, queue and window
* `series.parquet`: one row for each run, queue and time, the raw series
* `group_series.parquet`: one row for each run, name of flows and time
* `statistics.parquet`: one row for each run, queue, statistic of its algorithm and time
* `flows.parquet`: one row for each run, flow and window
* `groups.parquet`: one row for each run, window and name of flows
* `distributions.parquet`: one row for each cell of a histogram of delays or times
* `steps.parquet`: one row for each run, queue and change, where the scenario changes
{own}{more}* `runs/`: each finished run with its scenario in full; the same command goes on here

    import pandas;  pandas.read_parquet("windows.parquet")
    import polars;  polars.read_parquet("series.parquet")
    import duckdb;  duckdb.sql("select aqm, avg(utilisation_pct) from 'windows.parquet' group by 1")

Delays are in milliseconds, rates in Mbit/s; drops and marks in percent of arriving
packets, utilisation in percent of what the link could have sent.
Made by Sojourn {core}.
"""
_OF_TRANSFERS = """\
* `transfers.parquet`: one row for each run and transfer
"""
_OF_OWN = """\
* `own/`: C files of yours, as they were run, each under its name and the digest of its content;
  `--aqm ./own/.../NAME.c` runs one again
"""
_OF_EXPERIMENTS = """\
* `report.html`, `reproduction.json`: measured beside published, and a verdict for each claim
* `figures/`: the numbers of the report's figures
"""
_AGAIN = """\
In this folder, this command repeats it:

    {command}

"""


def readme(result: Result) -> str:
    """Describe the files of the folder, and name the command that repeats the result."""
    command = result.meta.get("command")
    again = _AGAIN.format(command=command) if command else ""
    more = _OF_EXPERIMENTS if "experiment" in result.meta else ""
    own = _OF_OWN if any(run.entry.sources for run in result) else ""
    kept = any(run.entry.transfer_batches() for run in result)
    own = (_OF_TRANSFERS if kept else "") + own
    return _README.format(again=again, own=own, more=more, core=_native.core_version())
