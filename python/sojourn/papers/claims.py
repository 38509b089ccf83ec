# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The one rule that decides claims.

A claim compares a metric of two algorithms in one or more cells, or of one algorithm in two cells.
In each cell the runs are matched by seed. The quantity is the log of left / (factor × right). With
a margin it is left − right − margin. Where a value is not positive it is left − factor × right.
Beside a number that the text gives, the quantity is left itself, or the distance of each run from
the mean of all (`spread`). Its 95 % t-interval over the seeds decides. The claim holds if the
interval lies wholly on the claim's side, and is not found here if it lies wholly on the other side.
Else the claim is undecided. A claim that left lies between two multiples of right, or between two
numbers, has two sides, and both must hold.

A claim on several cells has a quorum: 'every', 'nearly every' (nine in ten), 'most' (more than
half), or a share, which is enough. It holds if the quorum is met even when all undecided cells
fail. It is not found here if the quorum is not met even when they all hold. It is undecided
otherwise. There is no other tolerance. A claim on a cell that settled a setting is 'calibrated' for
any result of the rule.

Print comes first. A reading that the paper's own numbers fail decides nothing, as
sojourn.papers.in_print finds. An order is compared only where print differs by more than two
standard deviations of one run. It does not hold where a pair that is left out is measured the other
way. A claim whose verdict turns with a quantity that the paper does not print is 'not in print'.
One that the paper's numbers or algorithm contradict in every fair reading is 'print contradicts
itself', and is measured all the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import stdev
from types import MappingProxyType
from typing import Any

from sojourn.papers.calculated import POLES, metric_of
from sojourn.papers.claim import (
    CAUSES,
    CONTRADICTED,
    NOT_FOUND,
    NOT_IN_PRINT,
    NOT_RUN,
    RULES,
    VERDICTS,
    Cell,
    Claim,
    Pair,
    Print,
    Verdict,
)
from sojourn.papers.in_print import Trial, named, rank_correlation, tried
from sojourn.result.metrics import METRICS
from sojourn.result.stats import Estimate, estimate

Values = Callable[[Cell], Sequence[float]]
# A verdict of fewer seeds than this is provisional.
SEEDS = 10


@dataclass(frozen=True)
class Check:
    """One pair and metric, decided."""

    pair: Pair
    metric: str
    quantity: str
    estimate: Estimate
    verdict: Verdict
    # The number has to lie above or below these, in its unit.
    bounds: tuple[float, ...] = (0.0,)
    seeds: int = 0  # the number that all its cells have

    @property
    def _interval(self) -> tuple[float, float]:
        """Return the ends of the interval; those of a value stay within its metric's range."""
        if self.quantity == _VALUE:
            return metric_of(self.metric).interval(self.estimate)
        return self.estimate.low, self.estimate.high

    def text(self) -> str:
        """Write one clause for a table."""
        pair = self.pair
        head = f"{pair.signal}: {metric_of(self.metric).label}, {pair.left}"
        if pair.right is not None:
            head += f" {self.quantity} {pair.right}"
        if pair.right_signal is not None:
            head += f" of {pair.right_signal}"
        if math.isnan(self.estimate.mean):
            return f"{head}: not measured in every seed"
        if self.metric == POLES.name:  # is calculated, and so has no interval
            return f"{head} = {self.estimate.mean:g}"
        mean, low, high = _told_apart((self.estimate.mean, *self._interval), *self.bounds)
        unit = metric_of(self.metric).unit if pair.right is None else ""
        if self.quantity == _SPREAD:
            head, unit = f"{head}, a run's distance from the mean", "%"
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


# The signs between left and right, and their names.
_RATIO, _VALUE, _CORRELATED, _SPREAD = "/", "=", "correlated with", "±"
_QUANTITIES = {
    _RATIO: "ratio",
    _VALUE: "value",
    _CORRELATED: "rank correlation",
    _SPREAD: "spread",
}


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


# What a table has for a reading that print fails, and for an order that print does not tell.
FAILS_IN_PRINT = "this reading fails on the paper's own numbers"
WITHIN_NOISE = "print's differences are within one run's noise"
# A spread needs this many runs.
_LEAST_RUNS = 3
# An order is compared beyond this many standard deviations of one run.
_BEYOND = 2.0


@dataclass(frozen=True)
class Decision:
    """A claim, its verdict, and the measurements."""

    claim: Claim
    verdict: Verdict
    rule: Verdict  # the rule's verdict, also where `verdict` is 'calibrated' or of print
    checks: tuple[Check, ...]
    trial: Trial | None = None  # on the numbers in print
    left_out: tuple[tuple[Pair, str], ...] = ()  # of an order, with their metrics
    contrary: tuple[Check, ...] = ()  # those of them that are measured the other way
    # By value of the quantity that is not in print.
    turns: Mapping[str, Decision] = field(default_factory=dict)

    @property
    def seeds(self) -> int:
        """Count the seeds of the cell that has the fewest."""
        return min((check.seeds for check in self.checks), default=0)

    @property
    def is_provisional(self) -> bool:
        """Tell whether there are fewer seeds than a verdict needs."""
        return self.seeds < SEEDS

    @property
    def fails_in_print(self) -> bool:
        """Tell whether the reading decides nothing because print fails it."""
        return bool(self.trial and self.trial.fails and not self.claim.contradicts)

    @property
    def beside(self) -> str:
        """Write the rule's verdict where the verdict is another."""
        if self.verdict == self.rule:
            return ""
        return f"{'measured' if self.verdict == CONTRADICTED else 'otherwise'}: {self.rule}"

    def counts(self) -> dict[Verdict, int]:
        """Count the cells that hold, those that do not, and those that are undecided."""
        verdicts = [check.verdict for check in self.checks]
        return {verdict: verdicts.count(verdict) for verdict in RULES}

    def tally(self) -> str:
        """Write the counts for a table, with the number that must hold; empty for a single cell."""
        if self.turns:
            axis = self.claim.turns.axis if self.claim.turns else ""
            by_value = (f"{value} {one.rule}, {one._held()}" for value, one in self.turns.items())
            return f"by {axis}: {'; '.join(by_value)}"
        if len(self.checks) < 2:
            return ""
        words = {"holds": "hold", NOT_FOUND: "do not", "undecided": "undecided"}
        counts = ", ".join(f"{count} {words[verdict]}" for verdict, count in self.counts().items())
        cells = len(self.checks)
        need = next(n for n in range(cells + 1) if self.claim.meets(n, cells))
        text = f"{cells} cells: {counts}; {need} must hold"
        return f"{text}; {self._by_opponent()}" if self.claim.by_opponent else text

    def _held(self) -> str:
        if self.claim.by_opponent and len(self.checks) > 1:
            return self._by_opponent()
        return f"{self.counts()['holds']} of {len(self.checks)} cells hold"

    def _by_opponent(self) -> str:
        """Write the cells that hold beside each opponent, those with all of them together. Several
        algorithms beside a single opponent are counted themselves."""
        pairs = [check.pair for check in self.checks]
        lefts, rights = {pair.left for pair in pairs}, {pair.right for pair in pairs}
        is_single = len(rights) == 1 < len(lefts)
        by_opponent: dict[str, list[bool]] = {}
        for check in self.checks:
            pair = check.pair
            is_itself = is_single or pair.right in (None, pair.left)
            name = f"of {pair.left}" if is_itself else f"than {pair.right}"
            by_opponent.setdefault(name, []).append(check.verdict == "holds")
        whole = [name for name, held in by_opponent.items() if all(held)]
        texts = []
        for word in ("than", "of"):
            names = [name.removeprefix(f"{word} ") for name in whole if name.startswith(f"{word} ")]
            cells = sum(len(by_opponent[f"{word} {name}"]) for name in names)
            texts += [f"{word} {', '.join(names)} {cells} of {cells}"] if names else []
        rest = {name: held for name, held in by_opponent.items() if name not in whole}
        return "; ".join(
            [*texts, *(f"{name} {sum(held)} of {len(held)}" for name, held in rest.items())]
        )

    def against(self) -> str:
        """List the cells by which the claim is not found; empty where it is, or has a single
        cell."""
        if self.rule != NOT_FOUND or len(self.checks) < 2:
            return ""
        failed = [check.text() for check in self.checks if check.verdict == NOT_FOUND]
        return f"not so: {named(failed)}" if failed else ""

    def remarks(self) -> list[str]:
        """Write a sentence for each thing in print that the verdict rests on."""
        texts = []
        if self.claim.contradicts:
            texts.append(f"print itself: {self.claim.contradicts}")
        if self.fails_in_print:
            texts.append(FAILS_IN_PRINT)
        if self.trial and self.trial.fails:
            texts.append(f"in print: {self.trial.text()}")
        if self.left_out and not self.checks:
            texts.append(WITHIN_NOISE)
        if self.left_out:
            pairs = [f"{pair.text()}, {METRICS[metric].label}" for pair, metric in self.left_out]
            texts.append(f"left out, within one run's noise in print: {named(pairs)}")
        if self.contrary:
            checks = named([check.text() for check in self.contrary])
            texts.append(f"measured the other way among these: {checks}")
        return texts

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn reproduce --json`."""
        return {
            **self.claim.to_json(),
            "verdict": self.verdict,
            "otherwise": self.rule if self.verdict != self.rule else None,
            "turns": {value: one.rule for value, one in self.turns.items()},
            "remarks": self.remarks(),
            "seeds": self.seeds,
            "quorum": self.claim.quorum,
            "counts": self.counts(),
            "measured": "; ".join(check.text() for check in self.checks),
            "checks": [check.to_json() for check in self.checks],
        }


_NONE: Print = MappingProxyType({})


def decide(
    claim: Claim, values: Values, calibrated: set[Cell], published: Print = _NONE
) -> Decision:
    """Decide one claim; `values` gives the measurements of a cell in the order of the seeds, and
    `published` the numbers in print."""
    decision = _decided(claim, values, published)
    if claim.turns:
        each = {
            value: _decided(replace(claim, pairs=pairs, turns=None), values, published)
            for value, pairs in claim.turns.pairs.items()
        }
        rules = {one.rule for one in each.values()}
        rule = rules.pop() if len(rules) == 1 else NOT_IN_PRINT
        decision = replace(decision, turns=each, rule=rule)
    if decision.fails_in_print:
        decision = replace(decision, rule="undecided")
    verdict = decision.rule
    if claim.contradicts:
        verdict = CONTRADICTED
    elif any(cell in calibrated for cell in claim.cells()):
        verdict = "calibrated"
    return replace(decision, verdict=verdict)


def _decided(claim: Claim, values: Values, published: Print) -> Decision:
    """Decide by the rule alone."""
    left_out = _too_close(claim, values, published) if claim.is_order else []
    checked = [(of, _check(claim, *of, values)) for of in claim.checks]
    checks = tuple(check for of, check in checked if of not in left_out)
    silent = (check for of, check in checked if of in left_out)
    contrary = tuple(check for check in silent if check.verdict == NOT_FOUND)
    if claim.together:
        checks = (_together(claim, values),)
    trial = tried(claim, published, left_out)
    decision = Decision(claim, "undecided", "undecided", checks, trial, tuple(left_out), contrary)
    if not checks:
        return decision
    counts = decision.counts()
    rule: Verdict = "undecided"
    if claim.meets(counts["holds"], len(checks)):
        rule = "undecided" if contrary else "holds"
    elif not claim.meets(counts["holds"] + counts["undecided"], len(checks)):
        rule = NOT_FOUND
    return replace(decision, verdict=rule, rule=rule)


def _too_close(claim: Claim, values: Values, published: Print) -> list[tuple[Pair, str]]:
    """List the pairs whose printed numbers differ by at most _BEYOND standard deviations of one run
    of ours. A single seed has no deviation, and decides nothing anyway."""
    close = []
    for pair, metric in claim.checks:
        cells = pair.cells(metric)
        if not all(cell in published for cell in cells):
            continue
        left, right = (published[cell] for cell in cells)
        runs = [values(cell) for cell in cells]
        deviations = [stdev(run) for run in runs if len(run) > 1 and not any(map(math.isnan, run))]
        if deviations and abs(left - right) <= _BEYOND * max(deviations):
            close.append((pair, metric))
    return close


def _check(claim: Claim, pair: Pair, metric: str, values: Values) -> Check:
    measured = [values((signal, algorithm, metric)) for signal, algorithm in pair.sides]
    if pair.right is None:
        runs = _distances_pct(measured[0]) if claim.spread else measured[0]
        of_value = _beside_value(claim, pair, metric, estimate(runs))
        return replace(
            of_value, quantity=_SPREAD if claim.spread else _VALUE, seeds=len(measured[0])
        )
    # Seeds begin at 1: a cell with fewer seeds is matched with the first of the other.
    matched = list(zip(*measured, strict=False))
    factors: tuple[float, ...]
    if isinstance(claim.factor, tuple):
        least, most = factors = claim.factor
        sides = [
            _side(matched, "greater", least, None),
            _side(matched, "less", most, None),
        ]
        size, word, _ = sides[0]
        verdict = _both([verdict for _, _, verdict in sides])
    else:
        size, word, verdict = _side(matched, claim.relation, claim.factor, claim.margin)
        factors = (claim.factor,)
    bounds = factors if word == _RATIO else (claim.margin or 0.0,)
    return Check(pair, metric, word, size, verdict, bounds, len(matched))


def _together(claim: Claim, values: Values) -> Check:
    """Correlate the ranks of two metrics over all cells, seed by seed."""
    (metric,) = claim.metrics
    own, beside = (
        list(zip(*(values(cell) for pair in claim.pairs for cell in pair.cells(of)), strict=False))
        for of in (metric, claim.together)
    )
    sizes = estimate([rank_correlation(*of_seed) for of_seed in zip(own, beside, strict=False)])
    label = f"ranks of {METRICS[claim.together].label}"
    pair = Pair(f"{len(claim.pairs)} cells", "ranks", label)
    bound = claim.pairs[0].value
    assert isinstance(bound, float)
    verdict = _verdict(sizes, bound, claim.relation)
    return Check(pair, metric, _CORRELATED, sizes, verdict, (bound,), len(own))


def _beside_value(claim: Claim, pair: Pair, metric: str, left: Estimate) -> Check:
    """Decide left alone against one number or between two."""
    if isinstance(pair.value, tuple):
        least, most = bounds = pair.value
        verdict = _both([_verdict(left, least, "greater"), _verdict(left, most, "less")])
        return Check(pair, metric, _VALUE, left, verdict, bounds)
    bound = float(pair.value or 0.0)
    return Check(pair, metric, _VALUE, left, _verdict(left, bound, claim.relation), (bound,))


def _distances_pct(runs: Sequence[float]) -> list[float]:
    """Return the distance of each run from the mean of all, in percent of that. Two runs have one
    distance, which says nothing of its own error."""
    if len(runs) < _LEAST_RUNS:
        return [math.nan] * len(runs)
    mean = sum(runs) / len(runs)
    return [100 * abs(run - mean) / mean if mean else 0.0 for run in runs]


def _both(verdicts: Sequence[Verdict]) -> Verdict:
    """Combine the verdicts on two sides that must both hold."""
    if NOT_FOUND in verdicts:
        return NOT_FOUND
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
    # Beyond 709 math.exp overflows.
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
    return "holds" if below else NOT_FOUND if above else "undecided"


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

    @property
    def cause(self) -> str:
        """Write the cause of a claim that is not found here; empty for another verdict."""
        return self.claim.reason if self.verdict == NOT_FOUND else ""

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn reproduce --json`."""
        if self.decision:
            return {"host": self.host, **self.decision.to_json()}
        return {
            "host": self.host,
            **self.claim.to_json(),
            "verdict": self.verdict,
            "missing": list(self.missing),
        }


def lacking(experiment: str, gone: Sequence[str], some_ran: bool) -> str:
    """Name the experiment that has to run, or the cells of it."""
    if not some_ran:
        return experiment
    return f"{experiment} ({named(gone)})"


def causes(judged: Iterable[Judged]) -> dict[str, int]:
    """Count the claims that are not found here by their cause."""
    missed = [claim.claim.cause for claim in judged if claim.verdict == NOT_FOUND]
    return {cause: missed.count(cause) for cause in CAUSES if cause in missed}


def count(judged: Iterable[Judged]) -> dict[str, int]:
    """Count the claims of each verdict."""
    verdicts = [claim.verdict for claim in judged]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS}
