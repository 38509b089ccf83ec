# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The parts that tables of a scenario share: their base, the recording, and times of flows.

Times are a time for all, a list that the flows take in turn, or a distribution. The engine draws
them from the run's seed, the same on every host, and has the rules of ranges.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    StrictBool,
    StrictInt,
    Tag,
    ValidationError,
    model_serializer,
)
from pydantic_core import PydanticCustomError

from sojourn.core.errors import InputError, nearest, written
from sojourn.core.units import Duration

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _./-]*$", max_length=80)]
# The place of a key in a file, and a problem there: its place and its reason.
Path = tuple[str | int, ...]
Problem = tuple[Path, str]


def refusal(reason: object, **context: Any) -> PydanticCustomError:
    """Make the error of a validator; the reader of a file takes its sentence, and from `context` a
    `key` of the table or a list of `problems`."""
    return PydanticCustomError("refusal", "{reason}", {"reason": str(reason), **context})


def _printable(text: str) -> str:
    if not text.isprintable() or not text.strip():
        raise refusal(f"{text!r} is no title: write signs that can be printed, on one line")
    return text


# A scenario's title may have any signs that can be printed; names of files are made from it.
Title = Annotated[str, Field(max_length=200), AfterValidator(_printable)]


# Marks of packets by name (RFC 2474, 2597, 3246, 5865, 8622).
DSCPS = {
    "df": 0,
    **{f"cs{i}": 8 * i for i in range(8)},
    **{f"af{i}{j}": 8 * i + 2 * j for i in range(1, 5) for j in range(1, 4)},
    "le": 1,
    "va": 44,
    "ef": 46,
}
_DSCP_NAMES = {number: name for name, number in reversed(DSCPS.items())}


def _read_dscp(value: object) -> object:
    if type(value) is int and 0 <= value <= 63:
        return value
    if isinstance(value, str):
        if value.lower() in DSCPS:
            return DSCPS[value.lower()]
        raise refusal(f"there is no DSCP '{value}'.{nearest(value.lower(), DSCPS)}")
    raise refusal(
        f"{written(value)} is no DSCP: write a name such as 'ef', or a number from 0 to 63"
    )


def write_dscp(number: int) -> str | int:
    """Write the name of a mark; the number where it has none."""
    return _DSCP_NAMES.get(number, number)


Dscp = Annotated[
    int,
    BeforeValidator(
        _read_dscp,
        json_schema_input_type=Annotated[
            Literal[tuple(DSCPS)] | Annotated[int, Field(ge=0, le=63)], Field(examples=["ef"])
        ],
    ),
    PlainSerializer(write_dscp, when_used="json"),
]


class Model(BaseModel):
    """A table in which unknown keys are errors, and which never changes."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_by_name=True, validate_by_alias=True
    )

    # How the mistakes in a part's data are written; `toml`, which has the sentences, sets it.
    mistakes: ClassVar[Callable[[ValidationError, dict[str, Any], type[BaseModel]], str]]

    if not TYPE_CHECKING:  # types know the fields as its arguments

        def __init__(self, /, *values: object, **data: Any) -> None:
            made = type(self)
            if values:
                raise InputError(f"{made.__name__}: its values have names: give each as KEY=VALUE")
            try:
                super().__init__(**data)
            except ValidationError as error:
                raise InputError(Model.mistakes(error, data, made)) from error

        # `model_validate` goes on without it: that tells where the mistakes are.
        __init__.__pydantic_base_init__ = True

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return itself, since it never changes: pydantic copies each default for each use."""
        return self


class Kind(Model):
    """One of several kinds of a thing. The kind is always written, even if it is the default."""

    kind: str

    @model_serializer(mode="wrap")
    def _write(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {"kind": self.kind, **handler(self)}


# The window of the whole run, unless others are given.
WHOLE = "whole run"


class Window(Model):
    """A window of time, over which metrics are computed."""

    name: Name = Field(description="in tables and files")
    from_: Duration = Field(alias="from", description="its begin, and what happens just then")
    to: Duration = Field(description="its end, without what happens just then")
    pieces: Annotated[StrictInt, Field(ge=1, le=1000)] = Field(
        1, description="cuts it into so many equal windows, `NAME 1 of 10` and so on, beside itself"
    )

    def piece_names(self) -> tuple[str, ...]:
        """Name its pieces; none where it is whole."""
        if self.pieces == 1:
            return ()
        return tuple(f"{self.name} {n} of {self.pieces}" for n in range(1, self.pieces + 1))

    def cut(self) -> tuple[Window, ...]:
        """List it as a whole, then its pieces."""
        length_ns = max(0, self.to - self.from_)  # the engine refuses an end before the begin
        ends = [Duration(self.from_ + length_ns * n // self.pieces) for n in range(self.pieces + 1)]
        pieces = (
            Window(name=name, from_=begin, to=end)
            for name, (begin, end) in zip(self.piece_names(), pairwise(ends), strict=False)
        )
        return self.model_copy(update={"pieces": 1}), *pieces


class Record(Model):
    """The queues, windows and packets that are measured."""

    queues: tuple[Name, ...] = Field(
        (),
        description="links whose queues are measured, or queues and classes of stages by their "
        "names in results; unless given, all links with a rate, a trace or stages",
    )
    windows: tuple[Window, ...] = Field(
        (), description="spans of time of the metrics; unless given, the whole run"
    )
    series: Duration = Field(Duration("100 ms"), description="grid of the time series")
    events: StrictBool = Field(False, description="keep every packet's passage through the queues")
    transfers: StrictBool = Field(False, description="keep every transfer")


class Distribution(Model):
    """Times that are drawn, one for each flow. The distribution is always written."""

    distribution: str

    @model_serializer(mode="wrap")
    def _write(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {"distribution": self.distribution, **handler(self)}


class Even(Distribution):
    """Times at equal distances: the first flow has `from`, the last has `to`."""

    distribution: Literal["even"] = Field("even", description="which it is")
    from_: Duration = Field(alias="from", description="of the first flow")
    to: Duration = Field(description="of the last flow")


class Uniform(Distribution):
    """Times drawn between `from` and `to` with equal chances."""

    distribution: Literal["uniform"] = Field("uniform", description="which it is")
    from_: Duration = Field(alias="from", description="the least")
    to: Duration = Field(description="the most")


class Normal(Distribution):
    """Times drawn from a normal distribution; a time that is too small becomes the least
    possible."""

    distribution: Literal["normal"] = Field("normal", description="which it is")
    mean: Duration = Field(description="before what is too small is raised")
    sd: Duration = Field(description="standard deviation")


class Exponential(Distribution):
    """Times drawn from an exponential distribution; a time that is too small becomes the least
    possible."""

    distribution: Literal["exponential"] = Field("exponential", description="which it is")
    mean: Duration = Field(description="before what is too small is raised")


class Poisson(Distribution):
    """Starts of a Poisson process: each flow starts an exponential gap after the one before."""

    distribution: Literal["poisson"] = Field("poisson", description="which it is")
    from_: Duration = Field(Duration(0), alias="from", description="when it begins")
    gap: Duration = Field(description="mean gap")


ONE, LIST = "a time", "a list of times"
_DISTRIBUTIONS = [
    str(model.model_fields["distribution"].default) for model in Distribution.__subclasses__()
]
TAGS = (ONE, LIST, *_DISTRIBUTIONS)
_NAMES = ", ".join(f"'{name}'" for name in _DISTRIBUTIONS)
_REASON = f"write a time, a list of times, or a table whose distribution is one of {_NAMES}"


def _form(value: object) -> str | None:
    """Return the form of a value; None if a table names no distribution."""
    if isinstance(value, dict):
        form = str(value.get("distribution"))
        return form if form in _DISTRIBUTIONS else None
    if isinstance(value, Distribution):
        return value.distribution
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
