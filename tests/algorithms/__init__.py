# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""All that tests know of each algorithm, in one module of its name; tests/models/beside.py
has the form of a module. Its tests are worked examples of its model."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from tests.models.beside import Beside


def find(name: str) -> Beside:
    found = import_module(f"{__name__}.{name}").BESIDE
    assert isinstance(found, Beside)
    return found


ALGORITHMS: Mapping[str, Beside] = {
    name: find(name) for name in sorted(module.name for module in iter_modules(__path__))
}
