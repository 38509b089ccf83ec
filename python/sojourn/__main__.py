# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn`, and `python -m sojourn` where its script is not on the path."""

import atexit
import gc
import os
import sys
from pathlib import Path

from sojourn.core import messages, stops


def _own_libraries_first() -> None:
    """Search the folders of PYTHONPATH last. They may hold other versions of our libraries, as the
    modules of a cluster do. The folder that holds Sojourn keeps its place."""
    foreign = {*os.environ.get("PYTHONPATH", "").split(os.pathsep)} - {
        str(Path(__file__).parents[1])
    }
    sys.path.sort(key=foreign.__contains__)


def main() -> None:
    """Run the command, and hear Ctrl-C from the start: imports take a third of a second."""
    messages.guard_streams()
    stops.hear()
    _own_libraries_first()
    # Classes and modules stay: to look for garbage among them takes a tenth of a short run.
    gc.set_threshold(200_000)
    try:
        from sojourn.cli import main as command
    except KeyboardInterrupt:
        messages.tell("sojourn: interrupted")
        sys.exit(stops.status())
    try:
        command()
    except SystemExit as end:
        # A profiler prints its table afterwards.
        if end.code or sys.getprofile():
            raise
    # The interpreter would free every object of every module, which takes a seventh of a short run.
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
