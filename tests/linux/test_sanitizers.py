# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The kernel with sanitizers is not built here, but its recorded result must be of this module."""

from __future__ import annotations

from tests.linux.sanitizers import DIGEST, covers


def test_this_module_was_loaded_into_the_kernel_with_sanitizers() -> None:
    assert DIGEST.fresh(covers()), f"run `{DIGEST.made_by}`"
