# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Record the rates of classes in a guest: python -m tests.linux.record_trees [CASE ...]"""

from __future__ import annotations

import json
import sys

from sojourn.linux.run import run
from sojourn.scenario.engine import to_engine

from tests.trees import CASES, RECORDED, Case, frames_mbps, recorded

_HEAD = """\
# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Mbit/s of frames that Linux 6.12 gave each class of tests/trees.py in each window.
# Written by: python -m tests.linux.record_trees
"""


def on_linux(case: Case) -> dict[str, list[float]]:
    """Run a case in a guest."""
    scenario = to_engine(case.scenario().expand(), "linux")
    outcome = run(json.dumps(scenario), 1, lambda share: True)
    assert outcome
    return frames_mbps(outcome[0])


def main() -> None:
    known = recorded() if RECORDED.exists() else {}
    for name in sys.argv[1:] or CASES:
        known[name] = on_linux(CASES[name])
        print(name, known[name], flush=True)
        write(known)


def write(known: dict[str, dict[str, list[float]]]) -> None:
    """Write the rates of all cases that are known."""
    lines = [_HEAD]
    for name in CASES:
        if name in known:
            rates = [f"{json.dumps(group)} = {mbps}" for group, mbps in known[name].items()]
            lines += [f"[mbps.{json.dumps(name)}]", *rates, ""]
    RECORDED.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
