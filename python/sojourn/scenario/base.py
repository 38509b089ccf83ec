# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What all tables of a scenario have in common."""

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

# Where a congestion control has two names, hosts know it by the one on the right.
_SAME = {"newreno": "reno"}
Control = Annotated[str, AfterValidator(lambda name: _SAME.get(name, name))]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _./-]*$", max_length=80)]


class Model(BaseModel):
    """Unknown keys are errors, and nothing changes after it is made."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_by_name=True, validate_by_alias=True
    )

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Itself, as of all that does not change: pydantic copies each default for each use."""
        return self


class Kind(Model):
    """One of several kinds of a thing: the kind is always written, even where it is a default."""

    kind: str

    @model_serializer(mode="wrap")
    def _write(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {"kind": self.kind, **handler(self)}
