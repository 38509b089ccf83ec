# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The parts that every room may use: errors, quantities with units, rows of algorithms, names of
hosts.

This room imports no other room. Begin with `errors` and `units`.
"""
