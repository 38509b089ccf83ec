# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The engine's rooms can be read one after the other: none uses a later one.

The order is that of the list at the head of `crates/sim/src/lib.rs`.
"""

from __future__ import annotations

import re
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "crates/sim/src"


def rooms(sources: Path) -> list[str]:
    """List the rooms in the order of the head of `lib.rs`."""
    return re.findall(r"^//! - \[`(\w+)`\]", (sources / "lib.rs").read_text(), re.MULTILINE)


def climbs(sources: Path) -> list[str]:
    """List each line of code that names a later room, and what `lib.rs` leaves out or hides."""
    order = rooms(sources)
    folders = {path.parent.name for path in sources.glob("*/mod.rs")}
    wrong = [f"lib.rs: {room} is no room or not listed" for room in folders ^ set(order)]
    for number, room in enumerate(order):
        for path in sorted((sources / room).rglob("*.rs")):
            for count, line in enumerate(path.read_text().splitlines(), 1):
                code = line.split("//")[0]
                used = {name for name in order if re.search(rf"\bcrate::{name}\b", code)}
                if used & set(order[number + 1 :]) or re.search(r"\bcrate::(\{|[A-Z])", code):
                    wrong.append(f"{path.relative_to(sources)}:{count}: {line.strip()}")
    return wrong


def test_no_room_of_the_engine_uses_a_later_one() -> None:
    assert len(rooms(SOURCES)) == 8
    assert climbs(SOURCES) == []


def test_a_climb_a_grouped_import_and_an_unlisted_room_are_seen(tmp_path: Path) -> None:
    (tmp_path / "lib.rs").write_text("//! - [`cellar`]: below.\n//! - [`roof`](mod@roof): above.\n")
    for room in ("cellar", "roof"):
        (tmp_path / room).mkdir()
    (tmp_path / "roof/mod.rs").write_text("use crate::cellar::Wine;\n// crate::roof\n")
    (tmp_path / "cellar/mod.rs").write_text("//! Not crate::roof.\n")
    assert climbs(tmp_path) == []

    (tmp_path / "cellar/mod.rs").write_text("fn f() { crate::roof::g() }\nuse crate::{roof};\n")
    (tmp_path / "attic").mkdir()
    (tmp_path / "attic/mod.rs").write_text("")
    assert climbs(tmp_path) == [
        "lib.rs: attic is no room or not listed",
        "cellar/mod.rs:1: fn f() { crate::roof::g() }",
        "cellar/mod.rs:2: use crate::{roof};",
    ]
