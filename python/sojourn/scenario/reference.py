# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""docs/reference/keys.md, the page of every key of a scenario, from the models.
`python -m sojourn.scenario.reference [--check] [FILE]` writes it, or checks that it is fresh; with
`--schema` it prints the JSON schema of a scenario, for editors."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from sojourn.core import units
from sojourn.core.text import markdown, write_page
from sojourn.scenario import flows, links, parts
from sojourn.scenario.links import ALGORITHM
from sojourn.scenario.model import Scenario
from sojourn.scenario.networks import cables, dumbbell, layout, parking_lot

DEFAULT = Path("docs/reference/keys.md")

_HEAD = """\
<!-- SPDX-FileCopyrightText: 2026 The Sojourn authors -->
<!-- SPDX-License-Identifier: MIT OR GPL-2.0-only -->
# Every key of a scenario

<!-- Made from the models by `python -m sojourn.scenario.reference`; edit those, not this. -->

[Scenarios](../guide/scenarios.md) explains how they go together. Quantities have units: a time
is `"50 ms"`, a rate `"10 Mbit/s"`, a size `"250 kB"`, a share `0.01` or `"1 %"`. A key with nothing
under "unless given" is needed. A time is up to a year, a rate 8 bit/s to 10 Tbit/s; narrower ranges
stand beside a key. What is for the simulator alone is refused on Linux, with the reason.
"""
# The heading of each table, and the model.
_TABLES: tuple[tuple[str, type[BaseModel]], ...] = (
    ("The scenario", Scenario),
    ("`[dumbbell]`", dumbbell.Dumbbell),
    ("`queue` and `aqm`", links.Queue),
    ("`[[links]]`", links.Link),
    ("`[[cables]]`", cables.Cable),
    ("`[[dumbbell.senders]]` and `[[dumbbell.receivers]]`", dumbbell.Side),
    ("`[parking_lot]`", parking_lot.ParkingLot),
    ("`[[parking_lot.hops]]`", parking_lot.Hop),
    ("`edges`", layout.Edge),
    ("`[linux]`", parts.LinuxHost),
    ("`sim` of a link", parts.SimLink),
    ("`back` of a bottleneck", layout.Back),
    ("`[[flows]]`", flows.Flow),
    ("`[[dumbbell.flows]]`", dumbbell.Between),
    ("`[[parking_lot.flows]]`", parking_lot.Crossing),
    ("`[flows.sim]`", parts.SimFlows),
    ("`[flows.linux]`", parts.LinuxFlows),
    ('`transport`, `kind = "tcp"`', flows.Tcp),
    ('`transport`, `kind = "udp"`', flows.Udp),
    *((f'`app`, `kind = "{name}"`', of) for name, of in flows.KINDS.items()),
    ("times by flow, `even`", parts.Even),
    ("times by flow, `uniform`", parts.Uniform),
    ("times by flow, `normal`", parts.Normal),
    ("times by flow, `exponential`", parts.Exponential),
    ("times by flow, `poisson`", parts.Poisson),
    ("`jitter`", links.Jitter),
    ("`schedule`", links.Step),
    ("`delays`", links.DelayStep),
    ("`rtts` of a shorthand", dumbbell.RttStep),
    ("`[record]`", parts.Record),
    ("`windows` of `[record]`", parts.Window),
)


def text() -> str:
    """Write the page as it is published."""
    return "\n".join([_HEAD, *(_table(title, of) for title, of in _TABLES)])


def _table(title: str, of: type[BaseModel]) -> str:
    rows = []
    schema = of.model_json_schema(by_alias=True, mode="validation")
    known = schema.get("$defs", {})
    # Where a name alone is allowed too, the table is the last form.
    properties = (schema if "properties" in schema else schema["anyOf"][-1])["properties"]
    for name, field in of.model_fields.items():
        key = field.alias or name
        if _shared(name, of) or key not in properties:
            continue
        form = _form(properties[key], known)
        rows.append((f"`{key}`", form, *_default_and_meaning(field)))
    table = markdown(("key", "what", "unless given", ""), rows)
    return "\n".join([f"## {title}", "", _sentence(of), "", table])


def _shared(name: str, of: type[BaseModel]) -> bool:
    """Tell whether `[[flows]]` has this key too, with the same meaning."""
    short = issubclass(of, dumbbell.Between | parking_lot.Crossing)
    return short and name in flows.Traffic.model_fields


def _sentence(of: type[BaseModel]) -> str:
    said = " ".join((of.__doc__ or "").split())
    shared = issubclass(of, dumbbell.Between | parking_lot.Crossing)
    return said + (" It has the keys of `[[flows]]` but its ends and paths, and:" if shared else "")


def _form(schema: dict[str, Any], known: dict[str, Any]) -> str:
    """Describe the allowed values of a key in a few words."""
    forms = list(dict.fromkeys(_forms(schema, known)))
    return ", or ".join(forms)


def _forms(schema: dict[str, Any], known: dict[str, Any]) -> Iterator[str]:
    quantity = _QUANTITIES.get(str(next(iter(schema.get("examples", ())), "")))
    if quantity:
        yield quantity
    elif schema.get("title") == ALGORITHM:
        yield "an algorithm"
    elif "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        yield from _forms({"title": name, **known[name]}, known)
    elif "const" in schema:
        yield f"`{_written(schema['const'])}`"
    elif "enum" in schema:
        yield ", ".join(f"`{_written(value)}`" for value in schema["enum"])
    elif named := _NAMED.get(str(schema.get("title"))) if "properties" in schema else None:
        yield named
    elif "algorithm" in str(schema.get("anyOf")):
        yield "an algorithm, or its table"
    elif "oneOf" in schema or "anyOf" in schema:
        for one in schema.get("oneOf") or schema["anyOf"]:
            if one.get("type") != "null":
                yield from _forms(one, known)
    elif schema.get("type") == "array":
        yield f"a list ({_form(schema.get('items') or schema['prefixItems'][0], known)})"
    elif schema.get("type") == "integer":
        ends = f", {schema['minimum']} to {schema['maximum']}" if "maximum" in schema else ""
        yield f"whole number{ends}"
    elif schema.get("type") == "number" and "maximum" in schema:
        yield f"number, {schema['minimum']:g} to {schema['maximum']:g}"
    elif "pattern" in schema:
        yield "a name"
    else:
        yield _TYPES[schema.get("type", "object")]


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# Quantities by the example in their schema.
_QUANTITIES = {
    units.Duration.example: "a time",
    units.Rate.example: "a rate",
    units.Size.example: "a size",
    "0.01": "a share",
}
# Models that have a table of their own, or another page.
_NAMED = {
    "Link": "a table",
    "Cable": "a table",
    "Flow": "a table",
    "SimLink": "a table",
    "SimFlows": "a table",
    "LinuxFlows": "a table",
    "LinuxHost": "a table",
    "Between": "a table",
    "Crossing": "a table",
    "Side": "a table",
    "Hop": "a table",
    "Edge": "a table",
    "Back": "a table",
    "ParkingLot": "a table",
    "Window": "a table",
    "Step": "a table",
    "Jitter": "a table",
    "Record": "a table",
    "Dumbbell": "a table",
    "Direction": "a table of keys of links",
    "Tcp": "a kind or its table",
    "Udp": "a kind or its table",
    **{of.__name__: "a kind or its table" for of in flows.KINDS.values()},
    "Even": "a distribution",
    "Uniform": "a distribution",
    "Normal": "a distribution",
    "Exponential": "a distribution",
    "Poisson": "a distribution",
}
_TYPES = {
    "string": "text",
    "number": "number",
    "boolean": "`true`, `false`",
    "object": "a table",
}


def _default_and_meaning(field: FieldInfo) -> tuple[str, str]:
    """Take the default of a key without a value of its own from its description."""
    default, meaning = _default(field), field.description or ""
    parts = re.fullmatch(r"(.*); unless given, (.*)", meaning)
    if default == "none" and parts:
        return parts[2], parts[1]
    return default, meaning


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return ""
    value = field.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        return f"`{value['algorithm']}`" if "algorithm" in value else "as below"
    if value is None or value in ((), {}, ""):
        return "none"
    if isinstance(value, tuple):
        return "one of all defaults"
    return f"`{_written(value)}`"


def schema_text() -> str:
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
    if "--schema" in sys.argv:
        print(schema_text(), end="")
    else:
        sys.exit(write_page(sys.argv[1:], DEFAULT, text))
