# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Claims as data, and the one rule that decides them.

A claim compares a metric of two algorithms in one or more cells, or of one algorithm in two cells.
In each the runs are matched by seed; the quantity is the log of left / (factor × right), or, where
the claim is about a difference or a value is not positive, left − right − margin
(left − factor × right). Beside a number that the text gives, it is left itself. Its 95 % t-interval
over the seeds lies wholly on the claim's side: holds; wholly on the other: fails; else undecided. A
claim that left is so many to so many times right, or between two numbers, is two sides: both must
hold.

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

from sojourn.result.metrics import METRICS
from sojourn.result.stats import Estimate, estimate

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
    """Left and right of a comparison, in one cell or in two."""

    signal: str
    left: str
    right: str | None  # None: beside the claim's `value`
    right_signal: str | None = None  # where right is of another cell

    @property
    def sides(self) -> list[tuple[str, str]]:
        """Cell and algorithm of left, and of right where there is one."""
        left = [(self.signal, self.left)]
        if self.right is None:
            return left
        return [*left, (self.right_signal or self.signal, self.right)]


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
    value: float | tuple[float, float] | None = None  # what the text gives; two of 'between'
    quorum: float = 1.0
    more_than: bool = False  # 'most' is more than its quorum, a share is at least as much

    def cells(self) -> list[Cell]:
        """Every cell it looks at."""
        return [
            (signal, algorithm, metric)
            for pair in self.pairs
            for metric in self.metrics
            for signal, algorithm in pair.sides
        ]


@dataclass(frozen=True)
class Check:
    """One pair and metric, decided."""

    pair: Pair
    metric: str
    quantity: str
    found: Estimate
    verdict: Verdict
    bounds: tuple[float, ...] = (0.0,)  # what the number has to lie above or below
    seeds: int = 0  # those that all its cells have

    @property
    def _interval(self) -> tuple[float, float]:
        """Its ends; of a value, as far as there can be values."""
        if self.quantity == _VALUE:
            return METRICS[self.metric].interval(self.found)
        return self.found.low, self.found.high

    def text(self) -> str:
        """One clause for a table."""
        pair = self.pair
        head = f"{pair.signal}: {METRICS[self.metric].label}, {pair.left}"
        if pair.right is not None:
            head += f" {self.quantity} {pair.right}"
        if pair.right_signal is not None:
            head += f" of {pair.right_signal}"
        if math.isnan(self.found.mean):
            return f"{head}: not measured in every seed"
        mean, low, high = _told_apart((self.found.mean, *self._interval), *self.bounds)
        unit = METRICS[self.metric].unit if pair.right is None else ""
        return f"{head} = {mean} [{low}, {high}] {unit}".rstrip()

    def to_json(self) -> dict[str, Any]:
        """Keys of `sojourn reproduce --json`."""
        of_two = {} if self.pair.right_signal is None else {"right_signal": self.pair.right_signal}
        return {
            "signal": self.pair.signal,
            "metric": self.metric,
            "left": self.pair.left,
            "right": self.pair.right,
            **of_two,
            "quantity": _QUANTITIES.get(self.quantity, "difference"),
            "estimate": self.found.mean,
            "ci95": [*self._interval],
            "seeds": self.seeds,
            "verdict": self.verdict,
        }


# Cells that a sentence names.
_NAMED = 4

# The words between left and right, and what they are called.
_RATIO, _VALUE = "/", "="
_QUANTITIES = {_RATIO: "ratio", _VALUE: "value"}


def _told_apart(numbers: Sequence[float], *bounds: float) -> list[str]:
    """Three digits, or as many as show on which side of each bound each number lies."""

    def sides(number: float) -> list[int]:
        return [(number > bound) - (number < bound) for bound in bounds]

    for digits in range(3, 12):
        texts = [f"{number:.{digits}g}" for number in numbers]
        if all(sides(float(text)) == sides(n) for text, n in zip(texts, numbers, strict=True)):
            break
    return texts


@dataclass(frozen=True)
class Decision:
    """A claim, its verdict, and what was measured."""

    claim: Claim
    verdict: Verdict
    rule: Verdict  # what the rule alone says, where the verdict is 'calibrated'
    checks: tuple[Check, ...]

    @property
    def seeds(self) -> int:
        """The fewest that one of its cells was decided on."""
        return min(check.seeds for check in self.checks)

    @property
    def is_provisional(self) -> bool:
        """Of fewer seeds than a verdict needs."""
        return self.seeds < SEEDS

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

    def against(self) -> str:
        """The cells by which it fails; nothing where it does not, or has a single cell."""
        if self.rule != "fails" or len(self.checks) == 1:
            return ""
        failed = [check.text() for check in self.checks if check.verdict == "fails"]
        more = [f"and {len(failed) - _NAMED} more"] if len(failed) > _NAMED else []
        return "fail: " + "; ".join([*failed[:_NAMED], *more]) if failed else ""

    def to_json(self) -> dict[str, Any]:
        """Keys of `sojourn reproduce --json`."""
        return {
            "id": self.claim.id,
            "text": self.claim.text,
            "source": self.claim.source,
            "verdict": self.verdict,
            "otherwise": self.rule if self.verdict == "calibrated" else None,
            "seeds": self.seeds,
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
    measured = [values((signal, algorithm, metric)) for signal, algorithm in pair.sides]
    if pair.right is None:
        of_value = _beside_value(claim, pair, metric, estimate(measured[0]))
        return replace(of_value, seeds=len(measured[0]))
    # Each cell has seeds from 1 on: where one has fewer, the first of the other are its peers.
    matched = list(zip(*measured, strict=False))
    if isinstance(claim.factor, tuple):
        least, most = claim.factor
        sides = [
            _side(matched, "greater", least, None),
            _side(matched, "less", most, None),
        ]
        found, word, _ = sides[0]
        verdict = _both([verdict for _, _, verdict in sides])
    else:
        found, word, verdict = _side(matched, claim.relation, claim.factor, claim.margin)
    bounds = (1.0 if word == _RATIO else 0.0,)
    return Check(pair, metric, word, found, verdict, bounds, len(matched))


def _beside_value(claim: Claim, pair: Pair, metric: str, found: Estimate) -> Check:
    """Left by itself, beside one number or between two."""
    if isinstance(claim.value, tuple):
        least, most = bounds = claim.value
        verdict = _both([_verdict(found, least, "greater"), _verdict(found, most, "less")])
        return Check(pair, metric, _VALUE, found, verdict, bounds)
    bound = float(claim.value or 0.0)
    return Check(pair, metric, _VALUE, found, _verdict(found, bound, claim.relation), (bound,))


def _both(verdicts: Sequence[Verdict]) -> Verdict:
    """Of two sides that must hold."""
    if "fails" in verdicts:
        return "fails"
    return "holds" if set(verdicts) == {"holds"} else "undecided"


def _side(
    matched: Sequence[tuple[float, float]], relation: str, factor: float, margin: float | None
) -> tuple[Estimate, str, Verdict]:
    """The ratio or difference, the word for it, and whether it is on the claim's side."""
    if margin is None and all(a > 0 and b > 0 for a, b in matched):
        logs = estimate([math.log(a / b) for a, b in matched])
        shown = _Interval(math.exp(logs.mean), 0.0, math.exp(logs.low), _exp(logs.high))
        return shown, _RATIO, _verdict(logs, math.log(factor), relation)
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
