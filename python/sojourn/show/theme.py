# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The colours of a report, on light and on dark ground; page and figures read the same table."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Colour:
    """A custom property of the page, and its value in each scheme."""

    name: str
    light: str
    dark: str

    @property
    def css(self) -> str:
        """Return the property as a style sheet uses it; the fallback serves a figure outside its
        page."""
        return f"var(--{self.name}, {self.light})"


GROUND = Colour("ground", "#ffffff", "#14171a")
# Colours of text.
INK = Colour("ink", "#1a1a1a", "#e8e8e8")
SOFT = Colour("soft", "#5e5e5e", "#a9b0b7")
HOLDS = Colour("holds", "#00694a", "#4fd6a6")
FAILS = Colour("fails", "#b3261e", "#ff9c94")
UNDECIDED = Colour("undecided", "#855400", "#f0bd62")
CALIBRATED = Colour("calibrated", "#005a8c", "#79c6f5")
TEXTS = (INK, SOFT, HOLDS, FAILS, UNDECIDED, CALIBRATED)
# After Okabe and Ito: these stay distinct in print and for the colour-blind. Some are darker or
# lighter, as the originals would have less than three times the contrast of the ground.
CURVES = (
    Colour("curve-1", "#0072b2", "#5db4f0"),
    Colour("curve-2", "#d55e00", "#ff8d45"),
    Colour("curve-3", "#009e73", "#3fcf9f"),
    Colour("curve-4", "#b95f92", "#e5a2c9"),
    Colour("curve-5", "#a87400", "#f3c04a"),
    Colour("curve-6", "#338cc4", "#3b82b0"),
)
_MARKERS = "os^DvPX*<>hp"
# Rules and areas; values can be read without seeing them.
LINE = Colour("line", "#d9d9d9", "#3b4148")
SHADE = Colour("shade", "#f0f0f0", "#23292f")

ALL = (GROUND, *TEXTS, *CURVES, LINE, SHADE)
_BY_LIGHT = {colour.light: colour for colour in ALL} | {"#000000": INK}


def colour(look: int) -> str:
    """Return the colour of a curve or a point, for light ground."""
    return CURVES[look % len(CURVES)].light


def marker(look: int) -> str:
    """Return the marker of a point, in matplotlib's letters."""
    return _MARKERS[look % len(_MARKERS)]


def style_sheet() -> str:
    """Write the custom properties of both schemes."""
    light, dark = (
        " ".join(f"--{colour.name}: {getattr(colour, scheme)};" for colour in ALL)
        for scheme in ("light", "dark")
    )
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"  @media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
    )


def follow(svg: str) -> str:
    """Make a figure in light colours follow the page's scheme."""
    return re.sub(
        r"(fill|stroke): (#[0-9a-f]{6})",
        lambda style: f"{style[1]}: {_BY_LIGHT[style[2]].css}",
        svg,
    )


def style_by_scheme() -> str:
    """Write the style of a figure that is a file of its own: dark colours on dark ground.

    Programs that do not know the rule draw the figure as on light ground.
    """
    rules = "".join(
        f'[style*="{what}: {light}"] {{ {what}: {colour.dark} !important }} '
        for light, colour in _BY_LIGHT.items()
        for what in ("fill", "stroke")
    )
    text = f":root {{ fill: {INK.light} }}"
    dark = f":root {{ fill: {INK.dark} }} {rules}"
    return f"{text} @media (prefers-color-scheme: dark) {{ {dark}}}"
