# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The kernel's own test driver for queues, tdc.py, run unmodified on the qdisc in virtual time."""
