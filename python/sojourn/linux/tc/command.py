# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`tc [-s] [-j] qdisc add|change|replace|del|show …`, for qdiscs of the kind `sojourn`."""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from sojourn.core.errors import InputError
from sojourn.linux import rtnetlink as nl
from sojourn.linux.rtnetlink import Qdisc
from sojourn.linux.tc import helptext, line, show, tables, words
from sojourn.linux.tc.line import Asked

Answer = TypeVar("Answer")


def run(arguments: Sequence[str]) -> str:
    """Do what the words behind `tc` ask for; what there is to print."""
    asked = line.read(arguments)
    if "help" in asked.options:
        return line.USAGE
    try:
        if asked.kind == nl.GET:
            return shown(asked, _ask(nl.Socket.qdiscs), dict(socket.if_nameindex()))
        payload = message(asked, _index)
    except words.HelpWanted as wanted:
        return "\n".join(helptext.lines(wanted.algorithm))
    _ask(lambda kernel: kernel.ask(asked.kind, asked.flags | nl.ACK, payload))
    return ""


def message(asked: Asked, index: Callable[[str], int]) -> bytes:
    """What stands behind the head of the message that asks for it."""
    parts = []
    if asked.said is not None:
        parts.append(nl.text(nl.KIND, tables.KIND))
        if asked.kind == nl.NEW:
            anew = bool(asked.flags & nl.REPLACE)
            parts.append(words.read(asked.said).options(anew=anew))
    elif asked.kind == nl.NEW:
        raise InputError("the kind is wanted behind the place: sojourn")
    if not asked.device:
        raise InputError("a device is wanted, as in dev eth0")
    return nl.qdisc_message(index(asked.device), asked.handle or 0, asked.parent or 0, *parts)


def _index(device: str) -> int:
    try:
        return socket.if_nametoindex(device)
    except OSError:
        raise InputError(f'no device is called "{device}"') from None


def _ask(question: Callable[[nl.Socket], Answer]) -> Answer:
    try:
        with nl.Socket() as kernel:
            return question(kernel)
    except nl.Refused as refused:
        raise InputError(sentence(refused)) from refused
    except (OSError, AttributeError) as error:
        # Another system than Linux has not even the name of such a socket.
        raise InputError(f"no kernel of Linux can be asked here: {error}") from error


def sentence(refused: nl.Refused) -> str:
    """What the kernel said; where it was too brief, what may be the cause."""
    if refused.sentence:
        missing = refused.code == errno.ENOENT and "kind" in refused.sentence
        return f"{refused.sentence}{'; is the module sch_sojourn loaded?' if missing else ''}"
    hint = "; root is wanted for this" if refused.code == errno.EPERM else ""
    return f"the kernel refuses: {os.strerror(refused.code)}{hint}"


def shown(asked: Asked, found: Iterable[Qdisc], devices: Mapping[int, str]) -> str:
    """The qdiscs that are asked for, as text or JSON."""
    if asked.device and asked.device not in devices.values():
        raise InputError(f'no device is called "{asked.device}"')
    stats = "stats" in asked.options
    wanted = []
    for qdisc in found:
        device = devices.get(qdisc.index, f"if{qdisc.index}")
        # tc names the device where it was not asked for one.
        name = "" if asked.device else device
        if _is_wanted(asked, qdisc, device):
            wanted.append((qdisc, name))
    if "json" not in asked.options:
        return "\n".join(show.text(qdisc, name, stats=stats) for qdisc, name in wanted)
    entries = [show.data(qdisc, name, stats=stats) for qdisc, name in wanted]
    if "pretty" in asked.options:
        return json.dumps(entries, indent=4)
    return json.dumps(entries, separators=(",", ":"))


def _is_wanted(asked: Asked, qdisc: Qdisc, device: str) -> bool:
    return (
        (asked.said is None or qdisc.kind == tables.KIND)
        and asked.device in ("", device)
        and asked.parent in (None, qdisc.parent)
        and asked.handle in (None, qdisc.handle)
    )
