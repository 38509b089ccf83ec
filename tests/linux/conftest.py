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
    """Override the fixture that gives each test an empty cache: the user's holds the kernel, which
    takes minutes to build."""


def built(*, devices: bool = False) -> uml.Built:
    source = os.environ.get("SOJOURN_KERNEL_SOURCE")
    if not source and not uml.archive_here():
        pytest.skip(f"no kernel source: apt install {uml.PACKAGE}")
    return uml.build(Path(source) if source else None, devices=devices)


@pytest.fixture(scope="session")
def kernel() -> uml.Built:
    return built()


@pytest.fixture(scope="session")
def devices_kernel() -> uml.Built:
    """Build the kernel with linux/uml/devices.config, for cases with tunnels, VRFs, policies
    of IPsec and firewalls."""
    return built(devices=True)


@pytest.fixture(scope="session")
def sojourn_ko(kernel: uml.Built) -> Path:
    """The module, with further algorithms for cases that no published one reaches."""
    return module(kernel, OWN)


@pytest.fixture(scope="session")
def devices_ko(devices_kernel: uml.Built) -> Path:
    """Build the module for that kernel, with the same further algorithms."""
    return module(devices_kernel, OWN)
