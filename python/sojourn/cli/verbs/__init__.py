# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The verbs and their options, a file for each group of them. The work is done elsewhere, and
imported when it is needed: a run shall not wait for what only a report uses."""
