# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A new recording of the kernel's own qdiscs; the models follow it too."""

from __future__ import annotations

from pathlib import Path

import pytest
from sojourn.linux.uml.build import Built

from tests.linux.witness import NAMES, record
from tests.models.follow import follow
from tests.models.witnessed import load, with_times

# The first case may have to build a kernel.
pytestmark = [pytest.mark.timeout(1800), pytest.mark.deep]


@pytest.mark.parametrize("name", NAMES)
def test_the_model_follows_a_new_recording(name: str, kernel: Built, tmp_path: Path) -> None:
    anew = with_times(record(kernel, name, tmp_path))
    assert follow(name, anew).drops > 30
    kept = load(name)
    if str(kept["release"]) == kernel.release:
        for column, values in anew.items():
            assert (kept[column] == values).all(), f"{column}: python -m tests.linux.witness {name}"
