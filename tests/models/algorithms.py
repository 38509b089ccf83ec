# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Each algorithm's model beside its C: rows to quantities, statistics to state, tolerances."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from models.codel import CoDel
from models.fifo import Fifo
from models.queue import Discipline, Judge
from tests.models.beside import NS, Beside, plain
from tests.models.library import Case


def common(case: Case, judge: Judge) -> dict[str, Any]:
    """Rows of the queue itself."""
    return {
        "limit_pkts": case.rows.get("limit", 1000),
        "limit_bytes": case.rows.get("limit_bytes", math.inf),
        "ecn": bool(case.rows.get("ecn", 0)),
        "judge": judge,
    }


class BesideFifo(Beside):
    """Nothing but the limits."""

    algorithm = "fifo"

    def model(self, case: Case, judge: Judge) -> Discipline:
        return Fifo(**common(case, judge))


class BesideCoDel(Beside):
    """The core's 1/sqrt is exact to 2^-16; the schedule adds one such error per signal."""

    algorithm = "codel"
    signal_if_below = {"drop_next": False}
    columns = {"count": plain, "dropping": plain}
    # In long overload: 2 * 15 us of slack, signals one or two packet times of 0.6 ms apart.
    tie_share = 0.05

    def model(self, case: Case, judge: Judge) -> Discipline:
        return CoDel(
            target_s=case.rows.get("target", 5_000_000) * NS,
            interval_s=case.rows.get("interval", 100_000_000) * NS,
            mtu=case.mtu,
            **common(case, judge),
        )

    def slack(self, model: CoDel) -> dict[str, float]:
        # The n-th spacing errs by interval / n * 2^-16 and one nanosecond.
        steps = max(1, model.count)
        return {"drop_next": model.interval_s * 2**-16 * (2 + math.log(steps)) + steps * NS}

    def state(self, model: CoDel) -> list[tuple[float, float]]:
        return [(model.count, 0), (model.dropping, 0)]


ALGORITHMS: Mapping[str, Beside] = {how.algorithm: how for how in (BesideFifo(), BesideCoDel())}
