# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""FQ-CoDel: RFC 8290. The scheduler of section 4 (flow_queue.py) with CoDel in each queue.

Parameters are those of section 5.2; a marked packet counts as one that CoDel signalled to, as in
section 5.2.6 with ECN on.
"""

from __future__ import annotations

from typing import Any

from models.codel import CoDel
from models.flow_queue import BATCH, FlowQueue


class FqCoDel(FlowQueue):
    """1024 queues, a quantum of one full-sized frame, 10240 packets in all (section 5.2)."""

    def __init__(
        self,
        *,
        codel: type[CoDel] = CoDel,
        flows: int = 1024,
        quantum: int = 1514,
        limit_pkts: float = 10240,
        limit_bytes: float = float("inf"),
        ecn: bool = True,
        drop_batch: int = BATCH,
        **each: Any,
    ) -> None:
        super().__init__(
            lambda: codel(ecn=ecn, **each),
            flows=flows,
            quantum=quantum,
            limit_pkts=limit_pkts,
            limit_bytes=limit_bytes,
            drop_batch=drop_batch,
        )
