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
from sojourn.scenario import ends, flows, links, media, parts, queues
from sojourn.scenario.model import LinuxHost, Scenario
from sojourn.scenario.networks import cables, dumbbell, layout, parking_lot
from sojourn.scenario.queues import ALGORITHM

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
    ("`queue` and `aqm`", queues.Queue),
    ("`[[links]]`", links.Link),
    ("`[[cables]]`", cables.Cable),
    ("`[[dumbbell.senders]]` and `[[dumbbell.receivers]]`", dumbbell.Side),
    ("`[parking_lot]`", parking_lot.ParkingLot),
    ("`[[parking_lot.hops]]`", parking_lot.Hop),
    ("`edges`", layout.Edge),
    ("`[linux]`", LinuxHost),
    ("`sim` of a link", links.SimLink),
    ("`back` of a bottleneck", layout.Back),
    ("`[[flows]]`", flows.Flow),
    ("`[[dumbbell.flows]]`", dumbbell.Between),
    ("`[[parking_lot.flows]]`", parking_lot.Crossing),
    ("`[flows.sim]`", flows.SimFlows),
    ("`[flows.linux]`", flows.LinuxFlows),
    ('`transport`, `kind = "tcp"`', flows.Tcp),
    ('`transport`, `kind = "udp"`', flows.Udp),
    *((f'`app`, `kind = "{name}"`', model) for name, model in flows.KINDS.items()),
    ("times by flow, `even`", parts.Even),
    ("times by flow, `uniform`", parts.Uniform),
    ("times by flow, `normal`", parts.Normal),
    ("times by flow, `exponential`", parts.Exponential),
    ("times by flow, `poisson`", parts.Poisson),
    ("`jitter`", links.Jitter),
    ("`schedule`", queues.Step),
    ('`[[links.end]]`, `kind = "queue"`', ends.QueueStage),
    ('`[[links.end]]`, `kind = "htb"`', ends.Htb),
    ("`classes` of `htb`", ends.HtbClass),
    ("`schedule` of a class", ends.ClassStep),
    ('`[[links.end]]`, `kind = "prio"`', ends.Prio),
    ("`bands` of `prio`", ends.Band),
    ('`[[links.end]]`, `kind = "drr"`', ends.Drr),
    ("`classes` of `drr`", ends.DrrClass),
    ('`[[links.end]]`, `kind = "ring"`', ends.Ring),
    ("`match`", ends.Match),
    ("`[[media]]`", media.Medium),
    ("`delays`", links.DelayStep),
    ("`rtts` of a shorthand", dumbbell.RttStep),
    ("`[record]`", parts.Record),
    ("`windows` of `[record]`", parts.Window),
)


def text() -> str:
    """Write the page as it is published."""
    return "\n".join([_HEAD, *(_table(title, model) for title, model in _TABLES)])


def _table(title: str, model: type[BaseModel]) -> str:
    schema = model.model_json_schema(by_alias=True, mode="validation")
    definitions = schema.get("$defs", {})
    if "$ref" in schema:  # a table that may hold its like
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    # Where a name alone is allowed too, the table is the last form.
    properties = (schema if "properties" in schema else schema["anyOf"][-1])["properties"]
    # `[[flows]]` has these keys too, with the same meaning.
    is_short = issubclass(model, dumbbell.Between | parking_lot.Crossing)
    shared = flows.Traffic.model_fields if is_short else {}
    rows = [
        (f"`{key}`", _form(properties[key], definitions), *_default_and_meaning(field))
        for name, field in model.model_fields.items()
        if name not in shared and (key := field.alias or name) in properties
    ]
    sentence = " ".join((model.__doc__ or "").split())
    if is_short:
        sentence += " It has the keys of `[[flows]]` but its ends and paths, and:"
    table = markdown(("key", "what", "unless given", ""), rows)
    return "\n".join([f"## {title}", "", sentence, "", table])


def _form(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    """Describe the allowed values of a key in a few words."""
    return ", or ".join(dict.fromkeys(_forms(schema, definitions)))


def _forms(schema: dict[str, Any], definitions: dict[str, Any]) -> Iterator[str]:
    quantity = _QUANTITIES.get(str(next(iter(schema.get("examples", ())), "")))
    if quantity:
        yield quantity
    elif schema.get("title") == ALGORITHM:
        yield "an algorithm"
    elif "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        yield from _forms({"title": name, **definitions[name]}, definitions)
    elif "const" in schema:
        yield f"`{_literal(schema['const'])}`"
    elif "enum" in schema:
        yield ", ".join(f"`{_literal(value)}`" for value in schema["enum"])
    elif "properties" in schema:
        yield _table_name(schema)
    elif "algorithm" in str(schema.get("anyOf")):
        yield "an algorithm, or its table"
    elif "oneOf" in schema or "anyOf" in schema:
        for form in schema.get("oneOf") or schema["anyOf"]:
            if form.get("type") != "null":
                yield from _forms(form, definitions)
    elif schema.get("type") == "array":
        yield f"a list ({_form(schema.get('items') or schema['prefixItems'][0], definitions)})"
    elif schema.get("type") == "integer":
        ends = f", {schema['minimum']} to {schema['maximum']}" if "maximum" in schema else ""
        yield f"whole number{ends}"
    elif schema.get("type") == "number" and "maximum" in schema:
        yield f"number, {schema['minimum']:g} to {schema['maximum']:g}"
    elif "pattern" in schema:
        yield "a name"
    else:
        yield _TYPES[schema.get("type", "object")]


def _table_name(schema: dict[str, Any]) -> str:
    """Name a table: it has a place of its own on this page, or is one of several kinds."""
    kind = schema["properties"].get("kind")
    if kind and kind["const"] not in ends.KINDS:
        return "a kind or its table"
    if "const" in schema["properties"].get("distribution", {}):
        return "a distribution"
    return "a table of keys of links" if schema["title"] == "Direction" else "a table"


def _literal(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# Quantities by the example in their schema.
_QUANTITIES = {
    units.Duration.example: "a time",
    units.Rate.example: "a rate",
    units.Size.example: "a size",
    "0.01": "a share",
    "ef": "a DSCP",
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
    if isinstance(value, list):
        return f"`{', '.join(map(str, value))}`"
    return f"`{_literal(value)}`"


def schema_text() -> str:
    """Make the schema from the models."""
    schema = Scenario.model_json_schema(by_alias=True)
    for model in ("Between", "Crossing", "Flow"):
        properties = schema["$defs"][model]["properties"]
        for key in ("transport", "app"):
            # A kind alone is allowed: `app = "bulk"` stands for `app = { kind = "bulk" }`.
            kinds = list(properties[key]["discriminator"]["mapping"])
            properties[key] = {"anyOf": [{"enum": kinds}, properties[key]]}
    return published(schema)


def published(schema: dict[str, Any]) -> str:
    """Write a schema of models as a file for editors."""
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "generated from the models in sojourn",
    }
    return json.dumps(head | schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    if "--schema" in sys.argv:
        print(schema_text(), end="")
    else:
        sys.exit(write_page(sys.argv[1:], DEFAULT, text))
