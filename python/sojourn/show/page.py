# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Common parts of all pages: one self-contained file from a template, and the format of numbers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sojourn import _native
from sojourn.core.hosts import machine
from sojourn.core.text import NOTHING
from sojourn.result.metrics import METRICS
from sojourn.result.stats import Estimate
from sojourn.show import theme
from sojourn.show.chart import NARROW_IN, WIDE_IN, Chart


def number(value: float | None) -> str:
    """Write a number with three or four significant digits; a dash where there is none."""
    if value is None or math.isnan(value):
        return NOTHING
    return f"{value:.2f}" if abs(value) < 100 else f"{value:.1f}"


def spread(estimate: Estimate) -> str:
    """Write mean and half width; a dash where nothing was measured."""
    if math.isinf(estimate.half) or math.isnan(estimate.mean):
        return number(estimate.mean)
    return f"{number(estimate.mean)} ± {number(estimate.half)}"


def heading(metric: str) -> str:
    """Write the heading of a metric's column."""
    entry = METRICS[metric]
    return f"{entry.label} ({entry.unit})" if entry.unit else entry.label


def drawn(chart: Chart, prefix: str = "") -> dict[str, str]:
    """Draw a chart for a template: in both widths, with its caption and its numbers.

    The numbers are a link that contains them. The prefix makes its ids unique within a page.
    """
    from sojourn.show.drawing import draw, svg

    widths_in = {"wide": WIDE_IN, "narrow": NARROW_IN}
    return {
        **{
            width: svg(draw(chart, width_in), f"{prefix}{chart.name}-{width}", chart.words)
            for width, width_in in widths_in.items()
        },
        "title": chart.title,
        "host": chart.host,
        "caption": " ".join(filter(None, (chart.caption, chart.few))),
        "file": chart.file if chart.columns else "",
        "link": f"data:text/csv;charset=utf-8,{quote(chart.csv(), safe=',.-+:()/')}"
        if chart.columns
        else "",
    }


def render(template: str, **of_page: Any) -> str:
    """Render one self-contained page."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parents[1] / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"number": number, "spread": spread, "heading": heading}
    return environment.get_template(template).render(
        core=_native.core_version(),
        host=machine(),
        style_sheet=theme.style_sheet(),
        **of_page,
    )
