# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What holds for every page: of a report, and of pictures."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
import sojourn
from sojourn.papers.page import html as paper_page
from sojourn.papers.reproduce import Reproduction
from sojourn.show.figures import charts, html
from sojourn.show.measured import Measured

from tests.conftest import SMALL
from tests.pages import Page, parse

NARROW_PX = 390


def of_pictures() -> str:
    """Two results, each with several of everything, and what one lacks."""
    full = (
        SMALL
        + """
[[dumbbell.flows]]
name = "voice"
transport = "udp"
app = { kind = "cbr", rate = "64 kbit/s" }

[record]
events = true
[[record.windows]]
name = "early"
from = "0 s"
to = "1 s"
[[record.windows]]
name = "late"
from = "1 s"
to = "2 s"
"""
    )
    first = sojourn.run(sojourn.loads(full), aqms=["codel", "pie"], seeds=2, workers=1)
    second = sojourn.run(sojourn.loads(SMALL), aqms=["codel:target=2ms,interval=20ms"], workers=1)
    measured = Measured({"first": first, "second": second})
    return html(measured, charts(measured)[0], ["a sentence & its <remedy>"])


@pytest.fixture(scope="module", params=["report", "pictures"])
def text(
    request: pytest.FixtureRequest,
    beside: Reproduction,
    tmp_path_factory: pytest.TempPathFactory,
) -> str:
    if request.param == "report":
        return paper_page([beside, beside])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        return of_pictures()


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return parse(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<p>a</b></p>", r"</b> at \(1, 4\) closes <p>"),
        ("<p>a</p></p>", r"</p> at \(1, 8\) closes nothing"),
    ],
)
def test_a_stray_end_tag_is_told_with_its_place(text: str, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        parse(text)


def test_every_tag_is_closed_and_every_id_is_there_once(page: Page) -> None:
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(set(ids)) == len(ids)
    used = [e.attributes["xlink:href"] for e in page.elements if "xlink:href" in e.attributes]
    assert used and {href.removeprefix("#") for href in used} <= set(ids)
    clips = re.findall(r"url\(#(.*?)\)", " ".join(str(e.attributes) for e in page.elements))
    assert clips and set(clips) <= set(ids)


def test_no_heading_skips_a_level(page: Page) -> None:
    levels = [int(element.tag[1]) for element in page.named("h1", "h2", "h3", "h4", "h5", "h6")]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_nothing_is_wider_than_a_telephone(page: Page, text: str) -> None:
    for element in page.elements:
        if element.tag in ("svg", "table", "div", "figure", "img", "td", "th"):
            assert "width" not in element.attributes
            assert "width:" not in element.attributes.get("style", "")
    (style, *_) = page.named("style")
    for prefix, length, unit in re.findall(r"([\w-]*)width: ([\d.]+)(px|rem|em|pt)", style.text):
        px = float(length) * {"px": 1, "rem": 16, "em": 16, "pt": 4 / 3}[unit]
        assert prefix == "max-" or px <= NARROW_PX, f"{prefix}width: {length}{unit}"


def test_each_figure_is_drawn_for_both_widths_and_one_is_seen(page: Page) -> None:
    widths = [e.attributes.get("class") for e in page.named("div")]
    assert widths.count("wide") == widths.count("narrow") == len(page.named("figure"))
    boxes = [float(e.attributes["viewbox"].split()[2]) for e in page.named("svg")]
    assert all(narrow < 0.6 * wide for wide, narrow in zip(boxes[::2], boxes[1::2], strict=True))
    (style, *_) = page.named("style")
    assert ".narrow { display: none; }" in style.text
    assert ".wide { display: none; } .narrow { display: block; }" in style.text


def test_page_and_figures_follow_the_dark_scheme(page: Page) -> None:
    (style, *_) = page.named("style")
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
    backgrounds = [e for e in page.named("path") if "#ffffff" in e.attributes.get("style", "")]
    assert not backgrounds, "a figure has no ground of its own"


def test_each_figure_has_words_and_each_table_a_box_to_scroll_in(page: Page) -> None:
    assert all(e.attributes["role"] == "img" for e in page.named("svg"))
    assert all(len(e.attributes["aria-label"]) > 40 for e in page.named("svg"))
    boxes = [e for e in page.named("div") if e.attributes.get("class") == "scroll"]
    assert boxes and all(e.attributes["aria-label"].startswith("Table: ") for e in boxes)


def test_nothing_is_loaded_from_elsewhere(text: str) -> None:
    assert "http" not in text.replace("http://www.w3.org", "")
    assert "<script" not in text
