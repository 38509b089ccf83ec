# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What probes cost under the root lock and in a softirq; `python -m bench.probes`."""
