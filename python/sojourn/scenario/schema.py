# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The JSON schema of a scenario, for editors. `python -m sojourn.scenario.schema` prints it."""

from __future__ import annotations

import json
from typing import Any

from sojourn.scenario.model import Scenario


def text() -> str:
    """Make the schema from the models."""
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
    """Allow a kind alone: `app = "bulk"` stands for `app = { kind = "bulk" }`."""
    table = properties[key]
    properties[key] = {"anyOf": [{"enum": list(table["discriminator"]["mapping"])}, table]}


if __name__ == "__main__":
    print(text(), end="")
