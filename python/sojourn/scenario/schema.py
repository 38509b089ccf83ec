# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The JSON schema of a scenario, for editors. `python -m sojourn.scenario.schema [--check] FILE…`
writes it, or says whether the files are what it would write."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from sojourn.scenario.model import Scenario


def text() -> str:
    """The schema as it is published."""
    schema = Scenario.model_json_schema(by_alias=True)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "generated from the models in sojourn.scenario.model",
    }
    return json.dumps(head | schema, indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    """0 when all is written, or fresh."""
    check = "--check" in arguments
    stale = 0
    for path in (Path(a) for a in arguments if a != "--check"):
        if not check:
            path.write_text(text(), encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text():
            print(f"{path} is stale: run `make generate`", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
