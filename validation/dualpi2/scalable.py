# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""scalable.py: DCTCP with ECT(1) beside Classic flows in DualPI2, on both hosts.

    python -m validation.dualpi2.scalable [--renew]

prints a table, or renews it in docs/reference/algorithms/dualpi2.md; some minutes. Nothing is kept
beside the page: a test of the two hosts (tests/linux/test_l4s.py) has narrower runs.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean, stdev

import numpy as np
import sojourn
from sojourn.core.text import markdown
from sojourn.result.result import Run

from validation.dualpi2.page import cell, put

MARKS = ("scalable: made by `python -m validation.dualpi2.scalable --renew`", "end of scalable")
SEEDS, FROM_S, DURATION_S = 3, 20, 60
SCENARIO = """
format = 2
name = "scalable and classic flows"
duration = "{duration_s} s"

[dumbbell]
rate = "{rate_mbps} Mbit/s"
rtt = "{rtt_ms} ms"
aqm = {{ algorithm = "dualpi2", spared = 0{rows} }}

[[dumbbell.flows]]
name = "scalable"
count = {each}
transport = {{ kind = "tcp", cc = "dctcp", ecn = {ecn} }}
{jitter}

[[dumbbell.flows]]
name = "classic"
count = {each}
transport = {{ kind = "tcp", cc = "{classic}" }}
{jitter}

[record]
windows = [{{ name = "steady", from = "{from_s} s", to = "{duration_s} s" }}]
events = true
"""
HEADS = [
    "Mbit/s",
    "round trip",
    "flows",
    "host",
    "delay of DCTCP: mean, 99 %",
    "of Classic",
    "link",
    "DCTCP, Classic: Mbit/s a flow",
    "ratio",
    "equation (10)",
]


@dataclass(frozen=True)
class Cell:
    """One scenario; `each` flows of either kind. A kernel delays no sender's packets: only the
    simulator has `jittered` ones."""

    rate_mbps: int = 40
    rtt_ms: int = 25
    each: int = 1
    classic: str = "cubic"
    ect1: bool = True
    rows: str = ""
    jittered: bool = False

    @property
    def text(self) -> str:
        """As a scenario."""
        fixed = {"from_s": FROM_S, "duration_s": DURATION_S}
        rows = f", {self.rows}" if self.rows else ""
        jitter = "" if self.jittered else 'sim = { send_jitter = "0 s" }'
        ecn = '"ect1"' if self.ect1 else "true"
        return SCENARIO.format(**vars(self) | fixed | {"rows": rows, "jitter": jitter, "ecn": ecn})

    @property
    def hosts(self) -> list[str]:
        """Where it can run."""
        return ["sim"] if self.jittered else ["sim", "linux"]

    @property
    def flows(self) -> str:
        """In words."""
        words = [f"{self.each} + {self.each} {self.classic}"]
        words += [] if self.ect1 else ["ECT(0)"]
        words += [f"`{self.rows}`"] * bool(self.rows) + ["`send_jitter`"] * self.jittered
        return ", ".join(words)


CELLS = [
    Cell(),
    Cell(jittered=True),
    Cell(rtt_ms=10),
    Cell(rtt_ms=10, rows='min_th = "8 ms"'),
    Cell(rtt_ms=50),
    Cell(classic="reno"),
    Cell(rate_mbps=4),
    Cell(rate_mbps=4, rows='min_th = "8 ms"'),
    Cell(rate_mbps=120, each=4),
    Cell(ect1=False),
]


@dataclass(frozen=True)
class Figures:
    """Of one run: DCTCP's, then the Classic flows'."""

    mean_ms: tuple[float, float]
    p99_ms: tuple[float, float]
    mbps: tuple[float, float]
    link_pct: float


def figures(run: Run) -> Figures:
    """Delays by packets: those of a Classic flow here are all Not-ECT."""
    events = run.events()
    assert events is not None
    at, enq, flow, ecn, why = (
        events[name].to_numpy() for name in ("at_ns", "enq_ns", "flow", "ecn", "why")
    )
    sent = (why == 0) & (at >= FROM_S * 10**9)
    scalable = np.isin(flow, np.unique(flow[ecn != 0]))
    delays = [(at - enq)[sent & of] / 1e6 for of in (scalable, ~scalable)]
    mbps = {
        name: fmean(
            f["goodput_mbps_of_windows"][0] for f in run.report["flows"] if f["name"] == name
        )
        for name in ("scalable", "classic")
    }
    return Figures(
        (float(delays[0].mean()), float(delays[1].mean())),
        (float(np.percentile(delays[0], 99)), float(np.percentile(delays[1], 99))),
        (mbps["scalable"], mbps["classic"]),
        run.report["queues"][0]["windows"][0]["utilisation_pct"],
    )


def row(of: Cell, host: str, found: list[Figures]) -> tuple[object, ...]:
    """One row of the table: means over the seeds."""
    mean = [fmean(f.mean_ms[i] for f in found) for i in range(2)]
    p99 = [fmean(f.p99_ms[i] for f in found) for i in range(2)]
    mbps = [fmean(f.mbps[i] for f in found) for i in range(2)]
    ratios = [f.mbps[0] / f.mbps[1] for f in found]
    expected = (of.rtt_ms + mean[1]) / (1.22 * (of.rtt_ms + mean[0]))
    return (
        of.rate_mbps,
        f"{of.rtt_ms} ms",
        of.flows,
        host,
        *(f"{cell(mean[i])}, {cell(p99[i])} ms" for i in range(2)),
        f"{fmean(f.link_pct for f in found):.1f} %",
        f"{cell(mbps[0])}, {cell(mbps[1])}",
        f"{fmean(ratios):.2f} ± {stdev(ratios):.2f}",
        f"{expected:.2f}" if of.ect1 else "",
    )


def rows() -> Iterator[tuple[object, ...]]:
    """Run everything; the rows of the table."""
    for of in CELLS:
        with tempfile.TemporaryDirectory(prefix="sojourn-") as folder:
            scenario = sojourn.loads(of.text)
            result = sojourn.run(scenario, hosts=of.hosts, seeds=SEEDS, out=folder, workers=1)
            runs = [(str(run.labels["host"]), figures(run)) for run in result]
        for host in of.hosts:
            yield row(of, host, [found for name, found in runs if name == host])


def main() -> None:
    """Print the table or renew the page's."""
    parser = argparse.ArgumentParser(description="DCTCP with ECT(1) beside Classic flows.")
    parser.add_argument("--renew", action="store_true", help="write it into the page")
    options = parser.parse_args()
    table = markdown(HEADS, rows()).splitlines()
    if options.renew:
        put(*MARKS, table)
    print("\n".join(table))


if __name__ == "__main__":
    main()
