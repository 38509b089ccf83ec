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
