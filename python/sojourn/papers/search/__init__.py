# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The search for settings that a paper does not give. It tries the set-ups that the text leaves
open on one half of the printed numbers, and judges them on the other.

The other files of papers and the command use it. Begin with `file`.

`model`   the form of a search.toml         `file`     one, read and checked
`setups`  the set-ups that are tried        `inside`   when a number is as printed
`measure` their runs                        `result`   counts, ranks, tables and JSON
`run`     the order in which halves run     `reasons`  the effect of one changed thing
`ledger`  whether a value is the ledger's   `page`     its page
`stored`  a search that has run already
"""
