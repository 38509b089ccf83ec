# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Pictures of any result: `measured` reads what they show, `figures` says which there are,
`chart` draws them, `output` writes files and a page."""
