# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What the tests of the package share: a store of their own, small scenarios and reproductions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.models import library
from tests.reproductions import beside, short

__all__ = ["beside", "short"]

SMALL = """\
format = 2
name = "small"
duration = "2 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "20 ms"
aqm = "codel"

[[dumbbell.flows]]
name = "bulk"
count = 2
"""


# Each process of several builds the core in a folder of its own.
library.BUILD /= os.environ.get("PYTEST_XDIST_WORKER", "")

# What takes longer to make than the tests with it: these share a process, where there are several.
SHARED = ("beside", "short")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Bring together what shares such a thing."""
    for item in items:
        for name in SHARED:
            if name in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.xdist_group("reproductions"))


@pytest.fixture(autouse=True)
def own_store(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or fills the user's store."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A scenario that takes a fraction of a second."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path
