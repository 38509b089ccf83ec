# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Cases of a stand-alone qdisc for the kernel's test driver, tdc.

For each option: its bounds, one beyond them, a change under way; then what every qdisc has.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address

from sojourn import _native
from sojourn.algorithms import Algorithm, Row
from sojourn.linux.export import rows
from sojourn.linux.qdiscs import value_text

_RATE_BYTES_S = 1_250_000
_ADDRESS, _GROUP, _ADDRESS6 = 0xC0000201, 0xE0000001, "2001:db8::1"
_SHOW = "$TC qdisc show dev $DUMMY"


def cases(algorithm: Algorithm) -> list[dict[str, object]]:
    """List all cases, as tdc's JSON has them."""
    return list(_Cases(algorithm).all())


class _Cases:
    def __init__(self, algorithm: Algorithm) -> None:
        self.name = algorithm.name
        self.options = rows.options(algorithm)
        self.base = {"bandwidth": _RATE_BYTES_S} if algorithm.needs_rate else {}
        self.probes = algorithm.probes

    def all(self) -> Iterator[dict[str, object]]:
        yield self._case("with all options at their default", "add", {}, {})
        for row in self.options:
            yield from self._of(row)
        if self.probes:
            yield from self._of_responders()
        yield self._entry("that is deleted", [self._command("add", {})], self._delete(), 0, {}, 0)
        yield self._entry("that is not there deleted", [], self._delete(), 2, {}, 0)

    def _of(self, row: Row) -> Iterator[dict[str, object]]:
        for where, value in (("least", row.min), ("largest", row.max)):
            if self._allowed(row, value):
                yield self._case(f"with the {where} {row.name}", "add", {row.name: value}, {})
        if row.kind in ("u32", "u64") and row.max < (1 << 32) - 1:
            beyond = {row.name: row.max + 1}
            title = f"with {row.name} above its largest value"
            yield self._entry(title, [], self._command("add", beyond), 2, beyond, 0)
        if row.name in self.base:
            return
        changed = next((v for v in (row.max, row.min) if self._changeable(row, v)), None)
        if changed is not None:
            yield self._case(f"with {row.name} changed", "change", {row.name: changed}, {})

    def _of_responders(self) -> Iterator[dict[str, object]]:
        said, group = {rows.RESPONDER.name: _ADDRESS}, {rows.RESPONDER.name: _GROUP}
        yield self._case("with a responder", "add", said, {})
        yield self._case("with responder changed", "change", said, {})
        refused = self._command("add", group)
        yield self._entry("with a group as its responder", [], refused, 2, group, 0)
        by_ipv6 = f"{self._command('add', {})} responder {_ADDRESS6}"
        entry = self._entry("with a responder of IPv6", [], by_ipv6, 0, {}, 1)
        yield entry | {"matchPattern": f"{entry['matchPattern']} responder {_ADDRESS6}"}

    def _changeable(self, row: Row, value: int) -> bool:
        """Tell whether a queue takes the value later: one that samples is made for its limit."""
        grows = row.name == "limit" and value > row.default
        return not row.fixed and not grows and value != row.default and self._allowed(row, value)

    def _allowed(self, row: Row, value: int) -> bool:
        return _native.check(self.name, {**self.base, row.name: value}) is None

    def _command(self, verb: str, given: Mapping[str, int]) -> str:
        said = self.base | dict(given) if verb == "add" else given
        words = [self._word(row, said[row.name]) for row in self.options if row.name in said]
        return " ".join([f"$TC qdisc {verb} dev $DUMMY handle 1: root {self.name}", *words])

    def _delete(self) -> str:
        return "$TC qdisc del dev $DUMMY handle 1: root"

    def _word(self, row: Row, value: int) -> str:
        if row.kind == "bool":
            return row.name if value else f"no{row.name}"
        text = str(IPv4Address(value)) if row.unit == "ipv4" else value_text(row, value)
        return f"{row.name} {text}"

    def _case(
        self, title: str, verb: str, given: Mapping[str, int], before: Mapping[str, int]
    ) -> dict[str, object]:
        setup = [self._command("add", before)] if verb == "change" else []
        return self._entry(title, setup, self._command(verb, given), 0, given, 1)

    def _entry(
        self,
        title: str,
        setup: list[str],
        command: str,
        status: int,
        given: Mapping[str, int],
        count: int,
    ) -> dict[str, object]:
        said = self.base | dict(given)
        words = (self._word(row, said.get(row.name, row.default)) for row in self.options)
        shown = re.escape(" ".join(words)).replace(r"\ ", " ")
        name = f"{self.name.upper()} {title}"
        return {
            "id": hashlib.sha256(name.encode()).hexdigest()[:4],
            "name": name,
            "category": ["qdisc", self.name],
            "plugins": {"requires": "nsPlugin"},
            "setup": setup,
            "cmdUnderTest": command,
            "expExitCode": str(status),
            "verifyCmd": _SHOW,
            "matchPattern": f"qdisc {self.name} 1: root refcnt [0-9]+ {shown}",
            "matchCount": str(count),
            "teardown": [self._delete()] if count else [],
        }
