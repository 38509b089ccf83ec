# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""covers.py: what the digest of the storm rests on."""

from __future__ import annotations

from pathlib import Path

from tests.linux.sources import queue_sources
from tests.models.digest import Digest, hash_of

HERE = Path(__file__).resolve().parent
COMMAND = "python -m tests.linux.hostile"
DIGEST = Digest(HERE / "digest.toml", COMMAND)


def covers() -> str:
    """Hash of what the result rests on: the queue, the module and the storms."""
    own = [*HERE.glob("*.[ch]"), *HERE.glob("[a-z]*.py"), HERE.parent / "aftermath.py"]
    own = [path for path in own if not path.name.startswith("test_")]
    return hash_of([*queue_sources(), *own])
