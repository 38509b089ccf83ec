# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The public surface is small and sorted, and the stub of the native module is true."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import sojourn
from sojourn import _native


def test_what_is_public_is_exported_and_sorted() -> None:
    assert sojourn.__all__ == sorted(sojourn.__all__)
    assert all(hasattr(sojourn, name) for name in sojourn.__all__)


def test_the_stub_names_every_function_and_argument_of_the_native_module() -> None:
    stub = ast.parse((Path(sojourn.__file__).parent / "_native.pyi").read_text())
    described = {
        node.name: [argument.arg for argument in node.args.args]
        for node in stub.body
        if isinstance(node, ast.FunctionDef)
    }
    native = {
        name: list(inspect.signature(function).parameters)
        for name, function in vars(_native).items()
        if callable(function)
    }
    assert described == native
