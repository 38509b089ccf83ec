# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The rule that decides claims, on made-up numbers whose verdict is plain."""

from __future__ import annotations

import math
import re
from typing import Literal

import pytest
from sojourn.core.errors import InputError
from sojourn.papers import claims, report
from sojourn.papers.claim import Cell, Claim, Pair
from sojourn.papers.claims import Decision, decide
from sojourn.papers.claims_file import read
from sojourn.result.stats import estimate

NOISE = [0.02, -0.01, 0.03, -0.02, 0.0, 0.01, -0.03, 0.02, -0.01, -0.01]
PAIR = Pair("drop", "a", "b")


def verdict(
    left: list[float],
    right: list[float],
    relation: Literal["less", "greater"] = "less",
    factor: float = 1.0,
    margin: float | None = None,
    calibrated: bool = False,
) -> Decision:
    claim = Claim(
        id="x",
        text="x",
        source="x",
        metrics=("utilisation_pct",),
        relation=relation,
        pairs=(PAIR,),
        factor=factor,
        margin=margin,
    )
    values = {"a": left, "b": right}
    cells = {("drop", "b", "utilisation_pct")} if calibrated else set()
    return decide(claim, lambda cell: values[cell[1]], cells)


def around(mean: float) -> list[float]:
    return [mean + noise for noise in NOISE]


@pytest.mark.parametrize(
    ("left", "factor", "relation", "expected"),
    [
        (1.0, 1.0, "less", "holds"),
        (1.0, 0.5, "less", "undecided"),
        (1.0, 0.4, "less", "not found here"),
        (1.0, 1.0, "greater", "not found here"),
        (3.0, 1.0, "greater", "holds"),
        (3.0, 2.0, "greater", "not found here"),
    ],
)
def test_the_interval_of_the_log_ratio_decides(
    left: float, factor: float, relation: Literal["less", "greater"], expected: str
) -> None:
    right = [2.0 - noise / 3 for noise in NOISE]
    assert verdict(around(left), right, relation, factor).verdict == expected


def test_seeds_are_matched() -> None:
    """What varies from seed to seed in both alike does not hide a difference."""
    wild = [10.0, 1.0, 100.0, 3.0, 30.0, 5.0, 50.0, 2.0, 20.0, 7.0]
    assert verdict([0.9 * v for v in wild], wild).verdict == "holds"


def test_a_margin_is_compared_as_a_difference() -> None:
    assert verdict(around(98.5), around(99.5), "greater", margin=-1.5).verdict == "holds"
    assert verdict(around(97.5), around(99.5), "greater", margin=-1.5).verdict == "not found here"


def test_numbers_are_told_apart_from_the_factor_and_the_margin_that_decide() -> None:
    below = verdict([0.4998, 0.4997, 0.4999] * 4, [1.0] * 12, factor=0.5)
    assert below.verdict == "holds"
    assert below.checks[0].text().endswith("a / b = 0.4998 [0.4997, 0.4999]")
    above = verdict([98.001, 98.002] * 6, [99.5] * 12, "greater", margin=-1.5)
    assert above.verdict == "holds"
    assert above.checks[0].bounds == (-1.5,)
    assert "= -1.498" in above.checks[0].text()


def test_where_a_value_is_zero_the_difference_decides() -> None:
    zero = [0.0] * 10
    assert verdict(zero, around(5.0), factor=0.1).verdict == "holds"
    assert verdict(around(5.0), zero).verdict == "not found here"


def test_what_settled_a_setting_never_holds() -> None:
    decision = verdict(around(1.0), around(2.0), calibrated=True)
    assert (decision.verdict, decision.rule) == ("calibrated", "holds")


def test_what_settled_a_setting_says_what_it_would_be_otherwise() -> None:
    failing = verdict(around(2.0), around(1.0), calibrated=True)
    data = failing.to_json()
    assert (data["verdict"], data["otherwise"]) == ("calibrated", "not found here")
    assert "otherwise: [red]not found here" in report.verdict(failing)
    assert verdict(around(1.0), around(2.0)).to_json()["otherwise"] is None


def test_one_failing_part_fails_the_claim_and_one_open_part_leaves_it_open() -> None:
    values = {"a": around(1.0), "b": around(2.0), "c": around(0.5), "d": around(1.0)}

    def of(*rights: str) -> str:
        pairs = tuple(Pair("drop", "a", right) for right in rights)
        claim = Claim("x", "x", "x", ("jain",), "less", pairs)
        return decide(claim, lambda cell: values[cell[1]], set()).verdict

    assert of("b") == "holds"
    assert of("b", "d") == "undecided"
    assert of("b", "d", "c") == "not found here"


def test_what_was_not_measured_in_a_seed_is_undecided_and_has_no_number() -> None:
    decision = verdict([math.nan, *around(1.0)[1:]], around(2.0))
    assert (decision.verdict, decision.rule) == ("undecided", "undecided")
    (check,) = decision.checks
    assert check.text().endswith(": not measured in every seed")


CELLS = {"drop": {"signal": "drop"}, "ecn": {"signal": "ecn"}}
LINE = {"id": "x", "text": "x", "source": "x", "metrics": ["jain"], "relation": "less"}


def over_cells(holds: int, fails: int, undecided: int, quorum: str | float) -> Decision:
    """A claim over so many cells of each kind, that a is less than b."""
    kinds = ["holds"] * holds + ["not found here"] * fails + ["undecided"] * undecided
    cells = {str(n): {"cell": str(n)} for n in range(len(kinds))}
    entry = {**LINE, "left": "a", "right": "b", "quorum": quorum}
    (claim,), _ = read({"claims": [entry]}, cells)
    means = {"holds": 1.0, "not found here": 3.0, "undecided": 2.0}

    def values(cell: Cell) -> list[float]:
        found = around(means[kinds[int(cell[0])]] if cell[1] == "a" else 2.0)
        return found if cell[1] == "a" else found[::-1]

    return decide(claim, values, set())


@pytest.mark.parametrize(
    ("holds", "fails", "undecided", "quorum", "expected"),
    [
        (3, 2, 0, "most", "holds"),
        (2, 2, 0, "most", "not found here"),  # half is not most
        (3, 1, 1, "most", "holds"),  # even if the undecided one fails
        (2, 1, 1, "most", "undecided"),
        (1, 3, 1, "most", "not found here"),  # even if the undecided one holds
        (9, 1, 0, "nearly every", "holds"),
        (8, 1, 1, "nearly every", "undecided"),
        (8, 2, 0, "nearly every", "not found here"),
        (3, 1, 0, "nearly every", "not found here"),
        (4, 0, 0, "every", "holds"),
        (3, 0, 1, "every", "undecided"),
        (3, 1, 1, "every", "not found here"),
        (7, 3, 0, 0.7, "holds"),
        (6, 4, 0, 0.7, "not found here"),
        (2, 2, 0, 0.5, "holds"),  # a share is at least as many
    ],
)
def test_a_quorum_counts_undecided_cells_both_ways(
    holds: int, fails: int, undecided: int, quorum: str | float, expected: str
) -> None:
    decision = over_cells(holds, fails, undecided, quorum)
    assert decision.counts() == {"holds": holds, "not found here": fails, "undecided": undecided}
    assert decision.verdict == expected


def test_table_and_json_say_how_many_cells_hold() -> None:
    decision = over_cells(8, 1, 1, "nearly every")
    assert decision.tally() == "10 cells: 8 hold, 1 do not, 1 undecided; 9 must hold"
    assert decision.tally() in report._lines(decision)
    data = decision.to_json()
    assert data["quorum"] == 0.9
    assert data["counts"] == {"holds": 8, "not found here": 1, "undecided": 1}
    assert over_cells(1, 0, 0, "every").tally() == ""


def test_a_claim_that_fails_names_the_cells_by_which_it_does() -> None:
    decision = over_cells(1, 2, 1, "every")
    failed = [check.text() for check in decision.checks if check.verdict == "not found here"]
    assert decision.against() == f"not so: {failed[0]}; {failed[1]}"
    shown = [line.rsplit(": ", 1)[1] for line in report._lines(decision).splitlines()[1:]]
    assert shown == ["holds", "not found here", "not found here", "undecided"]
    assert over_cells(0, 7, 0, "every").against().endswith("; and 3 more")
    # One cell is told in full; and where the claim does not fail, none is to blame.
    assert over_cells(0, 1, 0, "every").against() == ""
    assert over_cells(3, 2, 0, "most").against() == ""


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (5.0, 2.0, "holds"),
        (7.0, 2.0, "not found here"),
        (3.0, 2.0, "not found here"),
        (4.0, 2.0, "undecided"),
        (6.0, 2.0, "undecided"),
        (0.0, 2.0, "not found here"),  # no ratio, but less than twice
    ],
)
def test_two_to_three_times_is_a_range_with_two_ends(
    left: float, right: float, expected: str
) -> None:
    entry = {**LINE, "relation": "between", "factor": [2, 3], "left": "a", "right": "b"}
    (claim,), _ = read({"claims": [entry]}, {"drop": {"signal": "drop"}})
    values = {"a": around(left) if left else [0.0] * 10, "b": [right] * 10}
    assert decide(claim, lambda cell: values[cell[1]], set()).verdict == expected


def test_a_claim_stands_in_all_cells_or_where_it_says() -> None:
    def pairs(**entry: object) -> list[tuple[str, str, str | None]]:
        (claim,), _ = read({"claims": [{**LINE, **entry}]}, CELLS)
        return [(pair.signal, pair.left, pair.right) for pair in claim.pairs]

    assert pairs(left="a", right=["b", "c"], where={"signal": "ecn"}) == [
        ("ecn", "a", "b"),
        ("ecn", "a", "c"),
    ]
    assert pairs(order=["a", "b", "c"], where={"signal": ["drop"]}) == [
        ("drop", "a", "b"),
        ("drop", "b", "c"),
    ]
    assert len(pairs(left="a", right="b")) == 2
    tied = pairs(order=["a", ["b", "c"], "d"], where={"signal": "drop"})
    assert [pair[1:] for pair in tied] == [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
    both = pairs(left=["a", "b"], right=["c", "d"], where={"signal": "drop"})
    assert [pair[1:] for pair in both] == [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")]


@pytest.mark.parametrize(
    ("relation", "value", "expected"),
    [
        ("less", 50, "holds"),
        ("less", 40, "undecided"),
        ("less", 39, "not found here"),
        ("greater", 39, "holds"),
        ("greater", 50, "not found here"),
        ("between", [39, 41], "holds"),
        ("between", [40, 41], "undecided"),
        ("between", [41, 45], "not found here"),
        ("between", [30, 39], "not found here"),
    ],
)
def test_a_number_of_the_text_stands_beside_what_was_measured(
    relation: str, value: float | list[float], expected: str
) -> None:
    entry = {**LINE, "metrics": ["utilisation_pct"], "relation": relation}
    (claim,), _ = read({"claims": [{**entry, "left": ["a"], "value": value}]}, CELLS)
    assert claim.cells() == [(cell, "a", "utilisation_pct") for cell in CELLS]
    decision = decide(claim, lambda _: around(40.0), set())
    assert decision.verdict == expected
    check = decision.checks[0]
    assert check.text().startswith("drop: utilisation, a = ")
    assert check.text().endswith("] %")
    data = check.to_json()
    assert (data["quantity"], data["right"]) == ("value", None)


def test_the_interval_of_a_share_that_is_shown_does_not_go_below_0() -> None:
    entry = {**LINE, "metrics": ["drop_pct"], "relation": "less"}
    (claim,), _ = read({"claims": [{**entry, "left": ["a"], "value": 0.2}]}, CELLS)
    check = decide(claim, lambda _: [0.0, 0.0, 0.1, 0.0], set()).checks[0]
    assert check.estimate.low < 0
    assert "= 0.025 [0, 0.105] %" in check.text()
    assert check.to_json()["ci95"] == [0, check.estimate.high]


LOADS = {
    f"{signal}, {load}": {"signal": signal, "load": load}
    for signal in ("drop", "ecn")
    for load in ("low", "mild", "heavy")
}


def test_an_algorithm_stands_beside_itself_in_the_next_cell_along_an_axis() -> None:
    entry = {**LINE, "left": ["a", "b"], "along": {"load": ["low", "mild", "heavy"]}}
    (claim,), _ = read({"claims": [entry]}, LOADS)
    assert len(claim.pairs) == 2 * 2 * 2
    assert {pair.left == pair.right for pair in claim.pairs} == {True}
    steps = {(pair.signal, pair.right_signal) for pair in claim.pairs}
    assert steps == {
        (f"{signal}, {one}", f"{signal}, {next_}")
        for signal in ("drop", "ecn")
        for one, next_ in (("low", "mild"), ("mild", "heavy"))
    }
    means = {"low": 1.0, "mild": 2.0, "heavy": 3.0}
    decision = decide(claim, lambda cell: around(means[cell[0].split(", ")[1]]), set())
    assert decision.verdict == "holds"
    first = decision.checks[0]
    assert first.text().startswith("drop, low: Jain's index, a / a of drop, mild = 0.5 [")
    assert first.to_json()["right_signal"] == "drop, mild"
    settled = {("ecn, heavy", "b", "jain")}
    assert decide(claim, lambda _: around(1.0), settled).verdict == "calibrated"


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"quorum": "many"}, "claim x: quorum = 'many'; allowed: a share of the cells"),
        ({"quorum": 0}, "quorum = 0; allowed"),
        ({"quorum": True}, "quorum = True; allowed"),
        ({"relation": "between"}, "go together"),
        ({"factor": [2, 3]}, "go together"),
        (
            {"where": {"sigal": "drop"}},
            "claim x: where.sigal: no cell has this axis. Did you mean 'signal'?",
        ),
        (
            {"where": {"signal": ["ecn", "dorp"]}},
            "claim x: where.signal: no cell has 'dorp'. Did you mean 'drop'?",
        ),
        ({"metrics": ["jane"]}, "Did you mean 'jain'?"),
        ({"value": 5}, "left goes with one of right, value, along; it has right and value"),
        ({"order": ["a", "b"]}, "needs one of pairs, order, left, and has order and left"),
    ],
)
def test_a_claim_that_cannot_be_judged_is_refused(entry: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        read({"claims": [{**LINE, "left": "a", "right": "b", **entry}]}, CELLS)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"left": "a"}, "left goes with one of right, value, along; it has none"),
        ({}, "needs one of pairs, order, left, and has none"),
        ({"order": ["a", "b"], "value": 5}, "order says all; it has value"),
        ({"left": "a", "value": [1, 2]}, "value = [1, 2]; it is a number, or with relation"),
        ({"left": "a", "value": 5, "relation": "between"}, "value = 5; it is a number, or with"),
        ({"left": "a", "value": [2, 1], "relation": "between"}, "[LEAST, MOST]"),
        ({"left": "a", "value": [1, 2, 3], "relation": "between"}, "[LEAST, MOST]"),
        ({"left": "a", "value": "half"}, "value = 'half'; it is a number"),
        ({"left": "a", "value": True}, "value = True; it is a number"),
        ({"left": "a", "value": math.nan}, "value = nan; it is a number"),
        ({"left": "a", "value": 5, "factor": 2}, "value goes with neither factor nor margin"),
        ({"left": "a", "along": {"load": "low"}}, "along.load needs two values or more"),
        ({"left": "a", "along": {"load": ["low", "hevy"]}}, "no cell has 'hevy'. Did you mean"),
        ({"left": "a", "along": {}}, "along = { AXIS = [VALUES] } has one axis"),
    ],
)
def test_a_form_that_is_none_is_refused(entry: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        read({"claims": [{**LINE, **entry}]}, LOADS)


def test_the_interval_is_students() -> None:
    found = estimate([1.0, 2.0, 3.0, 4.0])
    # t(0.975, 3) = 3.182446, s = 1.290994
    assert found.mean == 2.5
    assert math.isclose(found.half, 3.182446 * 1.290994 / 2, rel_tol=1e-5)


def test_one_seed_decides_nothing() -> None:
    assert verdict([1.0], [2.0]).verdict == "undecided"


def test_nothing_measured_decides_nothing() -> None:
    assert verdict([math.nan] * 10, around(2.0)).verdict == "undecided"


def test_an_interval_shows_on_which_side_it_lies() -> None:
    assert claims._told_apart((1.0031, 1.00026, 1.0059), 1.0) == ["1.0031", "1.0003", "1.0059"]
    assert claims._told_apart((0.5, 0.25, 0.75), 1.0) == ["0.5", "0.25", "0.75"]
    assert claims._told_apart((1.0, 0.9, 1.1), 1.0) == ["1", "0.9", "1.1"]


@pytest.mark.parametrize(("most", "said"), [(5.0, "holds"), (0.1, "not found here")])
def test_little_variation_is_the_distance_of_a_run_from_the_mean(most: float, said: str) -> None:
    claim = Claim(
        id="x",
        text="x",
        source="x",
        metrics=("system_delay_mean_ms",),
        relation="less",
        pairs=(Pair("drop", "a", None, value=most),),
        spread=True,
    )
    decision = decide(claim, lambda cell: around(1.0), set())
    assert decision.verdict == said
    assert decision.checks[0].text().endswith("%")
