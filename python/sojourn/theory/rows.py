# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""From the rows of an algorithm to its law in the model.

Each row is read in its own unit, and converted to packets, seconds and shares.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sojourn import algorithms
from sojourn.core import units
from sojourn.core.errors import InputError
from sojourn.core.rows import SCALES
from sojourn.scenario.variant import Variant, read, read_assignments, write_value
from sojourn.theory.laws import Law, Lqd, Pi, Pie, Red, Rem
from sojourn.theory.network import Network

# aqm/law/pie_rows.h, RFC 8033, 4.2; and pie_2013.h: a bound, and the divisor where p is below it.
# The interface has rows and statistics but no such table, so a test compares these with the C's.
_RFC_DIVISORS = ((0.1, 2), (0.01, 8), (0.001, 32), (1e-4, 128), (1e-5, 512), (1e-6, 2048))
_2013_DIVISORS = ((0.1, 2), (0.01, 8))
# RFC 8033, 5.4: a sum of 0.85 without a signal, and then the chance.
RFC_SPACING = 1.85
# The MTU of the device that an algorithm assumes.
_MTU_BYTES = 1514


@dataclass(frozen=True)
class Chosen:
    """An algorithm and its rows, as the command line gives them."""

    algorithm: str
    label: str  # in tables and pictures
    spec: str  # for --aqm, with marks
    numbers: Mapping[str, int]  # canonical, of every row

    def number(self, key: str) -> int:
        return self.numbers[key]

    def of(self, key: str) -> float:
        """Return a row in the base of its unit: packets, bytes, hertz, a share; times in
        seconds."""
        row = algorithms.rows_of(self.algorithm)[key]
        scale = SCALES[row.unit]
        value = self.numbers[key] * scale.divide / scale.multiply
        return value / 1e9 if scale.base == "time" else value

    def word(self, key: str) -> str:
        """Return the choice of a row of choices."""
        row = algorithms.rows_of(self.algorithm)[key]
        return row.choices[self.numbers[key]]


def choose(text: str, assignments: list[str]) -> Chosen:
    """Read 'pi', 'pi@ns2', 'pi:qref=24', and the rows that --set adds to it.

    InputError: the algorithm has no fluid model, or a row is wrong.
    """
    variant = read(text, by="stability")
    if variant.algorithm not in LAWS:
        raise InputError(
            f"stability {text}: '{variant.algorithm}' has no fluid model; "
            f"these have one: {', '.join(LAWS)}"
        )
    changes = read_assignments(assignments)
    changes = {key.removeprefix("queue."): value for key, value in changes.items()}
    rows = {**variant.all_rows, **changes}
    try:
        numbers_by_row = algorithms.read_rows(variant.algorithm, rows)
    except units.UnitError as error:
        raise InputError(f"stability {text} {_sets(assignments)}: {error}") from error
    known = algorithms.rows_of(variant.algorithm)
    numbers = {key: numbers_by_row.get(key, row.default) for key, row in known.items()}
    label, spec = _names(variant, changes, rows)
    chosen = Chosen(variant.algorithm, label, spec, numbers)
    if chosen.number("flows"):
        raise InputError(f"stability {text}: flows = 0 alone has a model, one queue for all flows")
    return chosen


def choose_all(
    texts: Sequence[str], assignments: list[str], tell: Callable[[str], None] = lambda _: None
) -> list[Chosen]:
    """Choose each algorithm once: the same rows in another spelling are the same.

    `tell` gets a sentence for each one that is left out.
    """
    distinct: dict[object, Chosen] = {}
    for chosen in (choose(text, assignments) for text in texts):
        first = distinct.setdefault((chosen.algorithm, *chosen.numbers.values()), chosen)
        if first is not chosen:
            again = (
                "named twice" if chosen.label == first.label else f"has the rows of {first.label}"
            )
            tell(f"{chosen.label}: {again}, shown once")
    return list(distinct.values())


def _sets(assignments: list[str]) -> str:
    return " ".join(f"--set {text}" for text in assignments)


def _names(
    variant: Variant, changes: Mapping[str, object], rows: Mapping[str, object]
) -> tuple[str, str]:
    """Return the label for tables, and the variant for the packet engine with all rows."""
    more = ",".join(f"{key}={write_value(value)}" for key, value in changes.items())
    label = str(variant)
    if more:
        label += ("," if variant.settings else ":") + more.replace(" ", "")
    # Signals are marks in the model, even where the rows ask for drops.
    marking = {**rows, "ecn": True}
    settings = ",".join(f"{key}={write_value(value)}" for key, value in marking.items())
    return label, f"{variant.algorithm}:{settings}"


def law(chosen: Chosen, network: Network) -> Law:
    """Make the law of these rows on this network."""
    return LAWS[chosen.algorithm](chosen, network)


def _refuse(chosen: Chosen, sentence: str) -> InputError:
    return InputError(f"stability {chosen.label}: {sentence}")


def _pi(chosen: Chosen, network: Network) -> Law:
    if chosen.number("a") == chosen.number("b"):
        raise _refuse(chosen, "with a = b nothing brings the queue to qref; let a be larger")
    return Pi(
        name=chosen.label,
        sampled_s=chosen.of("interval"),
        reference_pkts=chosen.of("qref"),
        rise=chosen.of("a"),
        fall=chosen.of("b"),
    )


def _rem(chosen: Chosen, network: Network) -> Law:
    for key in ("gamma", "alpha"):
        if not chosen.number(key):
            raise _refuse(
                chosen, f"with {key} = 0 nothing brings the queue to qref; let {key} be larger"
            )
    avpkt = chosen.of("avpkt")
    size = network.packet_bytes / avpkt if chosen.word("bytes") == "bytes" else 1.0
    bits_s = chosen.of("bandwidth") or network.capacity_pkts_s * network.packet_bytes * 8
    short = bits_s / 8 / avpkt - network.capacity_pkts_s * size
    notes: tuple[str, ...] = ()
    if abs(short) > 1e-6 * network.capacity_pkts_s:
        apart = short * chosen.of("interval") / chosen.of("alpha")
        notes = (
            f"by avpkt and bandwidth the link would send {bits_s / 8 / avpkt:.0f} packets a "
            f"second, so that the price rests where the queue is {apart:+.1f} packets from qref",
        )
    return Rem(
        name=chosen.label,
        sampled_s=chosen.of("interval"),
        reference=chosen.of("qref"),
        gamma=chosen.of("gamma"),
        alpha=chosen.of("alpha"),
        log_phi=math.log1p(chosen.of("phi")),
        size=size,
        scale=size,
        short_per_s=short,
        notes=notes,
    )


def _lqd(chosen: Chosen, network: Network) -> Law:
    if not chosen.number("a"):
        raise _refuse(chosen, "with a = 0 the queue decides nothing; let a be larger")
    arrivals = network.capacity_pkts_s * chosen.of("interval")
    return Lqd(
        name=chosen.label,
        sampled_s=chosen.of("interval"),
        reference_pkts=chosen.of("qref"),
        rise=chosen.of("a"),
        fall=chosen.of("b"),
        reference_loss=chosen.of("pref"),
        share=-math.expm1(-arrivals),
    )


def _red(chosen: Chosen, network: Network) -> Law:
    if chosen.word("form") == "adaptive":
        raise _refuse(
            chosen, "form = adaptive has no model, its slope moves; take classic or gentle"
        )
    in_bytes = chosen.word("mode") == "bytes"
    unit = chosen.of("avpkt") / network.packet_bytes if in_bytes else 1.0
    return Red(
        name=chosen.label,
        low_pkts=chosen.of("min") * unit,
        high_pkts=chosen.of("max") * unit,
        most=chosen.of("probability"),
        weight=2.0 ** -chosen.number("weight"),
        scale=min(network.packet_bytes / _MTU_BYTES, 1.0) if in_bytes else 1.0,
        is_gentle=chosen.word("form") == "gentle",
    )


def _pie(chosen: Chosen, network: Network) -> Law:
    if not chosen.number("alpha"):
        raise _refuse(chosen, "with alpha = 0 nothing brings the delay to target; let it be larger")
    first = chosen.algorithm == "pie_2013"
    return Pie(
        name=chosen.label,
        sampled_s=chosen.of("tupdate"),
        target_s=chosen.of("target"),
        alpha_hz=chosen.of("alpha"),
        beta_hz=chosen.of("beta"),
        divisors=_2013_DIVISORS if first else _RFC_DIVISORS,
        spacing=1.0 if first else RFC_SPACING,
        is_stamped=not first and not chosen.number("dq_rate_estimator"),
        capacity_pkts_s=network.capacity_pkts_s,
    )


LAWS: Mapping[str, Callable[[Chosen, Network], Law]] = {
    "pi": _pi,
    "rem": _rem,
    "red": _red,
    "pie": _pie,
    "pie_2013": _pie,
    "lqd": _lqd,
}
