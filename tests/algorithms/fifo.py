# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""fifo: model and C side by side."""

from __future__ import annotations

from typing import ClassVar

from models.fifo import Fifo
from models.queue import Discipline, Judge
from tests.models.beside import Beside, common
from tests.models.library import Case


class BesideFifo(Beside):
    """Nothing but the limits."""

    algorithm = "fifo"
    in_flows: ClassVar = {}
    settings: ClassVar = ({"limit": 40}, {"limit": 10_000, "limit_bytes": 20_000})

    def model(self, case: Case, judge: Judge) -> Discipline:
        return Fifo(**common(case, judge))


BESIDE = BesideFifo()
