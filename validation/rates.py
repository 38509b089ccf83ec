# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""rates.py: each algorithm on a very slow link, on a very fast one, and on one whose rate dips.

    python -m validation.rates [--renew]

prints the table of docs/reference/rates.md, or renews it there; half a minute. tests/test_rates.py
holds the algorithms to it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import sojourn
from sojourn import algorithms

PAGE = Path(__file__).parents[1] / "docs/reference/rates.md"
BEGIN = "<!-- rates: made by `python -m validation.rates --renew` -->\n"
END = "<!-- end of rates -->"

SLOW = """
format = 2
name = "slow"
duration = "900 s"

[dumbbell]
rate = "10 kbit/s"
rtt = "100 ms"
aqm = "codel"

[[dumbbell.flows]]
count = 2

[record]
windows = [{ name = "late", from = "100 s", to = "900 s" }]
"""

FAST = """
format = 2
name = "fast"
duration = "0.4 s"

[dumbbell]
rate = "100 Gbit/s"
rtt = "1 ms"
aqm = "codel"

[[dumbbell.flows]]
count = 20

[record]
windows = [{ name = "late", from = "0.2 s", to = "0.4 s" }]
"""

DIPS = """
format = 2
name = "dips"
duration = "60 s"

[dumbbell]
rate = "20 Mbit/s"
rtt = "50 ms"
aqm = "codel"
schedule = [{schedule}]

[[dumbbell.flows]]
count = 10

[record]
windows = [
    {{ name = "before", from = "2 s", to = "10 s" }},
    {{ name = "dips", from = "12 s", to = "60 s" }},
]
""".format(
    schedule=", ".join(
        f'{{ at = "{at}.{tenth} s", rate = "{rate} Mbit/s" }}'
        for at in range(10, 60, 2)
        for tenth, rate in ((0, 1), (1, 20))
    )
)

# What each of them needs there. At 10 kbit/s 20 packets are 24 s; at 100 Gbit/s and 1 ms 8,300 are
# what is on the way, and thresholds and references in packets have to be of that size.
SLOW_LIMIT = "limit=20"
SLOW_ROWS = {"asqm": "target=5s", "avq": "accepted=true,alpha=0.01"}
FAST_LIMIT = "limit=20000"
FAST_ROWS = {
    "afd": "qref=10MB,interval=100us",
    "an_aqm": "qref=8000,interval=500us",
    "avq": "buffer=3MB",
    "choke": "min=4000,max=12000",
    "gchoke": "min=4000,max=12000",
    "lqd": "qref=4000",
    "pi": "qref=8000,a=1.822e-7,b=1.816e-7,interval=500us",
    "red": "min=4000,max=12000",
    "rem": "qref=4000",
    "rio_ps": "long_min=4000,long_max=12000,short_min=4000,short_max=12000",
    "sfb": "bin_target=4000,bin_max=5000",
}
DIPS_ROWS = {"avq": "buffer=30kB"}

# Of which a page says why: by its law duk leaves an ideal wire idle, and an_aqm one that dips.
IDLE = {"duk"}
IDLE_IN_DIPS = {"an_aqm"}


def spec(name: str, *rows: str) -> str:
    """As behind `--aqm`."""
    words = ",".join(filter(None, rows))
    return f"{name}:{words}" if words else name


def slow(name: str) -> str:
    return spec(name, SLOW_LIMIT, SLOW_ROWS.get(name, ""))


def fast(name: str) -> str:
    return spec(name, FAST_LIMIT, FAST_ROWS.get(name, ""))


def dipping(name: str) -> str:
    return spec(name, DIPS_ROWS.get(name, ""))


def used_pct(scenario: str, aqm: str) -> tuple[float, ...]:
    """Utilisation in each window."""
    (run,) = sojourn.run(sojourn.loads(scenario), aqms=[aqm], workers=1)
    (queue,) = run.report["queues"]
    return tuple(window["utilisation_pct"] for window in queue["windows"])


def lines() -> Iterator[str]:
    """The table."""
    yield "| 10 kbit/s | used | 100 Gbit/s | used | with dips | used before, and with them |"
    yield "|---|---|---|---|---|---|"
    for name in algorithms.algorithms():
        cells: list[str] = []
        for scenario, aqm in ((SLOW, slow(name)), (FAST, fast(name)), (DIPS, dipping(name))):
            used = ", ".join(f"{min(pct, 100):.1f} %" for pct in used_pct(scenario, aqm))
            cells += [f"`{aqm}`", used]
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    """Print it, or put it into the page."""
    parser = argparse.ArgumentParser(description="Each algorithm on extreme links.")
    parser.add_argument("--renew", action="store_true", help="write docs/reference/rates.md")
    text = "\n".join(lines()) + "\n"
    if not parser.parse_args().renew:
        print(text, end="")
        return
    head, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(head + BEGIN + text + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
