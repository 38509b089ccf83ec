# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The `sojourn` command.

It may use every room, and no room uses it. Begin with `line`, which puts the verbs together.

Exit status: 0 all went well; 1 `verify` found a difference; 2 the command line, a scenario or a
parameter cannot be used; 3 runs failed, results could not be written, or an algorithm broke a rule;
70 a fault of Sojourn's; 129, 130 and 143 stopped by SIGHUP, Ctrl-C and SIGTERM.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from sojourn.core import stops
from sojourn.core.errors import Interrupted, SojournError, StoreError
from sojourn.core.messages import tell

__all__ = ["main", "status"]

# No end of a command on purpose has it; sysexits.h calls it EX_SOFTWARE.
_FAULT = 70
# The end of a traceback says most. One of a recursion has a thousand calls.
_CALLS = 20


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
            tell("sojourn: there is no output to write to")
            return StoreError.exit_status
        outcome = line.run(arguments)
        sys.stdout.flush()
        return outcome
    except SojournError as error:
        tell(f"sojourn: {error}")
        return stops.status() if isinstance(error, Interrupted) else error.exit_status
    except KeyboardInterrupt:
        tell("sojourn: interrupted")
        return stops.status()
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
        if (error.name or "").startswith("sojourn"):
            return _tell_fault(error)
        tell(f"sojourn: a library cannot be loaded: {error}; 'sojourn doctor' looks at each")
        return SojournError.exit_status
    except OSError as error:
        if error.filename is not None:
            tell(f"sojourn: {error.filename}: {error.strerror}")
            return StoreError.exit_status
        _drop_output()
        tell(f"sojourn: the output cannot be written: {error.strerror}")
        return StoreError.exit_status
    except MemoryError:
        tell("sojourn: the memory is full")
        return SojournError.exit_status
    except Exception as error:
        return _tell_fault(error)


def _tell_fault(error: Exception) -> int:
    """Print a traceback on stderr, and below it what to do with it; return the status."""
    import traceback

    tell("".join(traceback.format_exception(error, limit=-_CALLS)).rstrip())
    tell(
        "sojourn: this is a fault of Sojourn's, whatever the input was; please report it with the "
        "command and the lines above"
    )
    return _FAULT


def _drop_output() -> None:
    """Discard the rest of the buffer: it would fail once more when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
