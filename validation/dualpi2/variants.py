# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""variants.py: our dualpi2 with what the kernel's has otherwise, one thing at a time.

Rows say most of it. For the rest a copy of aqm/algorithms/dualpi2.c is changed: `draws` draws each
signal where ours spaces them. By default ours has the kernel's silence of p' while less than two
full packets wait.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "aqm/algorithms/dualpi2.c"
KERNEL = "kernel:dualpi2"
STEP = 'min_th = "1 ms", range = "0 s", th_len = 0'
SHARE = 'classic_share = "10 %"'
NOT_QUIET = "spared = 0"

DRAWS = (
    ('#include "fixed.h"\n', '#include "fixed.h"\n#include "rng.h"\n'),
    ("\tu32 begun;\n", "\tu32 begun;\n\tstruct aqm_rng rng;\n"),
    ("(void)st, (void)seed;", "rng_seed(&((struct dualpi2_state *)st)->rng, seed, 1);"),
    ("static bool recur(u64 *count, u64 likelihood)\n", "@"),
    ("recur(&s->count[L4S], ", "drawn(s, "),
    ("recur(&s->count[CLASSIC], ", "drawn(s, "),
)
DRAWN = """\
static bool drawn(struct dualpi2_state *s, u64 likelihood)
{
	return likelihood && rng_u32(&s->rng) <= likelihood >> 16;
}
"""


@dataclass(frozen=True)
class Variant:
    """An algorithm by name, or our file with changes, and rows."""

    title: str
    rows: str = ""
    changes: Sequence[str] = ()
    algorithm: str = "dualpi2"

    def queue(self, folder: Path) -> str:
        """As a scenario's TOML has it."""
        name = self.algorithm
        if self.changes:
            name = str(written("_".join(["dualpi2", *self.changes]), self.changes, folder))
        rows = f", {self.rows}" if self.rows else ""
        return f'{{ algorithm = "{name}"{rows} }}'


VARIANTS = [
    Variant("the kernel's own", algorithm=KERNEL),
    Variant("ours", NOT_QUIET),
    Variant("ours, a step at 1 ms", f"{STEP}, {NOT_QUIET}"),
    Variant("ours, share 10 %", f"{SHARE}, {NOT_QUIET}"),
    Variant("ours, drawn", NOT_QUIET, ["draws"]),
    Variant("ours, quiet below two packets"),
    Variant("ours, all four", f"{STEP}, {SHARE}", ["draws"]),
]


def written(name: str, changes: Sequence[str], folder: Path) -> Path:
    """The changed copy."""
    text = SOURCE.read_text()
    for change in changes:
        for old, new in {"draws": DRAWS}[change]:
            assert old in text, f"{SOURCE.name}: {old!r}"
            if new == "@":
                text = re.sub(re.escape(old) + r"\{.*?\n\}\n", DRAWN, text, flags=re.DOTALL)
            else:
                text = text.replace(old, new)
    text = text.replace("aqm_dualpi2 = {", f"aqm_{name} = {{")
    text = text.replace('.name = "dualpi2"', f'.name = "{name}"')
    path = folder / f"{name}.c"
    path.write_text(text)
    return path
