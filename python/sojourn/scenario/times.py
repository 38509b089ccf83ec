# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Times of the flows of a group, one for each flow: starts, or round trips.

They are a time for all, a list that the flows take in turn, or a distribution. The engine draws
times from the run's seed, the same on every host, and has the rules of ranges.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    model_serializer,
)

from sojourn.core.units import Duration


class _Distribution(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_by_name=True, validate_by_alias=True
    )

    @model_serializer(mode="wrap")
    def _write(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write the distribution too, though it is the class's only one."""
        return {"distribution": _form(self), **handler(self)}


class Even(_Distribution):
    """Times at equal distances: the first flow has `from`, the last has `to`."""

    distribution: Literal["even"] = Field("even", description="which it is")
    from_: Duration = Field(alias="from", description="of the first flow")
    to: Duration = Field(description="of the last flow")


class Uniform(_Distribution):
    """Times drawn between `from` and `to` with equal chances."""

    distribution: Literal["uniform"] = Field("uniform", description="which it is")
    from_: Duration = Field(alias="from", description="the least")
    to: Duration = Field(description="the most")


class Normal(_Distribution):
    """Times drawn from a normal distribution; a time that is too small becomes the least
    possible."""

    distribution: Literal["normal"] = Field("normal", description="which it is")
    mean: Duration = Field(description="before what is too small is raised")
    sd: Duration = Field(description="standard deviation")


class Exponential(_Distribution):
    """Times drawn from an exponential distribution; a time that is too small becomes the least
    possible."""

    distribution: Literal["exponential"] = Field("exponential", description="which it is")
    mean: Duration = Field(description="before what is too small is raised")


class Poisson(_Distribution):
    """Starts of a Poisson process: each flow starts an exponential gap after the one before."""

    distribution: Literal["poisson"] = Field("poisson", description="which it is")
    from_: Duration = Field(Duration(0), alias="from", description="when it begins")
    gap: Duration = Field(description="mean gap")


ONE, LIST = "a time", "a list of times"
_DISTRIBUTIONS: dict[str, type[_Distribution]] = {
    model.model_fields["distribution"].default: model
    for model in (Even, Uniform, Normal, Exponential, Poisson)
}
TAGS = (ONE, LIST, *_DISTRIBUTIONS)
_NAMES = ", ".join(f"'{name}'" for name in _DISTRIBUTIONS)
_REASON = f"write a time, a list of times, or a table whose distribution is one of {_NAMES}"


def _form(value: object) -> str | None:
    """Return the form of a value; None if a table names no distribution."""
    if isinstance(value, dict):
        form = str(value.get("distribution"))
        return form if form in _DISTRIBUTIONS else None
    if isinstance(value, _Distribution):
        return next(name for name, model in _DISTRIBUTIONS.items() if isinstance(value, model))
    return LIST if isinstance(value, list | tuple) else ONE


Times = Annotated[
    Annotated[Duration, Tag(ONE)]
    | Annotated[tuple[Duration, ...], Tag(LIST)]
    | Annotated[Even, Tag("even")]
    | Annotated[Uniform, Tag("uniform")]
    | Annotated[Normal, Tag("normal")]
    | Annotated[Exponential, Tag("exponential")]
    | Annotated[Poisson, Tag("poisson")],
    Discriminator(_form, custom_error_type="times", custom_error_message=_REASON),
]

# One time for all, or a list.
Delays = Annotated[
    Annotated[Duration, Tag(ONE)] | Annotated[tuple[Duration, ...], Tag(LIST)],
    Discriminator(lambda value: LIST if isinstance(value, list | tuple) else ONE),
]
