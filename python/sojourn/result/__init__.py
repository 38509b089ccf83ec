# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A result: its runs and tables, metrics and their statistics, comparisons, other formats.

It reads reports and starts no run. `runs` makes results, and the rooms after it read them.
Begin with `result`; `columns` and `metrics` list the numbers.
"""
