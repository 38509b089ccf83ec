# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""guest.py: one case, in a guest of its own.

python -m tests.linux.guest CASE MODULE
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from tests.linux.net import CASES, DEVICES, EXPECTED, REAL_TIME, complaints, do

__all__ = ["CASES", "DEVICES", "OWN", "REAL_TIME"]

HERE = Path(__file__).resolve().parent
# Algorithms for the cases alone.
OWN = [HERE / "many.c", HERE / "spill.c"]

for path in sorted(HERE.glob("cases*.py")):
    import_module(f"tests.linux.{path.stem}")


def main() -> None:
    name, module = sys.argv[1:]
    do(f"insmod {module}")
    CASES[name]()
    expected = EXPECTED.get(name, ())
    heard = [line for line in complaints() if not any(word in line for word in expected)]
    assert not heard, heard


if __name__ == "__main__":
    main()
