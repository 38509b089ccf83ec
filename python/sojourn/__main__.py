# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`python -m sojourn`: the command, where its script is not on the path."""

from sojourn.cli import main

if __name__ == "__main__":
    main()
