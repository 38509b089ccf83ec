# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Tables for terminals, charts of any result, and the common parts of all pages.

It reads results and studies of stability, and starts no run. Sweeps, papers and the command use it.
Begin with `figures` for charts, `tables` for terminals, `page` for HTML.
"""
