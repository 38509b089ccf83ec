# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The kernel with sanitizers is not built here, but its recorded results must be of this module.

All of its runs take an hour of two processors, and one header makes all of them stale. So only
`make test-deep`, which runs the stale ones first, asks for fresh ones.
"""

from __future__ import annotations

import pytest

from tests.linux.sanitizers import MADE_BY, stale, titles


@pytest.mark.deep
def test_this_module_was_loaded_into_the_kernel_with_sanitizers() -> None:
    assert not stale(), f"{titles(stale())}: run `{MADE_BY}`"
