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
from functools import cached_property
from pathlib import Path
from typing import Any

from sojourn.core.errors import InputError, RunError
from sojourn.core.units import Rate, UnitError

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
# Of a device's name.
NAME_LETTERS = 15
ROUTE_TO = "ip -j route get {device}"  # to an address
# Devices and drivers may lack these.
_MAY_FAIL = (ARRIVING, RING, SPEED, BQL, SOCKETS, ROUTE_TO)
# Kinds that are made in pairs: each end names the other one as the device below it.
_PAIRS = {"veth", "vxcan", "netkit"}


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
    # A device's name may be any bytes. They come back as they are in what is asked of it.
    asking = subprocess.Popen(
        [program, *words[1:]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="surrogateescape",
    )
    try:
        said, fault = asking.communicate(timeout=_ANSWER_S)
    except subprocess.TimeoutExpired as error:
        # Inside the kernel's lock it does not end either, and nobody waits for it.
        asking.kill()
        raise RunError(
            f"{command}: no answer in {_ANSWER_S:.0f} s; end the program that holds the kernel's "
            "network lock, and run it again"
        ) from error
    if asking.returncode and not any(_is_of(command, form) for form in _MAY_FAIL):
        raise RunError(f"{command}: {' '.join(fault.split()) or 'failed'}")
    return said


def _is_of(command: str, form: str) -> bool:
    return re.fullmatch(re.escape(form).replace(r"\{device\}", ".+"), command) is not None


def asked(form: str, device: str = "") -> str:
    """Write a command about a device; its name is one word of it."""
    return form.format(device=shlex.quote(device))


def commands(devices: list[str]) -> list[str]:
    """List all that is asked about these devices."""
    return [*OF_MACHINE, *(asked(form, device) for device in devices for form in OF_DEVICE)]


# The longest of 64 bits.
DIGITS = 20
_CLASS = re.compile(
    r"^class htb (?P<id>\S+) (?:root|parent (?P<parent>\S+)) (?:leaf (?P<leaf>\S+) )?"
    r".*?ceil (?P<ceil>[1-9]\d*[KMGT]?i?bit) .*\n"
    rf" Sent \d+ bytes (?P<packets>\d{{1,{DIGITS}}}) pkt ",
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
# And from each device: `link` is the one below, `master` its bridge or VRF.
_LINK: Mapping[str, Any] = {"ifname": "", "link": "", "master": "", "flags": [], "mtu": 1500}


def _whole(text: str) -> float:
    """Read a whole number; one that no counter can hold is a fraction, which no judge takes."""
    return int(text) if len(text) <= DIGITS else float(text)


def inner(table: Mapping[str, Any], *keys: str) -> Any:
    """Give what lies at this path of keys; None where there is nothing."""
    found: Any = table
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def number(table: Mapping[str, Any], *keys: str) -> int:
    """Give the whole number at this path of keys; 0 where there is none."""
    found = inner(table, *keys)
    return found if isinstance(found, int) else 0


def _class(found: re.Match[str]) -> Class | None:
    try:
        ceil = Rate(found["ceil"])
    except UnitError:
        return None
    parent, leaf = found["parent"] or "", found["leaf"] or ""
    return Class(found["id"], parent, leaf, ceil, int(found["packets"]))


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
            entries = json.loads(text, parse_int=_whole) if text.strip() else []
        except (ValueError, RecursionError) as error:
            raise RunError(
                f"{command}: prints no JSON; tc needs the plugin of sojourn's queues: "
                "make -C linux/tc install"
            ) from error
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise RunError(f"{command}: prints no list of tables; install the iproute2 of Debian")
        return entries

    @cached_property
    def links(self) -> dict[str, dict[str, Any]]:
        """Give the devices by name."""
        every = [{**_LINK, **_fitting(link, _LINK)} for link in self.table(LINKS)]
        for link in every:
            if inner(link, "linkinfo", "info_kind") in _PAIRS:
                link["link"] = ""
        return {link["ifname"]: link for link in every if link["ifname"]}

    def is_up(self, device: str) -> bool:
        """Tell whether the device is there and takes packets."""
        return device in self.links and "UP" in self.links[device]["flags"]

    @cached_property
    def all_qdiscs(self) -> list[dict[str, Any]]:
        """Give the queues of all devices; a key that each queue has and tc leaves out is empty."""
        return [{**_QDISC, **q} for q in self.table(QDISCS) if _fitting(q, _QDISC) == q]

    def qdiscs(self, device: str) -> list[dict[str, Any]]:
        """Give the queues of a device, the root first, but not that of what arrives."""
        of_device = [q for q in self.all_qdiscs if q.get("dev") == device]
        leaving = [q for q in of_device if q["kind"] not in ("ingress", "clsact")]
        return sorted(leaving, key=lambda qdisc: not qdisc.get("root"))

    def classes(self, device: str) -> list[Class]:
        """Give the classes of HTB of a device, but for those of values that no counter can hold."""
        return list(filter(None, map(_class, _CLASS.finditer(self.text(CLASSES, device)))))

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
        return int(text) if re.fullmatch(rf"-?\d{{1,{DIGITS}}}", text) else None

    def ring_pkts(self, device: str) -> int | None:
        """Give the slots of the ring towards the wire; None where the driver tells none."""
        current = self.text(RING, device).partition("Current hardware settings")[2]
        found = re.search(rf"^TX:\s*(\d{{1,{DIGITS}}})\b", current, re.MULTILINE)
        return int(found[1]) if found else None


def _actions(filters: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for entry in filters:
        actions = inner(entry, "options", "actions")
        if isinstance(actions, list):
            yield from (a for a in actions if isinstance(a, dict))


def _fitting(table: Mapping[str, Any], form: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what has another type than the form's value of the same key."""
    return {
        key: value for key, value in table.items() if isinstance(value, type(form.get(key, value)))
    }


def read(device: str) -> Reading:
    """Read the device, and the one to which its arrivals are led.

    InputError: there is no such device, or nothing leaves the machine by it. RunError: it vanished.
    """
    answers = {command: ask(command) for command in OF_MACHINE}
    links = Reading(answers).links
    if device not in links:
        raise InputError(f"{device}: there is no such device; here are {', '.join(links)}")
    if "LOOPBACK" in links[device]["flags"]:
        others = [name for name in links if name != device]
        raise InputError(
            f"{device}: nothing leaves the machine by it; name the device to the modem: "
            f"{', '.join(others) or 'there is none here'}"
        )
    devices = [device]
    while devices:
        answers |= _of_device(devices[0])
        reading = Reading(answers)
        to = reading.redirect(devices.pop(0))
        # tc writes "*" for a target that was deleted.
        if to in reading.links and asked(CLASSES, to) not in answers:
            devices.append(to)
    return Reading(answers)


def _of_device(device: str) -> dict[str, str]:
    """Ask all that is asked about one device. RunError: it vanished meanwhile."""
    try:
        return {command: ask(command) for command in (asked(form, device) for form in OF_DEVICE)}
    except RunError as error:
        if device in Reading({LINKS: ask(LINKS)}).links:
            raise
        raise RunError(f"{device}: vanished while it was read; run it again") from error


PROBES = 20
_DISCARD = 9  # the port of RFC 863, whose service throws away what it gets


def probe_with(host: str) -> str:
    """Send small datagrams of ECT(0) to a host, and return its address.

    InputError: it is no address, it is one of this machine, or no route leads there.
    """
    if not host.strip():
        raise InputError("--probe: an address is missing; write that of a host behind the device")
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, _DISCARD, type=socket.SOCK_DGRAM)[0]
        number = str(address[0])
        _refuse_own(host, number)
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
    return number


def _refuse_own(host: str, address: str) -> None:
    """Raise InputError for an address of this machine, where no device sends what goes to it."""
    command = asked(ROUTE_TO, address)
    routes = Reading({command: ask(command)}).table(ROUTE_TO, address)
    if any(route.get("type") == "local" for route in routes):
        raise InputError(
            f"--probe {host}: is an address of this machine; write that of a host behind the device"
        )
