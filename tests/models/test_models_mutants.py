# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The mutants of a few lines of C, one by one."""

from __future__ import annotations

import pytest

from tests.models.mutate import mutants, of_statements

FUNCTION = """static u32 step(struct s *s, u32 by)
{{
	u32 was = s->level;

	(void)by;
	{}
	return was;
}}
"""


def changed(lines: str) -> list[str]:
    """What the lines become by changes of statements and conditions."""
    source = FUNCTION.format(lines)
    before, after = FUNCTION.split("{}")
    inside = slice(len(before.format()), -len(after.format()))
    mutated = (source[: m.start] + m.by + source[m.end :] for m in of_statements(source))
    return [" ".join(text[inside].split()) for text in mutated]


@pytest.mark.parametrize(
    ("lines", "mutated"),
    [
        ("s->level = by;", [";"]),
        ("s->level = by; s->seen++;", ["; s->seen++;", "s->level = by; ;"]),
        (
            "s->level = by; s->top = s->level;",
            [
                "; s->top = s->level;",
                "s->level = by; ;",
                "s->top = s->level; s->level = by;",
            ],
        ),
        ("if (by) return 1;", ["if (1) return 1;", "if (0) return 1;"]),
        ("for (; by > was; by--) ;", []),
        (
            "if (by > 2 && was) s->a[by] = 1; else s->a[0] = 2;",
            [
                "if (1) s->a[by] = 1; else s->a[0] = 2;",
                "if (0) s->a[by] = 1; else s->a[0] = 2;",
                "if (by > 2 && was) ; else s->a[0] = 2;",
                "if (by > 2 && was) s->a[by] = 1; else ;",
                "if ( was) s->a[by] = 1; else s->a[0] = 2;",
                "if (by > 2 ) s->a[by] = 1; else s->a[0] = 2;",
            ],
        ),
        (
            "while (was && (by || was)) drop(s, &was);",
            [
                "while (0) drop(s, &was);",
                "while (was && (by || was)) ;",
                "while ( (by || was)) drop(s, &was);",
                "while (was ) drop(s, &was);",
                "while (was && ( was)) drop(s, &was);",
                "while (was && (by )) drop(s, &was);",
            ],
        ),
    ],
)
def test_statements_and_conditions_are_left_out_and_swapped(lines: str, mutated: list[str]) -> None:
    assert changed(lines) == mutated


def test_each_mutant_has_a_key_of_its_own() -> None:
    source = FUNCTION.format("s->a = 1; s->a = 1; if (by && by && was) s->a = 1;")
    keys = [mutant.key for mutant in mutants("step.c", source)]
    assert len(keys) == len(set(keys))
