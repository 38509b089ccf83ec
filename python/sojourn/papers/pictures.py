# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The figures of a paper redrawn, by the kind that an experiment's [figure] names. A kind makes
pictures of a reproduction; each has its words and the numbers that it draws.

[figure]
kind = "delay"     over time, a curve for each algorithm; unless given (sojourn.papers.figure)
kind = "axis"      a metric over an axis, a line for each algorithm (sojourn.papers.over_axis)
kind = "curve"     a metric over another, a point for each value of an axis
                   (sojourn.papers.over_curve)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from sojourn.core.errors import InputError, nearest
from sojourn.papers.picture import Picture

if TYPE_CHECKING:
    from sojourn.papers.experiment import Experiment
    from sojourn.papers.reproduce import Reproduction

# What makes the pictures of a kind; a kind says in its own file what it needs of [figure].
Kind = Callable[["Reproduction"], Iterable[Picture]]


def _delay(reproduction: Reproduction) -> Iterable[Picture]:
    # It draws with matplotlib, which is slow to import.
    from sojourn.papers.figure_delay import pictures

    return pictures(reproduction)


def _axis(reproduction: Reproduction) -> Iterable[Picture]:
    from sojourn.papers.report_axis import pictures

    return pictures(reproduction)


def _curve(reproduction: Reproduction) -> Iterable[Picture]:
    from sojourn.papers.figure_curve import pictures

    return pictures(reproduction)


KINDS: dict[str, Kind] = {"delay": _delay, "axis": _axis, "curve": _curve}


def kind_of(experiment: Experiment) -> str:
    """The kind of its figures; InputError where there is none of this name."""
    kind = str(experiment.data.get("figure", {}).get("kind", "delay"))
    if kind not in KINDS:
        place = experiment.folder / "experiment.toml"
        raise InputError(
            f"{place}: figure.kind = '{kind}': there is no such kind.{nearest(kind, KINDS)}"
        )
    return kind


def pictures_of(reproduction: Reproduction) -> list[Picture]:
    """Every figure of an experiment, those of its ablations too; none where it names no kind."""
    if "figure" not in reproduction.experiment.data:
        return []
    return list(KINDS[kind_of(reproduction.experiment)](reproduction))
