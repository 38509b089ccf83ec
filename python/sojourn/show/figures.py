# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The pictures of a result, by name.

Each takes cases that fit into one chart and returns it. Otherwise it raises a sentence that names
the missing key of the scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sojourn.core.errors import InputError, nearest
from sojourn.result.compare import Case, labels
from sojourn.show.chart import LOOKS, Chart
from sojourn.show.distributions import ccdf, cdf, fct, page
from sojourn.show.measured import Absent, Measured, Missing
from sojourn.show.over_time import cwnd, delay, drops, probability, rate, srtt
from sojourn.show.tradeoff import tradeoff

FIGURES: Mapping[str, Callable[[Measured, Sequence[Case]], Chart]] = {
    "delay": delay,
    "cdf": cdf,
    "ccdf": ccdf,
    "fct": fct,
    "page": page,
    "rate": rate,
    "cwnd": cwnd,
    "srtt": srtt,
    "drops": drops,
    "probability": probability,
    "tradeoff": tradeoff,
}


def charts(
    measured: Measured, wanted: Sequence[str] = (), told: Callable[[int], None] = lambda _: None
) -> tuple[list[Chart], list[str]]:
    """Make the wanted pictures, or all of them, and a sentence for each that cannot be made.

    If a picture has fewer looks than cases, the cases are spread over several pictures. `told` gets
    the number of finished pictures.
    """
    chosen = list(dict.fromkeys(wanted)) or list(FIGURES)
    for name in chosen:
        if name not in FIGURES:
            raise InputError(f"--figure {name}: there is no such figure.{nearest(name, FIGURES)}")
    found, sentences = [], []
    parts = _parts(list(measured.by_case))
    for done, name in enumerate(chosen, 1):
        of_parts: list[Chart] = []
        missing: list[str] = []
        for title, part in parts:
            try:
                of_parts.append(_titled(FIGURES[name](measured, part), title))
            except Missing as sentence:
                # A picture that the traffic cannot have is reported only if it is asked for.
                if wanted or not isinstance(sentence, Absent):
                    missing.append(str(sentence))
        # If only some cases lack it, the caption of the others' picture names them.
        sentences += missing[:1] if not of_parts else []
        told(done)
        found += [_numbered(chart, n, len(of_parts)) for n, chart in enumerate(of_parts, 1)]
    if not found:
        raise InputError("; ".join(sentences))
    return found, sentences


def _parts(cases: list[Case]) -> list[tuple[str, list[Case]]]:
    """Group the cases that fit into one picture, each group with a title.

    The title names the labels that the cases have in common, and a part number where it is needed.
    It is empty where all cases fit.
    """
    if len(cases) <= LOOKS:
        return [("", cases)]
    alike: dict[Case, list[Case]] = {}
    for case in cases:
        alike.setdefault(replace(case, aqm=""), []).append(case)
    said = labels(alike)
    parts = []
    for number, of_picture in enumerate(alike.values()):
        words = [said[key][number] for key in ("result", "signal", "host") if key in said]
        count = -(-len(of_picture) // LOOKS)
        for i in range(count):
            part = f"part {i + 1} of {count}"
            title = ", ".join([*words, *([part] if count > 1 else [])])
            parts.append((title, of_picture[i * LOOKS : (i + 1) * LOOKS]))
    return parts


def _titled(chart: Chart, title: str) -> Chart:
    return chart.with_title(f"{chart.title}: {title}") if title else chart


def _numbered(chart: Chart, number: int, of: int) -> Chart:
    return replace(chart, name=f"{chart.name}-{number}") if of > 1 else chart
