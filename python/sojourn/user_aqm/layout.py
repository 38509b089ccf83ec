# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The layout of users' files for the build of the module, which copies them over `aqm/`.

An algorithm becomes NAME.c under any name of its file. A changed copy of one of ours therefore
replaces ours, in a module of its own. Headers keep their places relative to the file or its tree.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from sojourn.core.algorithm import Library
from sojourn.core.errors import InputError
from sojourn.store.store import write_errors
from sojourn.user_aqm import compiler
from sojourn.user_aqm.library import shown


def lay_out(files: Sequence[Library]) -> list[Path]:
    """Make a folder for each file. Raise InputError if two algorithms have the same name."""
    names = Counter(file.name for file in files)
    for file in files:
        if names[file.name] > 1:
            same = " and ".join(shown(f.file) for f in files if f.name == file.name)
            raise InputError(f"{same} are both '{file.name}', which a kernel cannot tell apart")
    return [_lay_out(file) for file in files]


def _lay_out(file: Library) -> Path:
    folder = file.folder / "linux"
    if not folder.exists():
        with write_errors(folder):
            beside = Path(tempfile.mkdtemp(prefix="linux-", dir=file.folder))
            _copy(file, beside)
            try:
                beside.rename(folder)
            except OSError:
                if not folder.exists():
                    raise
                shutil.rmtree(beside)
    return folder


def _copy(file: Library, folder: Path) -> None:
    roots = [Path(flag[2:]).resolve() for flag in compiler.include_flags(file.file)]
    home = folder / "algorithms" if (roots[-1] / "algorithms").is_dir() else folder
    home.mkdir(exist_ok=True)
    shutil.copy2(file.parts[0], home / f"{file.name}.c")
    for part in file.parts[1:]:
        place = part.resolve()
        if place.is_relative_to(roots[-1]):
            continue  # ours, which the module has
        for root in (*roots, file.file.parent.resolve()):
            if place.is_relative_to(root):
                of = folder if root in roots else home
                target = of / place.relative_to(root)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(place, target)
                break
        else:
            raise InputError(
                f"{shown(file.file)} includes {shown(part)}; a kernel's build takes headers from "
                "the folder of the file, or from below it"
            )
