# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A Linux kernel in virtual time and our module for it: builds them once, boots them for a job."""
