# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""pyroute2.py: what tdc's nsPlugin asks of the library of this name, done by `ip`.

Without the library nsPlugin hands its commands to an `ip` that runs beside it, and waits for the
first of them only: in one run of two a case then begins before its device is there.
"""

from __future__ import annotations

import subprocess
from types import TracebackType
from typing import Self


def _ip(*words: str) -> None:
    within = ["-n", _namespaces[-1]] if _namespaces else []
    subprocess.run(["ip", *within, *words], check=True, capture_output=True)


# The one that was pushed last is where links are made.
_namespaces: list[str] = []


class netns:  # noqa: N801
    """Namespaces by name."""

    @staticmethod
    def create(name: str) -> None:
        _ip("netns", "add", name)

    @staticmethod
    def remove(name: str) -> None:
        _ip("netns", "del", name)

    @staticmethod
    def pushns(newns: str) -> None:
        _namespaces.append(newns)

    @staticmethod
    def popns() -> None:
        _namespaces.pop()


class IPRoute:
    """Links, whose index is their name."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass

    def link_lookup(self, ifname: str) -> list[str]:
        return [ifname]

    def link(
        self,
        verb: str,
        ifname: str = "",
        kind: str = "",
        peer: dict[str, str] | None = None,
        index: str = "",
        state: str = "",
    ) -> None:
        if verb == "set":
            _ip("link", "set", "dev", index, state)
            return
        # The other end is always given to process 1.
        other = ["peer", "name", peer["ifname"], "netns", "1"] if peer else []
        _ip("link", "add", "dev", ifname, "type", kind, *other)
