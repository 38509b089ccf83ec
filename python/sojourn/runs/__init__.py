# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Runs: from a scenario, algorithms and seeds to a result, on processors of this machine or others.

Sweeps, theory, papers and the command use it. Begin with `run`; `executor` is the one function
through which all runs go, and `job` makes a single one. `advise` runs a home's line.
"""
