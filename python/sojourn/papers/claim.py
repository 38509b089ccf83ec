# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A claim of a paper as data, and the words of its verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

NOT_FOUND: Literal["not found here"] = "not found here"
NOT_IN_PRINT: Literal["not in print"] = "not in print"
CONTRADICTED: Literal["print contradicts itself"] = "print contradicts itself"
NOT_RUN = "not run"
Verdict = Literal[
    "holds",
    "not found here",
    "undecided",
    "not in print",
    "print contradicts itself",
    "calibrated",
]
# Those of one cell.
RULES: tuple[Verdict, ...] = ("holds", NOT_FOUND, "undecided")
VERDICTS = (*RULES, NOT_IN_PRINT, CONTRADICTED, "calibrated", NOT_RUN)

# The causes of a claim that is not found here.
UNEXPLAINED: Literal["unexplained"] = "unexplained"
Cause = Literal["set-up not in print", "our stand-in", "print itself", "unexplained"]
CAUSES: tuple[Cause, ...] = get_args(Cause)

# Labels of the cell (signal and values of further axes), algorithm, metric.
Cell = tuple[str, str, str]
# The numbers that the paper prints.
Print = Mapping[Cell, float]
QUORUMS = {"every": 1.0, "nearly every": 0.9, "most": 0.5}
Relation = Literal["less", "greater", "between"]


@dataclass(frozen=True)
class Pair:
    """Left and right of a comparison, in one cell or in two."""

    signal: str
    left: str
    right: str | None  # None: left is compared with a number
    right_signal: str | None = None  # where right belongs to another cell
    # That number, or the two that left lies between.
    value: float | tuple[float, float] | None = None

    @property
    def sides(self) -> list[tuple[str, str]]:
        """Return cell and algorithm of left, and of right where there is one."""
        left = [(self.signal, self.left)]
        if self.right is None:
            return left
        return [*left, (self.right_signal or self.signal, self.right)]

    def cells(self, metric: str) -> list[Cell]:
        """Return the cells of left, and of right where there is one."""
        return [(signal, algorithm, metric) for signal, algorithm in self.sides]

    def text(self) -> str:
        """Name the cell and both sides."""
        if self.right is None:
            return f"{self.signal}: {self.left}"
        of = f" of {self.right_signal}" if self.right_signal else ""
        return f"{self.signal}: {self.left} and {self.right}{of}"


@dataclass(frozen=True)
class Turns:
    """A quantity that the paper does not print, as an axis of the experiment. By each of its
    values: the pairs of the claim."""

    axis: str
    pairs: Mapping[str, tuple[Pair, ...]]


@dataclass(frozen=True)
class Claim:
    """One line of claims.toml."""

    id: str
    text: str
    source: str
    metrics: tuple[str, ...]
    relation: Relation
    pairs: tuple[Pair, ...]
    factor: float | tuple[float, float] = 1.0  # two where left lies between multiples of right
    margin: float | None = None
    quorum: float = 1.0
    more_than: bool = False  # 'most' needs more than its quorum, a share at least as much
    quote: bool = False  # the text is the paper's words
    cause: str = UNEXPLAINED  # of a verdict 'not found here'
    why: str = ""  # that cause in a sentence
    contradicts: str = ""  # a sentence: what in print contradicts the claim
    turns: Turns | None = None
    by_opponent: bool = False  # the counts are told by opponent
    together: str = ""  # a metric whose ranks over all cells go with those of the claim's own
    spread: bool = False  # of left over its runs, in percent of their mean
    # Of a claim that a calculation decides: a network, and its round trips as cells.
    theory: Mapping[str, Any] = field(default_factory=dict)
    is_order: bool = False  # pairs that print hardly tells apart are left out

    @property
    def said(self) -> str:
        """Write its text, the paper's words in quotation marks."""
        return f"“{self.text}”" if self.quote else self.text

    @property
    def reason(self) -> str:
        """Write its cause, and why."""
        return f"{self.cause}: {self.why}" if self.why else self.cause

    @property
    def checks(self) -> list[tuple[Pair, str]]:
        """List each pair with each metric."""
        return [(pair, metric) for pair in self.pairs for metric in self.metrics]

    def cells(self) -> list[Cell]:
        """List every cell that the claim compares; none where a calculation decides."""
        if self.theory:
            return []
        beside = [(pair, self.together) for pair in self.pairs if self.together]
        return [cell for pair, metric in [*self.checks, *beside] for cell in pair.cells(metric)]

    def meets(self, count: int, of: int) -> bool:
        """Tell whether this count of cells is enough. 'Most' is more than half."""
        share = count / of
        return share > self.quorum if self.more_than else share >= self.quorum

    def to_json(self) -> dict[str, Any]:
        """Return the words that `sojourn reproduce --json` and the ledger have of it."""
        return {
            "id": self.id,
            "text": self.text,
            "quote": self.quote,
            "source": self.source,
            "cause": self.cause,
            "why": self.why,
            "contradicts": self.contradicts,
        }
