# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The algorithms once more, in floats, written from the papers.

Nothing here knows the C core: no shift, no fixed-point format, no name of it. A model keeps the
quantities of its paper (seconds, packets, bytes, probabilities in [0, 1]) and serves its own
plain queue (`models.queue`). tests/models compares the two.
"""
