# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A short run of the fuzzer; the long one is `make test-deep`."""

from __future__ import annotations

from fuzz.run import CALLS, build, run


def test_random_lives_of_a_queue_break_no_rule() -> None:
    assert run(build(), CALLS, seed=1) >= CALLS
