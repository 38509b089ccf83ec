# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The common base of all tables of a scenario."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

# Congestion controls with two names: hosts know them by the one on the right.
_SAME = {"newreno": "reno"}
Control = Annotated[str, AfterValidator(lambda name: _SAME.get(name, name))]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _./-]*$", max_length=80)]


class Model(BaseModel):
    """A table in which unknown keys are errors, and which never changes."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_by_name=True, validate_by_alias=True
    )

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return itself, since it never changes: pydantic copies each default for each use."""
        return self


class Kind(Model):
    """One of several kinds of a thing. The kind is always written, even if it is the default."""

    kind: str

    @model_serializer(mode="wrap")
    def _write(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {"kind": self.kind, **handler(self)}
