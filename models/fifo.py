# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""fifo: first in, first out, the last one dropped when full. Both limits are the queue's own."""

from __future__ import annotations

from models.queue import Discipline


class Fifo(Discipline):
    """A queue that only overflows."""
