# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Hooks of mkdocs.yml: folders in the navigation, paths outside docs/, nothing from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError

ROOT = Path(__file__).resolve().parents[1]
_LINK = re.compile(r"\[([^\[\]]*)\]\(((?:\.\./)+[^)\s]*)\)")
# A page may link to other sites. It loads nothing of theirs.
_LOADED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?(?:https?:)?//[^>]*>"
    r"|<link\b(?=[^>]*rel=[\"']?(?:stylesheet|preconnect|preload|icon))[^>]*href=[\"']?(?:https?:)?//[^>]*>"
)


def on_config(config: Any) -> Any:
    """Replace a folder of the navigation by its pages, in the order of their names."""
    config.nav = _listed(config.nav, Path(config.docs_dir))
    return config


def _listed(entry: Any, docs: Path) -> Any:
    if isinstance(entry, list):
        return [_listed(item, docs) for item in entry]
    if isinstance(entry, dict):
        return {title: _listed(item, docs) for title, item in entry.items()}
    if not entry.endswith("/"):
        return entry
    return [str(page.relative_to(docs)) for page in sorted((docs / entry).glob("*.md"))]


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Name a file of the repository by its path: the site has pages of docs/ alone."""
    folder = Path(page.file.abs_src_path).parent

    def named(match: re.Match[str]) -> str:
        words, target = match[1], match[2].partition("#")[0]
        path = (folder / target).resolve()
        if path.is_relative_to(ROOT / "docs"):
            return match[0]
        if not path.exists():
            raise PluginError(f"{page.file.src_path}: {match[2]}: there is no such file")
        name = str(path.relative_to(ROOT))
        same = words.strip("`") in {path.name, name}
        return f"`{name}`" if same else f"{words} (`{name}`)"

    return _LINK.sub(named, markdown)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Refuse a page that loads something from elsewhere."""
    if loaded := _LOADED.search(output):
        raise PluginError(f"{page.file.src_path}: loads from elsewhere: {loaded[0][:200]}")
    return output
