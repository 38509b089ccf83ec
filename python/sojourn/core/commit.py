# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The commit of this package, by which a reader of a result finds its sources."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
# `make wheel` writes it; it is in no checkout.
_IN_WHEEL = _PACKAGE / "commit"


@functools.cache
def commit() -> str | None:
    """Return what `git describe` says of the checkout, or said where the wheel was built.
    None: neither is known, as in a source package."""
    checkout = _PACKAGE.parents[1]
    if not (checkout / ".git").exists():
        return _IN_WHEEL.read_text().strip() if _IN_WHEEL.exists() else None
    words = ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--tags"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
