# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What a running Linux says of its devices and queues: a reading is the answer to each command.

No command changes or sends anything, and none needs root.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.core.errors import InputError, RunError
from sojourn.core.units import Rate

# The packages of the programs that are read.
TOOLS = {"tc": "iproute2", "ip": "iproute2", "ss": "iproute2", "ethtool": "ethtool"}
# An ordinary user's PATH lacks the folders of tc and ethtool.
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin:/usr/bin:/bin"

QDISCS = "tc -s -j qdisc show"
LINKS = "ip -s -j -d link show"
ROUTES = "ip -j route show default"
# Without -o it hides what was agreed, as ECN.
SOCKETS = "ss -tino state established"
TCP_ECN = "cat /proc/sys/net/ipv4/tcp_ecn"
OF_MACHINE = (QDISCS, LINKS, ROUTES, SOCKETS, TCP_ECN)
# Its JSON begins with later releases of iproute2 than Debian 12 has.
CLASSES = "tc -s class show dev {device}"
ARRIVING = "tc -j filter show dev {device} ingress"
RING = "ethtool -g {device}"
SPEED = "cat /sys/class/net/{device}/speed"
BQL = "cat /sys/class/net/{device}/queues/tx-0/byte_queue_limits/limit"
OF_DEVICE = (CLASSES, ARRIVING, RING, SPEED, BQL)
_ECT_0 = 2
# A program that waits for a lock of the kernel's answers within milliseconds, or not at all.
_ANSWER_S = 10.0
# Devices and drivers may lack these.
_MAY_FAIL = (ARRIVING, RING, SPEED, BQL, SOCKETS)


def ask(command: str) -> str:
    """Run a command and return its output; empty where the machine has no answer to it.

    RunError: a program is missing, it failed, or it did not end.
    """
    words = shlex.split(command)
    if words[0] == "cat":
        try:
            return Path(words[1]).read_text(encoding="ascii")
        except (OSError, ValueError):
            return ""
    program = shutil.which(words[0], path=PATH)
    if not program:
        raise RunError(f"{words[0]} is missing: apt install {TOOLS[words[0]]}")
    try:
        # A device's name may be any bytes. They come back as they are in what is asked of it.
        done = subprocess.run(
            [program, *words[1:]],
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=False,
            timeout=_ANSWER_S,
        )
    except subprocess.TimeoutExpired as error:
        raise RunError(
            f"{command}: no answer in {_ANSWER_S:.0f} s; end the program that holds the kernel's "
            "network lock, and run it again"
        ) from error
    if done.returncode and not any(_is_of(command, form) for form in _MAY_FAIL):
        raise RunError(f"{command}: {' '.join(done.stderr.split()) or 'failed'}")
    return done.stdout


def _is_of(command: str, form: str) -> bool:
    return re.fullmatch(re.escape(form).replace(r"\{device\}", ".+"), command) is not None


def asked(form: str, device: str = "") -> str:
    """Write a command about a device; its name is one word of it."""
    return form.format(device=shlex.quote(device))


def commands(devices: list[str]) -> list[str]:
    """List all that is asked about these devices."""
    return [*OF_MACHINE, *(asked(form, device) for device in devices for form in OF_DEVICE)]


_CLASS = re.compile(
    r"^class htb (?P<id>\S+) (?:root|parent (?P<parent>\S+)) (?:leaf (?P<leaf>\S+) )?"
    r".*?ceil (?P<ceil>\S+) .*\n"
    r" Sent \d+ bytes (?P<packets>\d+) pkt ",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Class:
    """A class of HTB."""

    id: str
    parent: str
    leaf: str  # the handle of its queue; empty for the kernel's own fifo
    ceil: Rate
    packets: int


# What the judges take from each queue.
_QDISC: Mapping[str, Any] = {
    **{"kind": "", "handle": "0:", "options": {}},
    **dict.fromkeys(("bytes", "packets", "drops", "backlog", "qlen"), 0),
}


@dataclass(frozen=True)
class Reading:
    """The answers of one moment."""

    answers: Mapping[str, str]

    def text(self, form: str, device: str = "") -> str:
        """Give a command's output."""
        return self.answers.get(asked(form, device), "")

    def table(self, form: str, device: str = "") -> list[dict[str, Any]]:
        """Give a command's JSON. RunError: it is none, or no list of tables."""
        text, command = self.text(form, device), asked(form, device)
        try:
            entries = json.loads(text) if text.strip() else []
        except (ValueError, RecursionError) as error:
            raise RunError(
                f"{command}: prints no JSON; tc needs the plugin of sojourn's queues: "
                "make -C linux/tc install"
            ) from error
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise RunError(f"{command}: prints no list of tables; install the iproute2 of Debian")
        return entries

    @property
    def links(self) -> dict[str, dict[str, Any]]:
        """Give the devices by name."""
        return {link["ifname"]: link for link in self.table(LINKS) if "ifname" in link}

    @property
    def all_qdiscs(self) -> list[dict[str, Any]]:
        """Give the queues of all devices; a key that each queue has and tc leaves out is empty."""
        every = [{**_QDISC, **q} for q in self.table(QDISCS)]
        return [q for q in every if all(isinstance(q[key], type(_QDISC[key])) for key in _QDISC)]

    def qdiscs(self, device: str) -> list[dict[str, Any]]:
        """Give the queues of a device, the root first, but not that of what arrives."""
        of_device = [q for q in self.all_qdiscs if q.get("dev") == device]
        leaving = [q for q in of_device if q["kind"] not in ("ingress", "clsact")]
        return sorted(leaving, key=lambda qdisc: not qdisc.get("root"))

    def classes(self, device: str) -> list[Class]:
        """Give the classes of HTB of a device."""
        return [
            Class(
                found["id"],
                found["parent"] or "",
                found["leaf"] or "",
                Rate(found["ceil"]),
                int(found["packets"]),
            )
            for found in _CLASS.finditer(self.text(CLASSES, device))
        ]

    def redirect(self, device: str) -> str:
        """Name the device to which all that arrives is led; empty where none is."""
        for found in _actions(self.table(ARRIVING, device)):
            if found.get("kind") == "mirred" and found.get("to_dev"):
                return str(found["to_dev"])
        return ""

    def takes_arrivals(self, device: str) -> bool:
        """Tell whether a queue of the kind `ingress` or `clsact` stands at the device."""
        of_device = [q for q in self.all_qdiscs if q.get("dev") == device]
        return any(q["kind"] in ("ingress", "clsact") for q in of_device)

    def number(self, form: str, device: str = "") -> int | None:
        """Give the number of a file; None where there is none."""
        text = self.text(form, device).strip()
        return int(text) if re.fullmatch(r"-?\d+", text) else None

    def ring_pkts(self, device: str) -> int | None:
        """Give the slots of the ring towards the wire; None where the driver tells none."""
        current = self.text(RING, device).partition("Current hardware settings")[2]
        found = re.search(r"^TX:\s*(\d+)", current, re.MULTILINE)
        return int(found[1]) if found else None


def _actions(filters: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for entry in filters:
        options = entry.get("options")
        actions = options.get("actions") if isinstance(options, dict) else None
        yield from (a for a in actions or () if isinstance(a, dict))


def read(device: str) -> Reading:
    """Read the device, and the one to which its arrivals are led.

    InputError: there is no such device.
    """
    answers = {command: ask(command) for command in OF_MACHINE}
    links = Reading(answers).links
    if device not in links:
        raise InputError(f"{device}: there is no such device; here are {', '.join(links)}")
    devices = [device]
    while devices:
        for form in OF_DEVICE:
            command = asked(form, devices[0])
            answers[command] = ask(command)
        to = Reading(answers).redirect(devices.pop(0))
        if to and asked(CLASSES, to) not in answers:
            devices.append(to)
    return Reading(answers)


PROBES = 20
_DISCARD = 9  # the port of RFC 863, whose service throws away what it gets


def probe_with(host: str) -> int:
    """Send small datagrams of ECT(0) to an address, and return their number.

    InputError: it is no address, or no route leads there.
    """
    if not host.strip():
        raise InputError("--probe: an address is missing; write that of a host behind the device")
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, _DISCARD, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as sender:
            if family == socket.AF_INET6:
                sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, _ECT_0)
            else:
                sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, _ECT_0)
            for _ in range(PROBES):
                sender.sendto(b"sojourn", address)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "no name of a host"
        raise InputError(f"--probe {host}: {reason}") from error
    return PROBES
