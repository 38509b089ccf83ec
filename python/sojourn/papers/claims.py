# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Claims as data, and the one rule that decides them.

A claim compares a metric of two algorithms in one or more cells, or of one algorithm in two cells.
In each cell the runs are matched by seed. The quantity is the log of left / (factor × right). With
a margin it is left − right − margin, and where a value is not positive it is left − factor × right.
Beside a number that the text gives, the quantity is left itself. Its 95 % t-interval over the seeds
decides. The claim holds if the interval lies wholly on the claim's side, and fails if it lies
wholly on the other side. Else the claim is undecided. A claim that left lies between two multiples
of right, or between two numbers, has two sides, and both must hold.

A claim on several cells has a quorum: 'every', 'nearly every' (nine in ten), 'most' (more than
half), or a share, which is enough. It holds if the quorum is met even when all undecided cells
fail. It fails if the quorum is not met even when they all hold. It is undecided otherwise. There is
no other tolerance. A claim on a cell that settled a setting is 'calibrated' for any result of the
rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sojourn.result.metrics import METRICS
from sojourn.result.stats import Estimate, estimate

Verdict = Literal["holds", "fails", "undecided", "calibrated"]
_RULES: tuple[Verdict, ...] = ("holds", "fails", "undecided")
# Labels of the cell (signal and values of further axes), algorithm, metric.
Cell = tuple[str, str, str]
Values = Callable[[Cell], Sequence[float]]
# A verdict of fewer seeds than this is provisional.
SEEDS = 10
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

    def cells(self) -> list[Cell]:
        """List every cell that the claim compares."""
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
    estimate: Estimate
    verdict: Verdict
    bounds: tuple[float, ...] = (0.0,)  # that the number has to lie above or below
    seeds: int = 0  # that all its cells have

    @property
    def _interval(self) -> tuple[float, float]:
        """Return the ends of the interval; those of a value stay within its metric's range."""
        if self.quantity == _VALUE:
            return METRICS[self.metric].interval(self.estimate)
        return self.estimate.low, self.estimate.high

    def text(self) -> str:
        """Write one clause for a table."""
        pair = self.pair
        head = f"{pair.signal}: {METRICS[self.metric].label}, {pair.left}"
        if pair.right is not None:
            head += f" {self.quantity} {pair.right}"
        if pair.right_signal is not None:
            head += f" of {pair.right_signal}"
        if math.isnan(self.estimate.mean):
            return f"{head}: not measured in every seed"
        mean, low, high = _told_apart((self.estimate.mean, *self._interval), *self.bounds)
        unit = METRICS[self.metric].unit if pair.right is None else ""
        return f"{head} = {mean} [{low}, {high}] {unit}".rstrip()

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn reproduce --json`."""
        of_two = {} if self.pair.right_signal is None else {"right_signal": self.pair.right_signal}
        return {
            "signal": self.pair.signal,
            "metric": self.metric,
            "left": self.pair.left,
            "right": self.pair.right,
            **of_two,
            "quantity": _QUANTITIES.get(self.quantity, "difference"),
            "estimate": self.estimate.mean,
            "ci95": [*self._interval],
            "seeds": self.seeds,
            "verdict": self.verdict,
        }


# The most cells that a sentence names.
_NAMED = 4

# The signs between left and right, and their names.
_RATIO, _VALUE = "/", "="
_QUANTITIES = {_RATIO: "ratio", _VALUE: "value"}


def _told_apart(numbers: Sequence[float], *bounds: float) -> list[str]:
    """Write numbers in three digits, or in as many as show on which side of each bound each
    lies."""

    def sides(number: float) -> list[int]:
        return [(number > bound) - (number < bound) for bound in bounds]

    for digits in range(3, 12):
        texts = [f"{number:.{digits}g}" for number in numbers]
        if all(sides(float(text)) == sides(n) for text, n in zip(texts, numbers, strict=True)):
            break
    return texts


@dataclass(frozen=True)
class Decision:
    """A claim, its verdict, and the measurements."""

    claim: Claim
    verdict: Verdict
    rule: Verdict  # the rule's verdict, also where `verdict` is 'calibrated'
    checks: tuple[Check, ...]

    @property
    def seeds(self) -> int:
        """Count the seeds of the cell that has the fewest."""
        return min(check.seeds for check in self.checks)

    @property
    def is_provisional(self) -> bool:
        """Tell whether there are fewer seeds than a verdict needs."""
        return self.seeds < SEEDS

    def counts(self) -> dict[Verdict, int]:
        """Count the cells that hold, fail and are undecided."""
        verdicts = [check.verdict for check in self.checks]
        return {verdict: verdicts.count(verdict) for verdict in _RULES}

    def tally(self) -> str:
        """Write the counts for a table, with the number that must hold; empty for a single cell."""
        if len(self.checks) == 1:
            return ""
        words = {"holds": "hold", "fails": "fail", "undecided": "undecided"}
        counts = ", ".join(f"{count} {words[verdict]}" for verdict, count in self.counts().items())
        need = next(n for n in range(len(self.checks) + 1) if _met(n, self))
        return f"{len(self.checks)} cells: {counts}; {need} must hold"

    def against(self) -> str:
        """List the cells by which the claim fails; empty where it does not fail or has a single
        cell."""
        if self.rule != "fails" or len(self.checks) == 1:
            return ""
        failed = [check.text() for check in self.checks if check.verdict == "fails"]
        more = [f"and {len(failed) - _NAMED} more"] if len(failed) > _NAMED else []
        return "fail: " + "; ".join([*failed[:_NAMED], *more]) if failed else ""

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn reproduce --json`."""
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
    """Decide one claim; `values` gives the measurements of a cell in the order of the seeds."""
    checks = tuple(
        _check(claim, pair, metric, values) for pair in claim.pairs for metric in claim.metrics
    )
    decision = Decision(claim, "undecided", "undecided", checks)
    counts = decision.counts()
    rule: Verdict = "undecided"
    if _met(counts["holds"], decision):
        rule = "holds"
    elif not _met(counts["holds"] + counts["undecided"], decision):
        rule = "fails"
    settled = any(cell in calibrated for cell in claim.cells())
    return replace(decision, verdict="calibrated" if settled else rule, rule=rule)


def _met(count: int, decision: Decision) -> bool:
    """Tell whether this count of cells is enough. 'Most' is more than half."""
    share = count / len(decision.checks)
    claim = decision.claim
    return share > claim.quorum if claim.more_than else share >= claim.quorum


def _check(claim: Claim, pair: Pair, metric: str, values: Values) -> Check:
    measured = [values((signal, algorithm, metric)) for signal, algorithm in pair.sides]
    if pair.right is None:
        of_value = _beside_value(claim, pair, metric, estimate(measured[0]))
        return replace(of_value, seeds=len(measured[0]))
    # Seeds begin at 1: a cell with fewer seeds is matched with the first of the other.
    matched = list(zip(*measured, strict=False))
    if isinstance(claim.factor, tuple):
        least, most = claim.factor
        sides = [
            _side(matched, "greater", least, None),
            _side(matched, "less", most, None),
        ]
        size, word, _ = sides[0]
        verdict = _both([verdict for _, _, verdict in sides])
    else:
        size, word, verdict = _side(matched, claim.relation, claim.factor, claim.margin)
    bounds = (1.0 if word == _RATIO else 0.0,)
    return Check(pair, metric, word, size, verdict, bounds, len(matched))


def _beside_value(claim: Claim, pair: Pair, metric: str, left: Estimate) -> Check:
    """Decide left alone against one number or between two."""
    if isinstance(pair.value, tuple):
        least, most = bounds = pair.value
        verdict = _both([_verdict(left, least, "greater"), _verdict(left, most, "less")])
        return Check(pair, metric, _VALUE, left, verdict, bounds)
    bound = float(pair.value or 0.0)
    return Check(pair, metric, _VALUE, left, _verdict(left, bound, claim.relation), (bound,))


def _both(verdicts: Sequence[Verdict]) -> Verdict:
    """Combine the verdicts on two sides that must both hold."""
    if "fails" in verdicts:
        return "fails"
    return "holds" if set(verdicts) == {"holds"} else "undecided"


def _side(
    matched: Sequence[tuple[float, float]], relation: str, factor: float, margin: float | None
) -> tuple[Estimate, str, Verdict]:
    """Return the ratio or difference, its sign, and the verdict on it."""
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


def _verdict(size: Estimate, bound: float, relation: str) -> Verdict:
    below, above = size.high < bound, size.low > bound
    if relation == "greater":
        below, above = above, below
    return "holds" if below else "fails" if above else "undecided"


NOT_RUN = "not run"
VERDICTS = ("holds", "fails", "undecided", "calibrated", NOT_RUN)


@dataclass(frozen=True)
class Judged:
    """A claim on one host: decided, or with the runs that it still needs."""

    host: str
    claim: Claim
    decision: Decision | None
    missing: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """Name the verdict as tables have it."""
        return self.decision.verdict if self.decision else NOT_RUN

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn reproduce --json`."""
        if self.decision:
            return {"host": self.host, **self.decision.to_json()}
        claim = self.claim
        words = {"id": claim.id, "text": claim.text, "source": claim.source}
        return {"host": self.host, **words, "verdict": self.verdict, "missing": list(self.missing)}


def lacking(experiment: str, gone: Sequence[str], some_ran: bool) -> str:
    """Name the experiment that has to run, or the cells of it."""
    if not some_ran:
        return experiment
    more = f"; and {len(gone) - _NAMED} more" if len(gone) > _NAMED else ""
    return f"{experiment} ({'; '.join(gone[:_NAMED])}{more})"


def count(judged: Iterable[Judged]) -> dict[str, int]:
    """Count the claims of each verdict."""
    verdicts = [claim.verdict for claim in judged]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS}
