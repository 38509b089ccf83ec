# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A claim on a host, decided or not run, and the count of each verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.papers.claims import Claim, Decision

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
        said = {"id": claim.id, "text": claim.text, "source": claim.source}
        return {"host": self.host, **said, "verdict": self.verdict, "missing": list(self.missing)}


# The most cells that a sentence names.
_NAMED = 4


def lacking(experiment: str, gone: Sequence[str], some_ran: bool) -> str:
    """Name the experiment that has to run, or the cells of it."""
    if not some_ran:
        return experiment
    more = f"; and {len(gone) - _NAMED} more" if len(gone) > _NAMED else ""
    return f"{experiment} ({'; '.join(gone[:_NAMED])}{more})"


def count(judged: Iterable[Judged]) -> dict[str, int]:
    """Count the claims of each verdict."""
    found = [one.verdict for one in judged]
    return {verdict: found.count(verdict) for verdict in VERDICTS}
