# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Qdiscs of the kind `sojourn` by raw netlink, in the words of tc and of its plugin.

values    a row's value as people write it
tables    the rows of a queue and the numbers of their nests, as in linux/qdisc/sojourn.h
words     the words behind `sojourn` as attributes
show      attributes as the words that tc prints, and as JSON
helptext  the algorithms and their rows
place     root, parents and handles
line      the words before those of the qdisc
command   what is asked of the kernel, and what is printed
"""
