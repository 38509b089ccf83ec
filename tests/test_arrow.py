# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Tables are as pyarrow itself would make them; only the way there differs."""

from __future__ import annotations

import pyarrow as pa
import pytest
from sojourn.store import arrow


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [{"aqm": "2020-01-01", "seed": 1, "mean": 0.1 + 0.2, "none": None}],
        [{"name": "µ", "mean": None, "n": 2**62}, {"name": None, "mean": 1e-300, "n": -1}],
        [{"mean": 1, "text": "1"}, {"mean": 2.5, "text": '"\n'}],
    ],
)
def test_rows_become_columns_of_the_same_types(rows: list[dict[str, str | float | None]]) -> None:
    assert arrow.table(rows).equals(pa.Table.from_pylist(rows))


@pytest.mark.parametrize("value", ["", "codel", "µ", 7])
def test_a_repeated_value_fills_its_column(value: str | int) -> None:
    assert arrow.repeated(value, 3).equals(pa.array([value] * 3))
