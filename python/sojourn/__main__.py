# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn`, and `python -m sojourn` where its script is not on the path."""

import sys


def main() -> None:
    """The command. Ctrl-C is heard while it is being read too, which takes a third of a second."""
    try:
        from sojourn.cli import main as command
    except KeyboardInterrupt:
        print("sojourn: interrupted", file=sys.stderr)
        sys.exit(130)
    command()


if __name__ == "__main__":
    main()
