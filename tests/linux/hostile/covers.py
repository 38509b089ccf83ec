# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""covers.py: what the digest of the storm rests on."""

from __future__ import annotations

from pathlib import Path

from sojourn.linux.uml.build import SANITIZERS
from sojourn.linux.uml.module import core_sources

from tests.models.digest import Digest, hash_of
from tests.models.library import ROOT

HERE = Path(__file__).resolve().parent
COMMAND = "python -m tests.linux.hostile"
DIGEST = Digest(HERE / "digest.toml", COMMAND)


def covers() -> str:
    """Hash of what the result rests on."""
    core = core_sources(ROOT / "aqm")
    qdisc = [*(ROOT / "linux/qdisc").glob("*.[ch]"), ROOT / "linux/qdisc/Kbuild"]
    own = [*HERE.glob("*.[ch]"), *HERE.glob("[a-z]*.py"), HERE.parent / "aftermath.py"]
    own = [path for path in own if not path.name.startswith("test_")]
    return hash_of([*core, *qdisc, *own, *SANITIZERS.parent.glob("*.config")])
