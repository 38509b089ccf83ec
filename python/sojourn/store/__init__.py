# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Finished runs and results on disk. A run is filed whole, under a key of everything that it
depends on.

Every room but `core` may use it. Begin with `store`; `folder` guards the folder of a result, and
`arrow` makes tables.
"""
