# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The HTML report: one file that reads well in the dark, on a telephone and aloud."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sojourn import report, theme
from sojourn.figure import curves
from sojourn.figure_peers import lines
from sojourn.reproduce import Reproduction

NARROW_PX = 390
_VOID = {"meta", "br", "img", "hr", "link", "input"}


@dataclass
class Element:
    """A start tag."""

    tag: str
    attributes: dict[str, str]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """The elements of a page; fails where a tag is not closed in its place."""

    elements: list[Element] = field(default_factory=list)
    open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))
        if tag not in _VOID:
            self.open.append(self.elements[-1])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag, f"</{tag}> at {self.getpos()}"

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data

    def all(self, *tags: str) -> list[Element]:
        """Those of these names."""
        return [element for element in self.elements if element.tag in tags]


def parse(text: str) -> Page:
    """The whole page."""
    page = Page()
    page.feed(text)
    page.close()
    assert not page.open
    return page


@pytest.fixture(scope="module")
def text(beside: Reproduction) -> str:
    """Two experiments on both hosts: every kind of figure and table, and more than one of each."""
    return report.html([beside, beside])


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return parse(text)


def test_the_report_is_one_file_with_a_figure_for_each_signal(
    short: Reproduction, tmp_path: Path
) -> None:
    path = report.write_all([short], {"experiments": [short.to_json()]}, tmp_path)
    page = path.read_text()
    assert page.count("<figure>") == len(short.experiment.signals())
    assert "http" not in page.replace("http://www.w3.org", ""), "nothing is loaded from elsewhere"
    assert all(decision.claim.id in page for decision in short.decisions)
    calibrated = [d for d in short.decisions if d.verdict == "calibrated"]
    assert page.count("otherwise: <span") == len(calibrated) > 0


def test_with_linux_the_report_has_the_kernels_own_beside_ours(beside: Reproduction) -> None:
    page = report.html([beside])
    signals = beside.experiment.signals()
    judged = sum(not signal.ablates for signal in signals)
    # Each signal on the simulator; those that are judged also on Linux and beside the kernel's own.
    assert page.count("<figure>") == len(signals) + 2 * judged
    assert page.count("kernel:pie</th>") == judged
    assert beside.cell("linux", "ecn", "kernel:codel", "mark_pct").published is None


def test_every_tag_is_closed_and_every_id_is_there_once(page: Page) -> None:
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(set(ids)) == len(ids)
    used = [e.attributes["xlink:href"] for e in page.elements if "xlink:href" in e.attributes]
    assert used and {href.removeprefix("#") for href in used} <= set(ids)
    clips = re.findall(r"url\(#(.*?)\)", " ".join(str(e.attributes) for e in page.elements))
    assert clips and set(clips) <= set(ids)


def test_the_page_names_its_language_and_its_experiments(page: Page, short: Reproduction) -> None:
    assert page.all("html")[0].attributes["lang"] == "en"
    (title,) = page.all("title")
    assert short.experiment.title in title.text


def test_no_heading_skips_a_level(page: Page) -> None:
    levels = [int(element.tag[1]) for element in page.all("h1", "h2", "h3", "h4", "h5", "h6")]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_every_figure_says_its_numbers_in_words(page: Page, beside: Reproduction) -> None:
    said = [e.attributes["aria-label"] for e in page.all("svg", "img")]
    assert said and all(e.attributes["role"] == "img" for e in page.all("svg"))
    begin_s, end_s = 30, 60
    for host in beside.hosts:
        for curve in curves(beside, "drop", host):
            inside = curve.y[(curve.x > begin_s) & (curve.x < end_s)]
            clause = f"{curve.name} {inside.mean():.1f}, {np.nanmax(curve.y):.1f} at "
            assert any(clause in words for words in said), clause
    for of_algorithm in lines(beside, "ecn"):
        for line in of_algorithm:
            median = np.median(line.within)
            clause = f"{line.algorithm} ({line.look.label}) {median:.1f} and "
            assert any(clause in words for words in said), clause
    assert all("of DUK" in words or "kernel:codel" in words for words in said)


def test_nothing_is_wider_than_a_telephone(page: Page, text: str) -> None:
    for element in page.elements:
        if element.tag in ("svg", "table", "div", "figure", "img", "td", "th"):
            assert "width" not in element.attributes
            assert "width:" not in element.attributes.get("style", "")
    (style, *_) = page.all("style")
    for prefix, length, unit in re.findall(r"([\w-]*)width: ([\d.]+)(px|rem|em|pt)", style.text):
        px = float(length) * {"px": 1, "rem": 16, "em": 16, "pt": 4 / 3}[unit]
        assert prefix == "max-" or px <= NARROW_PX, f"{prefix}width: {length}{unit}"


def test_every_table_scrolls_in_its_own_box_or_stacks(text: str) -> None:
    tables = re.findall(r"(.*)<table(.*?)>", text)
    assert tables
    for before, attributes in tables:
        scrolls = before.startswith('<div class="scroll" tabindex="0" role="region" aria-label="')
        assert scrolls or 'class="claims"' in attributes


def test_each_figure_is_drawn_for_both_widths_and_one_is_seen(page: Page) -> None:
    widths = [e.attributes.get("class") for e in page.all("div")]
    assert widths.count("wide") == widths.count("narrow") == len(page.all("figure"))
    boxes = [float(e.attributes["viewbox"].split()[2]) for e in page.all("svg")]
    assert all(narrow < 0.6 * wide for wide, narrow in zip(boxes[::2], boxes[1::2], strict=True))
    (style, *_) = page.all("style")
    assert ".narrow { display: none; }" in style.text
    assert ".wide { display: none; } .narrow { display: block; }" in style.text


def test_page_and_figures_follow_the_dark_scheme(page: Page) -> None:
    (style, *_) = page.all("style")
    light, dark = re.findall(r":root \{(.*?)\}", style.text)
    assert "@media (prefers-color-scheme: dark) { :root {" in style.text
    names = [set(re.findall(r"--([\w-]+):", scheme)) for scheme in (light, dark)]
    assert names[0] == names[1]
    assert not re.search(r"#[0-9a-f]{3,8}\b", style.text.replace(light, "").replace(dark, ""))
    for element in page.elements:
        painted = element.attributes.get("style", "")
        for name in re.findall(r"var\(--([\w-]+)", painted):
            assert name in names[0]
        assert not re.search(r"#[0-9a-f]{6}", re.sub(r"var\(.*?\)", "", painted)), painted
    backgrounds = [e for e in page.all("path") if "#ffffff" in e.attributes.get("style", "")]
    assert not backgrounds, "a figure has no ground of its own"


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    """From 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_curves_stand_out_from_their_ground(scheme: str) -> None:
    for ground in (theme.GROUND, theme.SHADE):
        under = getattr(ground, scheme)
        for colour in theme.TEXTS:
            assert contrast(getattr(colour, scheme), under) >= 4.5, (colour, ground)
        for colour in theme.CURVES:
            assert contrast(getattr(colour, scheme), under) >= 3, (colour, ground)
