# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The kernel in virtual time and the module for it, made once.

Debian's 6.12 is the kernel; SOJOURN_KERNEL_SOURCE names another tree or archive, as in
SOJOURN_KERNEL_SOURCE=/usr/src/linux-source-6.1.tar.xz pytest tests/linux
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sojourn.linux.uml import build as uml
from sojourn.linux.uml.module import module

from tests.linux.guest import OWN


@pytest.fixture(autouse=True)
def own_store() -> None:
    """These tests use the user's cache: it holds the kernel, which takes minutes to build."""


@pytest.fixture(scope="session")
def kernel() -> uml.Built:
    if source := os.environ.get("SOJOURN_KERNEL_SOURCE"):
        return uml.build(Path(source))
    if not uml.archive_here():
        pytest.skip(f"no kernel source: apt install {uml.PACKAGE}")
    return uml.build()


@pytest.fixture(scope="session")
def sojourn_ko(kernel: uml.Built) -> Path:
    """The module, with further algorithms for cases that no published one reaches."""
    return module(kernel, OWN)
