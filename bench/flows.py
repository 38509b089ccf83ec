# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What a packet costs with ten to ten thousand connections, beside the engine of the first version.

    python -m bench.flows [--turns N]

Both engines are built from their trees with a profile, as a release is, and take turns, so that a
busy machine is busy for both. The network is crates/sim/examples/profile/fifo.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from sojourn.bench.command import timed_process

from bench.machine import processor

ROOT = Path(__file__).parents[1]
FIRST = "07c8c2f"
SCENARIO = Path("crates/sim/examples/profile/fifo.json")
FLOWS = (10, 100, 1_000, 10_000)
SECONDS = 60
# What a packet sent may cost at most, as a multiple of the first engine's with ten flows.
GOALS = {1_000: 1.6, 10_000: 2.5}


def built(tree: Path, scratch: Path) -> Path:
    """The engine alone, for a scenario in JSON (crates/sim/examples/run.rs)."""
    profile = subprocess.check_output([tree / "tools/profile.sh"], text=True).strip()
    flags = f"{os.environ.get('RUSTFLAGS', '')} {profile}".strip()
    # The profile was made by a build of these packages.
    words = "cargo build --release --locked --quiet -p sojourn-py -p sojourn-sim --example run"
    subprocess.run(
        [*words.split(), "--target-dir", scratch],
        cwd=tree,
        env={**os.environ, "RUSTFLAGS": flags},
        check=True,
    )
    return scratch / "release/examples/run"


def first_tree(folder: Path) -> Path:
    """The tree of the first version."""
    archive = subprocess.check_output(["git", "-C", ROOT, "archive", FIRST])
    tree = folder / "first"
    tree.mkdir()
    subprocess.run(["tar", "-x", "-C", tree], input=archive, check=True)
    return tree


def scenario(tree: Path, flows: int, path: Path) -> Path:
    """That of the tree's profile with so many flows; the first version has the unit in each key."""
    network = json.loads((tree / SCENARIO).read_text())
    network["duration" if "duration" in network else "duration_ns"] = SECONDS * 10**9
    network["flows"][0]["count"] = flows
    path.write_text(json.dumps(network))
    return path


def us_per_packet(engine: Path, network: Path, folder: Path) -> float:
    """User CPU for each packet that was sent, acknowledgements among them."""
    output, cpu_s, _ = timed_process([str(engine), str(network), "1"], folder)
    return cpu_s * 1e6 / int(json.loads(output)["conservation"]["born"])


def measured(engines: Mapping[Path, Path], turns: int, folder: Path) -> dict[int, list[float]]:
    """By flows, the least of all turns of each tree's engine."""
    least: dict[int, list[float]] = {}
    for _ in range(turns):
        for flows in FLOWS:
            costs_us = []
            for nth, (tree, engine) in enumerate(engines.items()):
                network = scenario(tree, flows, folder / f"{nth} {flows}.json")
                costs_us.append(us_per_packet(engine, network, folder))
            least[flows] = list(map(min, costs_us, least.get(flows, costs_us)))
    return least


def main() -> None:
    """A table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--turns", type=int, default=5, metavar="N")
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory(prefix="sojourn-bench-") as scratch:
        folder = Path(scratch)
        trees = [first_tree(folder), ROOT]
        engines = {tree: built(tree, folder / f"target {nth}") for nth, tree in enumerate(trees)}
        least = measured(engines, turns, folder)
    base = least[FLOWS[0]][0]
    print(f"{processor()}; {turns} turns of {SECONDS} s\n")
    print(f"| flows | {FIRST}, us | now, us | now, of {FIRST} with 10 flows | goal |")
    print("|--:|--:|--:|--:|--:|")
    for flows, (first, now) in least.items():
        goal = GOALS.get(flows)
        verdict = "" if goal is None else f"{goal} {'met' if now <= goal * base else 'missed'}"
        print(f"| {flows:,} | {first:.4f} | {now:.4f} | {now / base:.2f} | {verdict} |")


if __name__ == "__main__":
    main()
