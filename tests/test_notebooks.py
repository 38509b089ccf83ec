# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The notebooks run from an empty folder, and hold no outputs that could grow stale."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "docs/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def read(path: Path) -> Any:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def outputs(notebook: Any) -> str:
    return "\n".join(str(cell.outputs) for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs_and_its_links_lead_somewhere(path: Path) -> None:
    notebook = read(path)
    for cell in notebook.cells:
        assert cell.cell_type == "markdown" or not (cell.outputs or cell.execution_count)
        for target in re.findall(r"\]\(([^)#]+)", cell.source):
            assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_an_empty_folder(path: Path, tmp_path: Path) -> None:
    notebook = read(path)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=200, kernel_name="python3", resources=resources).execute()
    said = outputs(notebook)
    assert "image/png" in said
    assert {"tutorial": "(True, 9)", "comparison": "'text/plain': 'True'"}[path.stem] in said
    if path.stem == "comparison":  # its last numbers have an answer
        assert said.count("ms, shown: True") > said.count("ms, shown: False")


def test_both_notebooks_are_there() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["comparison", "tutorial"]
