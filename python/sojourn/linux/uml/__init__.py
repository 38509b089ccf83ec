# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The qdisc, tc's plugin and the kernel in virtual time; the Python here builds and boots them."""
