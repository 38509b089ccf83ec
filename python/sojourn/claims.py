# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Claims as data, and the one rule that decides them.

A claim compares a metric of two algorithms under one or more signals. For each pair the runs are
matched by seed; the quantity is the log of left / (factor × right), or, where the claim is about a
difference or a value is not positive, left − right − margin (left − factor × right). Its 95 %
t-interval over the seeds lies wholly on the claim's side: holds; wholly on the other: fails; else
undecided. A claim with several pairs holds if all hold and fails if one fails. There is no other
tolerance. A claim on a cell that settled a setting is 'calibrated', whatever the rule says of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sojourn.errors import InputError
from sojourn.metrics import METRICS
from sojourn.metrics import find as find_metric
from sojourn.stats import Estimate, estimate

Verdict = Literal["holds", "fails", "undecided", "calibrated"]
# (signal, algorithm, metric)
Cell = tuple[str, str, str]
Values = Callable[[Cell], Sequence[float]]
# Fewer seeds than this only decide under --quick, which says so.
SEEDS = 10


@dataclass(frozen=True)
class Pair:
    """Left and right of a comparison under one signal."""

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
    relation: Literal["less", "greater"]
    pairs: tuple[Pair, ...]
    factor: float = 1.0
    margin: float | None = None

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

    def to_json(self) -> dict[str, Any]:
        """Keys of `sojourn reproduce --json`."""
        return {
            "id": self.claim.id,
            "text": self.claim.text,
            "source": self.claim.source,
            "verdict": self.verdict,
            "otherwise": self.rule if self.verdict == "calibrated" else None,
            "measured": "; ".join(check.text() for check in self.checks),
            "checks": [check.to_json() for check in self.checks],
        }


def read(data: dict[str, Any]) -> tuple[list[Claim], set[Cell]]:
    """The claims of a claims.toml and the cells that settled a setting."""
    calibrated = {tuple(cell) for cell in data.get("calibrated", [])}
    claims = []
    for entry in data["claims"]:
        pairs = tuple(Pair(*pair) for pair in entry["pairs"])
        metrics = tuple(entry["metrics"])
        for metric in metrics:
            find_metric(metric)
        rest = {k: v for k, v in entry.items() if k not in ("pairs", "metrics")}
        claims.append(Claim(metrics=metrics, pairs=pairs, **rest))
    ids = [claim.id for claim in claims]
    if len(set(ids)) != len(ids):
        raise InputError("two claims have one id")
    return claims, calibrated


def decide(claim: Claim, values: Values, calibrated: set[Cell]) -> Decision:
    """The verdict on one claim; `values` gives a cell's measurements in the order of the seeds."""
    checks = tuple(
        _check(claim, pair, metric, values) for pair in claim.pairs for metric in claim.metrics
    )
    verdicts = {check.verdict for check in checks}
    rule: Verdict = (
        "fails" if "fails" in verdicts else "holds" if verdicts == {"holds"} else "undecided"
    )
    settled = any(cell in calibrated for cell in claim.cells())
    return Decision(claim, "calibrated" if settled else rule, rule, checks)


def _check(claim: Claim, pair: Pair, metric: str, values: Values) -> Check:
    left = values((pair.signal, pair.left, metric))
    right = values((pair.signal, pair.right, metric))
    matched = list(zip(left, right, strict=True))
    if claim.margin is None and all(a > 0 and b > 0 for a, b in matched):
        logs = estimate([math.log(a / b) for a, b in matched])
        verdict = _side(logs, math.log(claim.factor), claim.relation)
        mean = math.exp(logs.mean)
        shown = _Interval(mean, 0.0, math.exp(logs.low), _exp(logs.high))
        return Check(pair, metric, "/", shown, verdict)
    factor = claim.factor if claim.margin is None else 1.0
    difference = estimate([a - factor * b for a, b in matched])
    verdict = _side(difference, claim.margin or 0.0, claim.relation)
    word = "−" if factor == 1 else f"− {factor:g} ×"
    return Check(pair, metric, word, difference, verdict)


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


def _side(found: Estimate, bound: float, relation: str) -> Verdict:
    below, above = found.high < bound, found.low > bound
    if relation == "greater":
        below, above = above, below
    return "holds" if below else "fails" if above else "undecided"
