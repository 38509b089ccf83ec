# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The public surface is small and sorted, and the stub of the native module is true."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest
import sojourn
from packaging.specifiers import SpecifierSet
from sojourn import _native


def test_what_is_public_is_exported_and_sorted() -> None:
    assert sojourn.__all__ == sorted(sojourn.__all__)
    assert all(hasattr(sojourn, name) for name in sojourn.__all__)


def test_every_library_of_the_lock_runs_on_the_oldest_python_that_is_promised() -> None:
    """Debian 12 has 3.11.2: a library that wants 3.11.5 ends `make demo` there."""
    wanted = {
        found.name: found.metadata["Requires-Python"]
        for found in distributions()
        if "Requires-Python" in found.metadata
    }
    assert len(wanted) > 20
    assert not [name for name, versions in wanted.items() if "3.11.0" not in SpecifierSet(versions)]


def test_the_stub_names_every_function_and_argument_of_the_native_module() -> None:
    stub = ast.parse((Path(sojourn.__file__).parent / "_native.pyi").read_text())
    classes = [node for node in stub.body if isinstance(node, ast.ClassDef) and not node.bases]
    assert functions_of(stub) == called_of(_native)
    assert {node.name for node in classes} == {
        name for name, value in vars(_native).items() if isinstance(value, type)
    }
    for node in classes:
        described = functions_of(node)
        own = getattr(_native, node.name)
        if "__new__" in described:
            assert described.pop("__new__")[1:] == list(inspect.signature(own).parameters)
        else:
            with pytest.raises(TypeError, match="cannot create"):
                own()
        assert described == called_of(own)


def functions_of(node: ast.Module | ast.ClassDef) -> dict[str, list[str]]:
    return {
        inner.name: [argument.arg for argument in inner.args.args]
        for inner in node.body
        if isinstance(inner, ast.FunctionDef)
    }


def called_of(holder: object) -> dict[str, list[str]]:
    return {
        name: list(inspect.signature(function).parameters)
        for name, function in vars(holder).items()
        if callable(function) and not isinstance(function, type) and not name.startswith("__")
    }


def test_the_names_of_the_package_complete() -> None:
    code = "import sojourn; print(*dir(sojourn))"
    said = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert said == sojourn.__all__


def test_the_help_of_a_public_function_has_no_name_or_address_of_its_inside() -> None:
    public = [getattr(sojourn, name) for name in sojourn.__all__]
    functions = [found for found in public if not isinstance(found, type)]
    assert len(functions) > 8
    for found in functions:
        written = str(inspect.signature(found))
        assert " at 0x" not in written and "<" not in written, found
        assert not set(re.findall(r"(\w+)\.\w", written)) - {"os"}, written


SCRIPT = """
import sys, sojourn
result = sojourn.run(sojourn.load(sys.argv[1]), aqms=["codel", "pie"], seeds=3, workers=2)
print(result, result.runs[0])
"""


@pytest.mark.parametrize("way", ["file", "stdin"])
def test_a_script_needs_no_main_guard(way: str, small: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(script) if way == "file" else "-", str(small)],
        input=SCRIPT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    assert (
        "<Result: 6 runs of codel, pie; 3 seeds> <Run: aqm codel, seed 1, host sim>" in done.stdout
    )
