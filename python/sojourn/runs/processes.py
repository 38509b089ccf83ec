# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Processes for runs with a user's C file: a crash or an endless loop costs that run alone.

Each worker thread that meets such a run starts a process, which makes its runs one after the other.
A process that ends loses the run it makes and no other; the next run gets a new process. Job and
folder go through a socket. The process sends the shares that are done, and then the run.
multiprocessing has such processes too, but they import the user's script, which then needs a guard.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path
from select import select

from sojourn.core.errors import RunError
from sojourn.core.stops import STOPS
from sojourn.runs.job import Job, Stopped, Watch, work

# A process has this time to end by itself after its socket was closed.
_GRACE_S = 1.0
# The engine reports each 50 ms, unless an algorithm does not return.
_STUCK_S = 30.0
_POLL_S = 0.05
# By signal, the likely reason of the end.
_ENDS = {
    signal.SIGKILL: "was killed (out of memory?)",
    signal.SIGFPE: "ended by SIGFPE (a division by zero?)",
    signal.SIGSEGV: "ended by SIGSEGV (a NULL pointer?)",
}


class Worker:
    """A process that makes runs, as the command controls it."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        code = (
            f"import sys; sys.path[:] = {sys.path!r}; from sojourn.runs import processes; "
            f"processes.serve({theirs.fileno()}, {os.getpid()})"
        )
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", code], stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()]
            )
        self._socket = Connection(ours.detach())

    def work(self, job: Job, watch: Watch, scratch: Path | None) -> bytes:
        """Call `sojourn.runs.job.work` in the process.

        RunError: the job failed, the process ended, or it made no progress. Stopped: `watch`
        returned false. The process is gone after each error but the job's own.
        """
        try:
            return self._result(job, watch, scratch)
        except (EOFError, ConnectionError):
            raise RunError(f"its worker process {self.close()}") from None

    def _result(self, job: Job, watch: Watch, scratch: Path | None) -> bytes:
        self._socket.send((job, scratch))
        share, heard_s = 0.0, time.monotonic()
        while watch(share):
            if select([self._socket], [], [], _POLL_S)[0]:  # quicker than its own `poll`
                answer = self._socket.recv()
                if isinstance(answer, bytes):
                    return answer
                if isinstance(answer, str):
                    raise RunError(answer)
                share, heard_s = answer, time.monotonic()
            elif time.monotonic() - heard_s > _STUCK_S:
                self.close()
                raise RunError(f"no progress for {_STUCK_S:.0f} s: an endless loop?")
        self.close()
        raise Stopped

    @property
    def is_alive(self) -> bool:
        """Tell whether the process takes another job."""
        return not self._socket.closed

    def close(self) -> str:
        """End the process, and describe how it ended."""
        self._socket.close()
        try:
            status = self._process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        if status >= 0:
            return f"ended with status {status}"
        end = signal.Signals(-status)
        return _ENDS.get(end, f"ended by {end.name}")


def serve(fd: int, command: int) -> None:
    """Make the runs that come through this socket, until the command closes it."""
    for stop in STOPS:  # the command stops its runs itself
        signal.signal(stop, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(command,), daemon=True).start()
    command_socket = Connection(fd)
    sent_s = time.monotonic()

    def watch(share: float) -> bool:
        nonlocal sent_s
        # A short run sends nothing but its answer.
        if time.monotonic() - sent_s > _POLL_S / 2:
            command_socket.send(share)  # fails, and ends the run, where the command listens no more
            sent_s = time.monotonic()
        return True

    while True:
        try:
            job, scratch = command_socket.recv()
            sent_s = time.monotonic()
            try:
                answer: bytes | str = work(job, watch, scratch)
            except ConnectionError:
                raise
            except Exception as error:
                answer = str(error) or type(error).__name__
            command_socket.send(answer)
        except (EOFError, ConnectionError):
            return


def _end_with(command: int) -> None:
    """End this process with a command that was killed, even where an algorithm never returns."""
    while os.getppid() == command:
        time.sleep(_GRACE_S)
    os._exit(1)
