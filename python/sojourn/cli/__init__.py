# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The `sojourn` command.

It may use every room, and no room uses it. Begin with `line`, which puts the verbs together.

Exit status: 0 all went well; 1 `verify` found a difference; 2 the command line, a scenario or a
parameter cannot be used; 3 runs failed, results could not be written, or an algorithm broke a rule;
130 interrupted.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from sojourn.core.errors import Interrupted, SojournError, StoreError

__all__ = ["main", "status"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and leave with its status."""
    # pydantic needs 8 ms to look for plugins in all installed packages, and no run uses one.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a sign shows a question mark.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.exit(status(sys.argv[1:] if arguments is None else arguments))


def status(arguments: Sequence[str]) -> int:
    """Run the command; every failure becomes one message on stderr and a status."""
    from sojourn.cli import line

    try:
        if sys.stdout is None:
            print("sojourn: there is no output to write to", file=sys.stderr)
            return StoreError.exit_status
        outcome = line.run(arguments)
        sys.stdout.flush()
        return outcome
    except SojournError as error:
        print(f"sojourn: {error}", file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        print("sojourn: interrupted", file=sys.stderr)
        return Interrupted.exit_status
    except BrokenPipeError:
        # The reader of our output has closed it.
        _drop_output()
        return 0
    except SystemExit as ended:
        # typer and rich end with a failure where the reader has closed the output.
        if not isinstance(ended.__context__, BrokenPipeError):
            raise
        _drop_output()
        return 0
    except ImportError as error:
        if not (error.name or "").startswith("sojourn"):
            print(
                f"sojourn: a library cannot be loaded: {error}; 'sojourn doctor' looks at each",
                file=sys.stderr,
            )
            return SojournError.exit_status
        raise
    except OSError as error:
        if error.filename is not None:
            print(f"sojourn: {error.filename}: {error.strerror}", file=sys.stderr)
            return StoreError.exit_status
        _drop_output()
        print(f"sojourn: the output cannot be written: {error.strerror}", file=sys.stderr)
        return StoreError.exit_status


def _drop_output() -> None:
    """Discard the rest of the buffer: it would fail once more when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
