# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""refusals.py: what is refused of rows together, and of a running queue."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sojourn import algorithms
from sojourn.algorithms import Row

from tests.linux.tdc.case import (
    ADD,
    CHANGE,
    REFUSED,
    ROOT,
    Case,
    Form,
    exactly,
    kernel_refuses,
    shows,
    together,
)
from tests.linux.tdc.sentences import formats, say


def cases(algorithm: str) -> Iterator[Case]:
    met, let_in = set(), set()
    for form, near in _edges(algorithm):
        met.add(form.refusal())
        yield kernel_refuses(
            f"{algorithm}: {form.typed()}", f"{ADD} {form.typed()}", form.refusal()
        )
        # One value may lie between two that are refused.
        if near.typed() not in let_in:
            let_in.add(near.typed())
            yield shows(f"{algorithm}: {near.typed()}", f"{ADD} {near.typed()}", near)
    for form in _pairs(algorithm):
        if form.refusal() not in met | {""}:
            met.add(form.refusal())
            name = f"{algorithm}: {form.typed()}"
            yield kernel_refuses(name, f"{ADD} {form.typed()}", form.refusal())
    yield from _of_a_change(algorithm)


def of_classes() -> Iterator[Case]:
    """Of the one flow that there is, while it holds packets."""
    setup = (
        "$TC qdisc add dev $DUMMY root handle 9: tbf rate 8kbit burst 1000 limit 10mb",
        "$TC qdisc add dev $DUMMY parent 9:1 handle 1: sojourn codel flows 1",
        "$FRAMES $DUMMY 9 0",
    )
    place = "dev $DUMMY parent 1: classid 1:1"
    is_flow = say("the row flows says")
    for command, sentence in {
        f"$TC class change {place} sojourn": is_flow,
        f"$TC class delete {place}": is_flow,
        "$TC class add dev $DUMMY parent 1: classid 1:2 sojourn": is_flow,
        "$TC qdisc add dev $DUMMY parent 1:1 pfifo": say("no qdisc can be below"),
    }.items():
        name = f"a class of a flow: {command}"
        printed = exactly(f"Error: {sentence}.\n")
        yield Case(name, command, together(command), printed, REFUSED, 1, setup, sentence)


# ---- rows together, judged by the core itself ----


def _edges(algorithm: str) -> Iterator[tuple[Form, Form]]:
    """Values of one row that are refused, each with one beside it that is not."""
    rows = [*algorithms.queue_rows().values(), *algorithms.find(algorithm).params]
    for row in rows:
        goes = {
            value: not Form(algorithm, {row.name: value}).refusal() for value in _near(row, rows)
        }
        for value in sorted(goes):
            beside = next((v for v in (value - 1, value + 1) if goes.get(v)), None)
            if not goes[value] and beside is not None:
                yield Form(algorithm, {row.name: value}), Form(algorithm, {row.name: beside})


def _near(row: Row, rows: list[Row]) -> set[int]:
    """Where a rule may begin: at a bound, at a number in a sentence, at another row's default."""
    told = {int(digits) for text in formats() for digits in re.findall(r"\d+", text)}
    known = {row.min, row.max, *told, *(other.default for other in rows if other.unit == row.unit)}
    near = {value + step for value in known for step in (-1, 0, 1)}
    return {value for value in near if row.min <= value <= _most(row)}


def _most(row: Row) -> int:
    """Many flows cost the core much memory, and no rule is about how many they are."""
    return 2 if row.name == "flows" else row.max


def _pairs(algorithm: str) -> Iterator[Form]:
    rows = algorithms.find(algorithm).params
    for index, row in enumerate(rows):
        for other in rows[index + 1 :]:
            for value in row.min, row.max:
                for second in other.min, other.max:
                    yield Form(algorithm, {row.name: value, other.name: second})


# ---- a running queue ----


def _of_a_change(algorithm: str) -> Iterator[Case]:
    setup, left = [f"{ADD} {Form(algorithm).typed()}"], f"{ROOT} {Form(algorithm).shown()}\n"
    names = list(algorithms.algorithms())
    other = names[names.index(algorithm) - 1]
    sentence = say("this queue is", algorithm)
    yield kernel_refuses(
        f"{algorithm}: changed to {other}", f"{CHANGE} {other}", sentence, setup, left
    )
