# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Claims as data, and the one rule that decides them.

A claim compares a metric of two algorithms in one or more cells. In each the runs are matched by
seed; the quantity is the log of left / (factor × right), or, where the claim is about a difference
or a value is not positive, left − right − margin (left − factor × right). Its 95 % t-interval over
the seeds lies wholly on the claim's side: holds; wholly on the other: fails; else undecided. A
claim that left is so many to so many times right is two sides: both must hold.

What a claim says of several cells has a quorum: 'every', 'nearly every' (nine in ten), 'most' (more
than half), or a share, which is enough. It holds if the quorum is met even when all undecided
cells fail, fails if it is not met even when they all hold, and is undecided otherwise. There is no
other tolerance. A claim on a cell that settled a setting is 'calibrated', whatever the rule says of
it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sojourn.metrics import METRICS
from sojourn.stats import Estimate, estimate

Verdict = Literal["holds", "fails", "undecided", "calibrated"]
_RULES: tuple[Verdict, ...] = ("holds", "fails", "undecided")
# Labels of the cell (signal and values of further axes), algorithm, metric.
Cell = tuple[str, str, str]
Values = Callable[[Cell], Sequence[float]]
# Fewer seeds than this only decide under --quick, which says so.
SEEDS = 10
QUORUMS = {"every": 1.0, "nearly every": 0.9, "most": 0.5}
Relation = Literal["less", "greater", "between"]


@dataclass(frozen=True)
class Pair:
    """Left and right of a comparison in one cell."""

    signal: str
    left: str
    right: str


@dataclass(frozen=True)
class Claim:
    """One line of claims.toml."""

    id: str
    text: str
    source: str
    metrics: tuple[str, ...]
    relation: Relation
    pairs: tuple[Pair, ...]
    factor: float | tuple[float, float] = 1.0  # two where left is between so many times right
    margin: float | None = None
    quorum: float = 1.0
    more_than: bool = False  # 'most' is more than its quorum, a share is at least as much

    def cells(self) -> list[Cell]:
        """Every cell it looks at."""
        return [
            (pair.signal, algorithm, metric)
            for pair in self.pairs
            for metric in self.metrics
            for algorithm in (pair.left, pair.right)
        ]


@dataclass(frozen=True)
class Check:
    """One pair and metric, decided."""

    pair: Pair
    metric: str
    quantity: str
    found: Estimate
    verdict: Verdict

    def text(self) -> str:
        """One clause for a table."""
        pair = self.pair
        head = f"{pair.signal}: {METRICS[self.metric].label}, {pair.left} {self.quantity}"
        if math.isnan(self.found.mean):
            return f"{head} {pair.right}: not measured in every seed"
        numbers = (self.found.mean, self.found.low, self.found.high)
        mean, low, high = _told_apart(numbers, 1.0 if self.quantity == "/" else 0.0)
        return f"{head} {pair.right} = {mean} [{low}, {high}]"

    def to_json(self) -> dict[str, Any]:
        """Keys of `sojourn reproduce --json`."""
        return {
            "signal": self.pair.signal,
            "metric": self.metric,
            "left": self.pair.left,
            "right": self.pair.right,
            "quantity": "ratio" if self.quantity == "/" else "difference",
            "estimate": self.found.mean,
            "ci95": [self.found.low, self.found.high],
            "verdict": self.verdict,
        }


def _told_apart(numbers: Sequence[float], neutral: float) -> list[str]:
    """Three digits, or as many as show on which side of `neutral` each number lies."""

    def side(number: float) -> int:
        return (number > neutral) - (number < neutral)

    for digits in range(3, 12):
        texts = [f"{number:.{digits}g}" for number in numbers]
        if all(side(float(text)) == side(n) for text, n in zip(texts, numbers, strict=True)):
            break
    return texts


@dataclass(frozen=True)
class Decision:
    """A claim, its verdict, and what was measured."""

    claim: Claim
    verdict: Verdict
    rule: Verdict  # what the rule alone says, where the verdict is 'calibrated'
    checks: tuple[Check, ...]

    def counts(self) -> dict[Verdict, int]:
        """How many of its cells hold, fail, are undecided."""
        verdicts = [check.verdict for check in self.checks]
        return {verdict: verdicts.count(verdict) for verdict in _RULES}

    def tally(self) -> str:
        """The counts for a table, with how many must hold; nothing of a single cell."""
        if len(self.checks) == 1:
            return ""
        words = {"holds": "hold", "fails": "fail", "undecided": "undecided"}
        counts = ", ".join(f"{count} {words[verdict]}" for verdict, count in self.counts().items())
        need = next(n for n in range(len(self.checks) + 1) if _met(n, self))
        return f"{len(self.checks)} cells: {counts}; {need} must hold"

    def to_json(self) -> dict[str, Any]:
        """Keys of `sojourn reproduce --json`."""
        return {
            "id": self.claim.id,
            "text": self.claim.text,
            "source": self.claim.source,
            "verdict": self.verdict,
            "otherwise": self.rule if self.verdict == "calibrated" else None,
            "quorum": self.claim.quorum,
            "counts": self.counts(),
            "measured": "; ".join(check.text() for check in self.checks),
            "checks": [check.to_json() for check in self.checks],
        }


def decide(claim: Claim, values: Values, calibrated: set[Cell]) -> Decision:
    """The verdict on one claim; `values` gives a cell's measurements in the order of the seeds."""
    checks = tuple(
        _check(claim, pair, metric, values) for pair in claim.pairs for metric in claim.metrics
    )
    found = Decision(claim, "undecided", "undecided", checks)
    counts = found.counts()
    rule: Verdict = "undecided"
    if _met(counts["holds"], found):
        rule = "holds"
    elif not _met(counts["holds"] + counts["undecided"], found):
        rule = "fails"
    settled = any(cell in calibrated for cell in claim.cells())
    return replace(found, verdict="calibrated" if settled else rule, rule=rule)


def _met(count: int, decision: Decision) -> bool:
    """Whether so many cells are enough. 'Most' is more than half."""
    share = count / len(decision.checks)
    claim = decision.claim
    return share > claim.quorum if claim.more_than else share >= claim.quorum


def _check(claim: Claim, pair: Pair, metric: str, values: Values) -> Check:
    left = values((pair.signal, pair.left, metric))
    right = values((pair.signal, pair.right, metric))
    matched = list(zip(left, right, strict=True))
    if isinstance(claim.factor, tuple):
        least, most = claim.factor
        sides = [
            _side(matched, "greater", least, None),
            _side(matched, "less", most, None),
        ]
        verdicts = {verdict for _, _, verdict in sides}
        found, word, _ = sides[0]
        verdict: Verdict = (
            "fails" if "fails" in verdicts else "holds" if verdicts == {"holds"} else "undecided"
        )
    else:
        found, word, verdict = _side(matched, claim.relation, claim.factor, claim.margin)
    return Check(pair, metric, word, found, verdict)


def _side(
    matched: Sequence[tuple[float, float]], relation: str, factor: float, margin: float | None
) -> tuple[Estimate, str, Verdict]:
    """The ratio or difference, the word for it, and whether it is on the claim's side."""
    if margin is None and all(a > 0 and b > 0 for a, b in matched):
        logs = estimate([math.log(a / b) for a, b in matched])
        shown = _Interval(math.exp(logs.mean), 0.0, math.exp(logs.low), _exp(logs.high))
        return shown, "/", _verdict(logs, math.log(factor), relation)
    factor = factor if margin is None else 1.0
    difference = estimate([a - factor * b for a, b in matched])
    word = "−" if factor == 1 else f"− {factor:g} ×"
    return difference, word, _verdict(difference, margin or 0.0, relation)


def _exp(value: float) -> float:
    return math.inf if value > 700 else math.exp(value)


@dataclass(frozen=True)
class _Interval(Estimate):
    """An interval that is not symmetric about its mean."""

    lower: float
    upper: float

    @property
    def low(self) -> float:
        return self.lower

    @property
    def high(self) -> float:
        return self.upper


def _verdict(found: Estimate, bound: float, relation: str) -> Verdict:
    below, above = found.high < bound, found.low > bound
    if relation == "greater":
        below, above = above, below
    return "holds" if below else "fails" if above else "undecided"
