# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Papers reproduced: experiments as data, claims and their verdicts, figures, pages, the ledger.

The command and the benchmarks use it. Begin with `experiment` and `reproduce`; `claims` has the
rule that decides a claim, and `search` tries settings that a paper does not give.
"""
