# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Numbers and rows of linux/qdisc/sojourn.h for the tests, which send messages without tc."""
