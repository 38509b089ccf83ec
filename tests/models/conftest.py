# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The models are a folder of the repository, not an installed package. A comparison makes some
hundred thousand small objects; to look for cycles among them takes a sixth of its time."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
gc.set_threshold(1_000_000)
