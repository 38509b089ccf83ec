# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Answers of the model and of the core, one for each step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def assert_same(step: str, model: NDArray[Any], core: NDArray[Any]) -> None:
    differs = np.flatnonzero(core != model)
    at = int(differs[0]) if len(differs) else 0
    assert not len(differs), f"{step} {at}: model {model[at]}, core {core[at]}"
