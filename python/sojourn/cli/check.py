# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The C file that `sojourn check` tries: a user's own, or that of an algorithm of ours."""

from __future__ import annotations

from sojourn import algorithms
from sojourn.core.algorithm import STOCK_PREFIX, Library
from sojourn.core.errors import InputError, nearest
from sojourn.user_aqm import compiler, library
from sojourn.user_aqm.library import is_file


def find(name: str) -> Library:
    """Find the library of a C file, or of the file of this algorithm of ours. InputError for one
    without a C file, and for one with parameters."""
    if name.startswith(STOCK_PREFIX):
        raise InputError(
            f"check {name}: the kernel's own have no C file here; name one of ours, or a C file"
        )
    known = algorithms.algorithms()
    head, _, settings = name.partition(":")
    if settings and (head in known or head.endswith(".c")):
        raise InputError(
            f"check {name}: takes no parameters, since it tries the whole range of each; write "
            f"check {head}"
        )
    if not is_file(name):
        if name not in known and "@" not in name:
            raise InputError(f"unknown algorithm '{name}'.{nearest(head, known)}")
        places = sorted(compiler.sources().glob(f"**/{algorithms.find(name).name}.c"))
        if not places:
            raise InputError(f"'{name}' has no C file here that could be checked")
        name = str(places[0])
    found = algorithms.find(str(library.absolute(name))).file
    assert found
    return found
