#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The version of Cargo.toml is the newest one of CHANGELOG.md, and the one of the kernel module."""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Files that tell the version, and where.
TOLD = {
    "linux/qdisc/dkms.conf": r'^PACKAGE_VERSION="(.*)"',
    "linux/qdisc/sch_sojourn.c": r'^MODULE_VERSION\("(.*)"\)',
    "linux/openwrt/sojourn/Makefile": r"^PKG_VERSION:=(.*)",
    "linux/debian/changelog": r"^sojourn \((.*)\)",
    "docs/start/first-run.md": r"\bsojourn-(\d[\d.]*\d)-",
    "docs/guide/router.md": r"\bsojourn[-/](\d[\d.]*\d)",
    "CITATION.cff": r"^version: (\S+)",
}


def main() -> str | None:
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    if newest is None or newest[1] != cargo:
        found = newest[1] if newest else "nothing"
        return f"CHANGELOG.md begins with {found}, Cargo.toml says {cargo}"
    for name, pattern in TOLD.items():
        found_here = set(re.findall(pattern, (ROOT / name).read_text(), re.MULTILINE))
        if found_here != {cargo}:
            return f"{name} has {' '.join(sorted(found_here))}, Cargo.toml says {cargo}"
    return None


if __name__ == "__main__":
    sys.exit(main())
