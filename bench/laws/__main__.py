# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The laws of algorithms by themselves (sojourn.result.law).

python -m bench.laws
"""

from __future__ import annotations

from sojourn.result.law import cost, known


def main() -> None:
    """One line for each law."""
    for algorithm in known():
        found = cost(algorithm)
        assert found  # it is known
        print(
            f"{algorithm}: {found.million_per_s:.1f} million evaluations a second; "
            f"{found.divisions:.0f} divisions, {found.multiplications:.0f} multiplications"
        )


main()
