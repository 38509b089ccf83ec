# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The search for what a paper does not say: set-ups that its text leaves open, tried on one half of
its printed numbers and judged on the other.

The other files of papers and the command use it. Begin with `file`.

`model`   what a search.toml is made of     `file`     one, read and checked
`setups`  which set-ups are tried           `inside`   when a number is as printed
`measure` their runs                        `result`   counts, ranks, tables and JSON
`run`     the order in which halves run     `reasons`  what one changed thing does
`ledger`  whether a value is the ledger's   `page`     the page of it
`stored`  one that has run already
"""
