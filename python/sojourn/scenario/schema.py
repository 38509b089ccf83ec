# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The JSON schema of a scenario, for editors. `python -m sojourn.scenario.schema [--check] FILE…`
writes it, or says whether the files are what it would write; without names, the package's own
copy and docs/scenario.schema.json below the current folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from sojourn.scenario.model import Scenario

DEFAULT = (Path(__file__).parent / "schema.json", Path("docs/scenario.schema.json"))


def text() -> str:
    """The schema as it is published."""
    schema = Scenario.model_json_schema(by_alias=True)
    for table in ("Between", "Crossing", "Flow"):
        for key in ("transport", "app"):
            _allow_bare_kind(schema["$defs"][table]["properties"], key)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "generated from the models in sojourn.scenario",
    }
    return json.dumps(head | schema, indent=2, ensure_ascii=False) + "\n"


def _allow_bare_kind(properties: dict[str, Any], key: str) -> None:
    """`app = "bulk"` stands for `app = { kind = "bulk" }`."""
    table = properties[key]
    properties[key] = {"anyOf": [{"enum": list(table["discriminator"]["mapping"])}, table]}


def main(arguments: list[str]) -> int:
    """0 when all is written, or fresh."""
    check = "--check" in arguments
    places = [argument for argument in arguments if argument != "--check"]
    if any(place.startswith("-") for place in places):
        print("usage: python -m sojourn.scenario.schema [--check] [FILE]...", file=sys.stderr)
        return 2
    stale = 0
    for path in [Path(place) for place in places] or DEFAULT:
        if not check:
            path.write_text(text(), encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text():
            print(f"{path} is stale: run `make generate`", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
