# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A queue and the keys of the shaper that empties it, for a link or a stage of its end."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    Field,
    GetJsonSchemaHandler,
    StrictBool,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from sojourn import algorithms
from sojourn.core import units
from sojourn.core.rows import Value
from sojourn.core.units import Duration, Rate, Size
from sojourn.scenario.parts import Model, refusal

# The title of an algorithm's name in the schema.
ALGORITHM = "Algorithm"
# A key of a queue that is no row of its algorithm.
TESTED = "tested"
TESTED_HELP = (
    "this queue is under test: `--aqm` and `--set` reach it. Where no queue says so, all that are "
    "recorded are"
)


def _as_table(spec: str) -> str:
    """Write an algorithm with parameters, as a command line has it, as a table of a file."""
    name, _, rows = spec.partition(":")
    pairs = [pair.partition("=") for pair in (f"algorithm={name}", *rows.split(","))]
    return f"{{ {', '.join(f'{key} = {json.dumps(value)}' for key, _, value in pairs)} }}"


class Queue(Model):
    """An algorithm, and values of its parameters by the names that `sojourn show` lists."""

    algorithm: str = Field("fifo", description="a name alone takes every default")
    # In canonical units.
    rows: dict[str, int] = Field(default_factory=dict)
    tested: StrictBool = Field(False, description=TESTED_HELP)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: object) -> object:
        if isinstance(data, Queue):
            return data
        if isinstance(data, str):
            data = {"algorithm": data}
        if not isinstance(data, dict) or not isinstance(data.get("rows", {}), dict):
            raise refusal('write a queue as { algorithm = "codel", target = "5 ms" }')
        name = str(data.get("algorithm", "fifo"))
        values = {key: value for key, value in data.items() if key not in Queue.model_fields}
        numbers = dict(data.get("rows", {}))
        try:
            name, chosen = algorithms.find_preset(name)
        except Exception as error:
            if "=" in name.partition(":")[2]:
                raise refusal(
                    f"{name!r}: write it as {_as_table(name)}", key="algorithm"
                ) from error
            raise refusal(error, key="algorithm") from error
        if chosen:
            values = {k: v for k, v in chosen.rows.items() if k not in numbers} | values
        try:
            rows = numbers | algorithms.read_rows(name, values)
        except units.UnitError as error:
            key, _, reason = str(error).partition(": ")
            raise refusal(reason or key, key=key if reason else None) from error
        return {"algorithm": name, "rows": rows, TESTED: data.get(TESTED, False)}

    @model_serializer
    def _write(self) -> dict[str, Value]:
        rows = algorithms.rows_of(self.algorithm)
        values = {key: rows[key].write(number) for key, number in self.rows.items()}
        return {"algorithm": self.algorithm, **({TESTED: True} if self.tested else {}), **values}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        every = algorithms.every().values()
        names = [a.name for a in sorted(every, key=lambda a: (a.alone, a.name))]
        names += algorithms.presets()
        file = {"type": "string", "pattern": r"\.c$", "description": "a file of your own"}
        shared: dict[str, object] = {
            row.name: {"description": row.help} for row in algorithms.queue_rows().values()
        }
        return {
            "title": "Queue",
            "description": "An algorithm with its parameters; `sojourn show NAME` lists them.",
            "anyOf": [
                {"type": "string", "enum": names},
                file,
                {
                    "type": "object",
                    "properties": {
                        "algorithm": {
                            "title": ALGORITHM,
                            "anyOf": [{"enum": names}, file],
                            "default": "fifo",
                        },
                        TESTED: {"type": "boolean", "default": False, "description": TESTED_HELP},
                    }
                    | shared,
                    "additionalProperties": {"type": ["string", "number", "boolean"]},
                },
            ],
        }


class Step(Model):
    """From `at` on, the link has this rate."""

    at: Duration = Field(description="time of the run")
    rate: Rate = Field(description="from then on")


def up_to(most: Size) -> AfterValidator:
    """Refuse sizes that the engine cannot hold, in the units of the file."""

    def check(size: Size) -> Size:
        if size > most:
            raise refusal(f"{size} is outside 0 B to {most}")
        return size

    return AfterValidator(check)


# The engine has the same bound.
MOST_BURST = Size(2**32 - 1)

ScheduleKey = Annotated[
    tuple[Step, ...],
    Field(description="later rates: from each `at` on, in place of `rate` or the step before"),
]
ShaperKey = Annotated[
    Literal["wire", "tbf", "htb"],
    Field(description="how `rate` is kept: by the wire itself, or as Linux's tbf or htb does"),
]
BurstKey = Annotated[
    Size,
    up_to(MOST_BURST),
    Field(description=f"token bucket of tbf and htb, from a full packet to {MOST_BURST}"),
]
