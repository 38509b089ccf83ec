# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A user's own algorithm: a C file that runs beside those compiled in.

The registry of algorithms and every room after it may use this room. It imports `core` and `store`
alone. Begin with `library`.

compiler   the C compiler of this machine, its flags and its errors
library    a file: its template, the library that the core loads, its form for a kernel's module
trial      the file under sanitizers in a process of its own: rules, and hostile traffic
"""
