# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The lines of C that a stand-alone qdisc has for each row: attribute, range, reading, dump."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from sojourn.algorithms import Algorithm, Row
from sojourn.core.errors import InputError

_PERIOD = re.compile(r"AQM_ROW\(\d+, AQM_\w+, \w+, (\w+),[^\"]*AQM_PERIOD")
_STAT = re.compile(r'AQM_STAT\((\d+), AQM_\w+, \w+, "(\w+)", ([\w.]+),')

# Counts of probes: the queue's, then those of enum sojourn_probe that are the wire's.
QUEUE_PROBES = ["joined", "refused", "left", "freed", "answered"]
PROBES = [*QUEUE_PROBES, "unmade", "forgotten", "unheard", "left_bytes", "asked", "ready"]
PROBES += ["strayed", "waited_ns", "waited_max_ns"]


@dataclass(frozen=True)
class Rows:
    """An algorithm's rows, which of them are periods, and the members of its statistics."""

    params: tuple[Row, ...]
    periods: frozenset[str]
    stats: tuple[tuple[Row, str], ...]
    probes: tuple[str, ...]  # counts of them

    def lines(self) -> dict[str, str]:
        """Write the lines for each mark of the template."""
        return {
            "attributes": self._each(lambda row: f"\t{attribute(row)},\n"),
            "xstats": "".join(f"\t__u64 {row.name};\n" for row, _ in self.stats),
            "defaults": self._each(lambda row: f"\t.{row.name} = {number(row, row.default)},\n"),
            "ranges": self._each(_range),
            "policy": self._each(_policy),
            "periods": "".join(_period(row) for row in self.params if row.name in self.periods),
            "reads": self._each(_read),
            "writes": self._each(_write),
            "statistics": "".join(
                f"\tst.{row.name} = q->state.{member};\n" for row, member in self.stats
            ),
            "probe xstats": "".join(f"\t__u64 {name};\n" for name in self.probes),
            "probe statistics": "".join(
                f"\tst.{name} = {'q->' if name in QUEUE_PROBES else 'counts.'}{name};\n"
                for name in self.probes
            ),
        }

    def _each(self, line: Callable[[Row], str]) -> str:
        return "".join(map(line, self.params))


def read(algorithm: Algorithm, text: str) -> Rows:
    """Find in the C what the compiled tables do not tell."""
    members = {name: member for _, name, member in _STAT.findall(text)}
    if missing := [row.name for row in algorithm.stats if row.name not in members]:
        raise InputError(f"{algorithm.name}: no line of its C has the statistic {missing[0]}")
    periods = frozenset(_PERIOD.findall(text))
    stats = tuple((row, members[row.name]) for row in algorithm.stats)
    probes = tuple(PROBES if algorithm.probes else ())
    return Rows(tuple(algorithm.params), periods, stats, probes)


def attribute(row: Row) -> str:
    return f"TCA_AQM_{row.name.upper()}"


def number(row: Row, value: int) -> str:
    """Write a constant that is wide enough on 32 bits too."""
    if value >= 1 << 32:
        return f"{value}ULL"
    return f"{value}U" if value >= 1 << 31 else str(value)


def _is_any(row: Row) -> bool:
    return row.min == 0 and row.max == (1 << (64 if row.kind == "u64" else 32)) - 1


def _range(row: Row) -> str:
    if _is_any(row):
        return ""
    least = f"\t.min = {number(row, row.min)},\n" if row.min else ""
    return (
        f"static const struct netlink_range_validation aqm_sch_{row.name}_range = {{\n"
        f"{least}\t.max = {number(row, row.max)},\n}};\n\n"
    )


def _policy(row: Row) -> str:
    kind = "NLA_U64" if row.kind == "u64" else "NLA_U32"
    if _is_any(row):
        return f"\t[{attribute(row)}] = {{ .type = {kind} }},\n"
    return f"\t[{attribute(row)}] = NLA_POLICY_FULL_RANGE({kind}, &aqm_sch_{row.name}_range),\n"


def _get(row: Row) -> str:
    return f"nla_get_{'u64' if row.kind == 'u64' else 'u32'}(tb[{attribute(row)}])"


def _read(row: Row) -> str:
    lines = f"\tif (tb[{attribute(row)}])\n\t\tconf.{row.name} = {_get(row)};\n"
    if not row.fixed:
        return lines
    refusal = f'NL_SET_ERR_MSG_MOD(extack, "{row.name} cannot be changed");'
    lines += f"\tif (q->live && conf.{row.name} != q->wanted.{row.name}) {{\n"
    return lines + f"\t\t{refusal}\n\t\treturn -EOPNOTSUPP;\n\t}}\n"


def _write(row: Row) -> str:
    put = f"nla_put_u32(skb, {attribute(row)}, conf->{row.name})"
    if row.kind == "u64":
        put = f"nla_put_u64_64bit(skb, {attribute(row)}, conf->{row.name}, TCA_AQM_PAD)"
    return f"\tif ({put})\n\t\tgoto fail;\n"


def _period(row: Row) -> str:
    return (
        f"\tif (q->wanted.{row.name} < q->conf.{row.name})\n"
        f"\t\tq->tick_ns = min(q->tick_ns, now + q->wanted.{row.name});\n"
    )


# ---- for tc ----

OWN = ("limit", "ecn", "bandwidth")
# An algorithm that samples has a table of what the queue holds.
_SAMPLED_PKTS = 1 << 17
# Who answers the probes; an attribute of its own has the address of IPv6.
RESPONDER = Row(
    "responder", "who answers the probes; 0.0.0.0: the next hop", "ipv4", "u32", 0, 0, 2**32 - 1
)
_COUNTS = ("early", "full", "ecn_mark")


def options(algorithm: Algorithm) -> list[Row]:
    """List the rows that the qdisc has, in the order of its attributes."""
    wanted = OWN if algorithm.needs_rate else OWN[:2]
    queue = {row.name: row for row in algorithm.queue}
    if algorithm.samples:
        queue["limit"] = replace(queue["limit"], max=_SAMPLED_PKTS)
    own = [queue[name] for name in wanted]
    return [*own, *[RESPONDER] * algorithm.probes, *algorithm.params]


def attributes(algorithm: Algorithm) -> list[str]:
    known = [attribute(row) for row in options(algorithm)]
    if algorithm.probes:
        known.insert(known.index(attribute(RESPONDER)) + 1, f"{attribute(RESPONDER)}6")
    return ["TCA_AQM_UNSPEC", *known]


def tables(algorithm: Algorithm) -> dict[str, str]:
    """Write the lines of the plugin's tables."""
    names = [*_COUNTS, *(PROBES if algorithm.probes else ())]
    counts = [Row(name, "", "count", "u64", 0, 0, 0) for name in names]
    known = options(algorithm)
    stats = [replace(row, help="") for row in algorithm.stats]
    words = "".join(_words(row) for row in known if row.choices)
    return {
        "words": words,
        "options": "".join(_field(row, attribute(row)) for row in known),
        "statistics": "".join(_field(row, "0") for row in (*stats, *counts)),
    }


def _words(row: Row) -> str:
    choices = ", ".join(map(_quoted, row.choices))
    return f"static const char *const {row.name}_words[] = {{{choices}}};\n"


def _quoted(word: str) -> str:
    return f'"{word}"'


def _field(row: Row, attr: str) -> str:
    members = {
        "name": _quoted(row.name),
        "help": _quoted(row.help) if row.help else "",
        "choices": f"{row.name}_words" if row.choices else "",
        "def": number(row, row.default) if row.default else "",
        "min": number(row, row.min) if row.min else "",
        "max": number(row, row.max),
        "attr": attr,
        "type": f"AQM_{row.kind.upper()}",
        "unit": _UNITS[row.unit],
        "flags": "AQM_FIXED" if row.fixed else "",
    }
    return f"\t{{{', '.join(f'.{name} = {text}' for name, text in members.items() if text)}}},\n"


_UNITS = {
    "count": "AQM_COUNT",
    "ns": "AQM_NS",
    "pkts": "AQM_PKTS",
    "bytes": "AQM_BYTES",
    "bytes/s": "AQM_BYTES_PER_S",
    "q32": "AQM_PROB",
    "hz/16": "AQM_HZ_16",
    "hz/256": "AQM_HZ_256",
    "log2": "AQM_LOG2",
    "ipv4": "AQM_IPV4",
}
