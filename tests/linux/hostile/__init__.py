# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Attacks on the qdisc by random netlink, traffic and trees, each of them repeated by its seed."""
