# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn demo`: bufferbloat and its cure, in a few lines and a page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sojourn.result.metrics import GROUP_METRICS, METRICS
from sojourn.result.result import Run
from sojourn.runs.run import run
from sojourn.scenario import load
from sojourn.scenario.known_scenario import ROOT
from sojourn.show.figures import write
from sojourn.store.store import write_errors

SCENARIO = "home"
AQMS = ("fifo", "codel", "fq_codel")
_QUEUE, _WINDOW = "bottleneck", "load"
_CALL_DELAY = next(metric for metric in GROUP_METRICS if metric.name == "delay_ms")
_NEXT = (
    ("source .venv/bin/activate", ""),
    ("sojourn new --scenario home", "this network as a file of yours"),
    ("sojourn run home.toml --aqm fifo --aqm pie --plot page.html", ""),
    ("sojourn reproduce duk/1", "a paper, beside its printed numbers"),
)


@dataclass(frozen=True)
class Row:
    """One algorithm on the home link."""

    aqm: str
    call_ms: float
    queue_ms: float
    downloads_mbps: float

    @classmethod
    def from_run(cls, run: Run) -> Row:
        """Read the numbers of one run."""
        queue_delay = METRICS["queue_delay_mean_ms"].of_run(run, _QUEUE, _WINDOW)
        goodput = METRICS["goodput_tcp_mbps"].of_run(run, _QUEUE, _WINDOW)
        call = _CALL_DELAY.of_run(run, "call", _WINDOW)
        return cls(str(run.labels["aqm"]), call, queue_delay, goodput)

    def __str__(self) -> str:
        return (
            f"  {self.aqm:9}{self.call_ms:13.0f} ms{self.queue_ms:15.{int(self.queue_ms < 10)}f} ms"
            f"{self.downloads_mbps:12.1f} Mbit/s"
        )


def demo(out: Path) -> None:
    """Run the home link with each algorithm, print a row of each, and write the page."""
    scenario = load(ROOT / f"{SCENARIO}.toml")
    print(f"{scenario.description[0].upper()}{scenario.description[1:]}.\n")
    result = run(scenario, aqms=AQMS)
    rows = [Row.from_run(of_aqm) for of_aqm in result]
    print(f"  {'':9}{'the call waits':>16}{'the queue holds':>18}{'downloads get':>19}")
    print(f"{rows[0]}   <- bufferbloat", *rows[1:], sep="\n")
    fifo, best = rows[0], min(rows, key=lambda row: row.call_ms)
    lead = (
        f"A full drop-tail queue (fifo) makes a call wait {fifo.call_ms:.0f} ms: that is "
        f"bufferbloat. With {best.aqm} the same downloads get {best.downloads_mbps:.1f} in place "
        f"of {fifo.downloads_mbps:.1f} Mbit/s, and the call waits {best.call_ms:.0f} ms."
    )
    with write_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    page = out / "page.html"
    write({"": result}, page, ("delay",), lead=lead)
    times = fifo.call_ms / best.call_ms
    print(f"\nThe same downloads, and a call with 1/{times:.0f} of the delay. Look: {page}")
    print("Next:")
    for command, remark in _NEXT:
        print(f"  {command:61} {remark}".rstrip())
