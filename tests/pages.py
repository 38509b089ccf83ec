# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A page as its elements, for the tests of reports and of pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"meta", "br", "img", "hr", "link", "input"}


@dataclass
class Element:
    """A tag with its attributes, and all text inside it."""

    tag: str
    attributes: dict[str, str]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """The elements of a page; fails where a tag is not closed in its place."""

    elements: list[Element] = field(default_factory=list)
    unclosed: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))
        if tag not in _VOID:
            self.unclosed.append(self.elements[-1])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.unclosed, f"</{tag}> at {self.getpos()} closes nothing"
        opened = self.unclosed.pop().tag
        assert opened == tag, f"</{tag}> at {self.getpos()} closes <{opened}>"

    def handle_data(self, data: str) -> None:
        for element in self.unclosed:
            element.text += data

    def named(self, *tags: str) -> list[Element]:
        """The elements of these names."""
        return [element for element in self.elements if element.tag in tags]


def parse(text: str) -> Page:
    """The whole page."""
    page = Page()
    page.feed(text)
    page.close()
    assert not page.unclosed
    return page
