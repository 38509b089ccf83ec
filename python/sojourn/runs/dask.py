# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Workers of a Dask cluster. Nothing else needs Dask, and Sojourn does not bring it along."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from sojourn import _native
from sojourn.core.errors import InputError
from sojourn.core.messages import tell

# A worker that restarts is away for a shorter time.
_PATIENCE_S = 10.0
_LOOK_EVERY_S = 1.0


class Absence:
    """Says on stderr when a cluster of Dask has had no worker for a while. Other clients have no
    list of workers."""

    def __init__(self, client: Any) -> None:
        self._workers = getattr(client, "ncores", None)
        self._looked_s = self._seen_s = time.monotonic()
        self._is_told = False

    def look(self) -> None:
        """Look at the workers, once a second."""
        now_s = time.monotonic()
        if not self._workers or now_s - self._looked_s < _LOOK_EVERY_S:
            return
        try:
            are_there = bool(self._workers())
        except Exception:  # the scheduler does not answer; the client notices when it is gone
            are_there = True
        self._looked_s = time.monotonic()
        if are_there:
            self._seen_s, self._is_told = self._looked_s, False
        elif not self._is_told and now_s - self._seen_s >= _PATIENCE_S:
            self._is_told = True
            tell("sojourn: no worker is left; waiting for one to come")


def _core() -> str:
    """Return the version of the engine that a worker runs."""
    return _native.core_version()


@contextmanager
def client(address: str) -> Iterator[tuple[Any, int]]:
    """Connect to the scheduler at the address; yield a client and the number of runs that its
    workers take at once.

    InputError: Dask is not installed, the address is none, no scheduler answers, it has no workers,
    or their version differs.
    """
    try:
        distributed = import_module("distributed")
    except ImportError as error:
        raise InputError(
            f"--dask {address}: Dask is not installed here; `pip install distributed` installs it"
        ) from error
    _check_address(address)
    try:
        connection = distributed.Client(address, timeout="10 s", set_as_default=False)
    except Exception as error:  # Dask raises the errors of its transport
        raise InputError(f"--dask {address}: no scheduler answers there") from error
    with connection:
        count = sum(connection.ncores().values())
        if not count:
            raise InputError(f"--dask {address}: its scheduler has no workers; start some")
        _check_versions(address, connection)
        yield connection, count


def _check_address(address: str) -> None:
    """Raise InputError for an address without a port, and for a host that has no address. Dask
    would wait for such a host, and print a traceback as it gives up."""
    parts = re.fullmatch(r"(?:(?:tcp|tls)://)?\[?([^/\s]+?)\]?:([0-9]{1,5})", address)
    if not parts:
        raise InputError(f"--dask {address}: write tcp://HOST:PORT, as the scheduler prints it")
    try:
        socket.getaddrinfo(parts[1], int(parts[2]))
    except (OSError, OverflowError, UnicodeError) as error:
        raise InputError(f"--dask {address}: '{parts[1]}' is no host that is known") from error


def _check_versions(address: str, connection: Any) -> None:
    """Check that each worker has this version of Sojourn.

    A run is filed under the version that asked for it: another version must not make it.
    """
    try:
        versions = connection.run(_core)
    except Exception as error:
        raise InputError(f"--dask {address}: its workers lack Sojourn: {error}") from error
    for worker, version in versions.items():
        if version != _native.core_version():
            raise InputError(
                f"--dask {address}: worker {worker} has Sojourn {version}, this is "
                f"{_native.core_version()}; install the same on both"
            )
