# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The laws of algorithms by themselves: each C file here is compiled and run.

python -m bench.laws
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function")


def main() -> None:
    """One line for each law."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "law"
        for source in sorted(HERE.glob("*.c")):
            include = f"-I{HERE.parents[1] / 'aqm'}"
            subprocess.run(["gcc", *FLAGS, include, source, "-o", program], check=True)
            print(f"{source.stem}:", subprocess.check_output([program], text=True).strip())


main()
