# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Networks that have a shorthand: a file for each, with its keys, its checks and its graph. This
list, the scenario's keys and the page of keys name them."""

from collections.abc import Mapping

from sojourn.scenario.networks.dumbbell import Dumbbell
from sojourn.scenario.networks.parking_lot import ParkingLot

Shorthand = Dumbbell | ParkingLot
NETWORKS: Mapping[str, type[Shorthand]] = {
    network.key: network for network in (Dumbbell, ParkingLot)
}
# Keys of networks that hold lists of tables.
TABLES = [key for network in NETWORKS.values() for key in network.tables]
# Keys of a graph, which a scenario with a shorthand does not have.
OF_GRAPH = ("nodes", "links", "flows")


def beside(network: str, key: str) -> str:
    """Say why a key of a graph cannot stand beside a shorthand."""
    reason = f"a scenario is either a [{network}] or a graph of nodes, links and flows"
    return f"{reason}; flows of a [{network}] are [[{network}.flows]]" if key == "flows" else reason
