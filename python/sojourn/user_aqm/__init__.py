# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A user's own algorithm: a C file that runs beside those compiled in.

The registry of algorithms and every room after it may use this room. It imports `core` and `store`
alone. Begin with `library`.

compiler   the C compiler of this machine, its flags and its errors
library    a file as a library that the core loads, filed by content
layout     files in the folders that the build of a kernel's module takes
trial      the file under sanitizers in a process of its own: rules, and hostile traffic
template   the file that `sojourn new` writes
"""
