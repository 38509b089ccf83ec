# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Claims are tried on the paper's own numbers first: a reading that these fail is no reading."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from sojourn.core.errors import InputError
from sojourn.papers.claim import Cell, Claim
from sojourn.papers.claims import FAILS_IN_PRINT, Decision, Judged, decide
from sojourn.papers.claims_file import read
from sojourn.papers.experiment import find
from sojourn.papers.in_print import Trial, failing, rank_correlation
from sojourn.papers.paper import papers
from sojourn.papers.reproduce import reproduce

from tests.toy_paper import toy

__all__ = ["toy"]

CELLS = {
    f"drop, {load}, {room}": {"signal": "drop", "load": load, "room": room}
    for load in ("low", "high")
    for room in ("5/15", "33/67")
}
LINE = {"id": "x", "text": "x", "source": "x", "metrics": ["jain"], "relation": "greater"}


def claim(**entry: Any) -> Claim:
    (only,), _ = read({"claims": [{**LINE, **entry}]}, CELLS)
    return only


def decided(one: Claim, number: Callable[[Cell], float], noise: float = 1e-3, **more: Any) -> Any:
    """The decision, where a run measures this number, give or take the noise."""

    def values(cell: Cell) -> list[float]:
        return [number(cell) + noise * (-1) ** seed for seed in range(4)]

    return decide(one, values, set(), **more)


def shipped() -> list[Any]:
    """Every claim of the papers that come with Sojourn, and the numbers that it is tried on."""
    of_several = [(one, paper.published) for paper in papers() for one in paper.claims()]
    of_one = [
        (one, experiment.published)
        for paper in papers()
        for experiment in paper.experiments
        for one in experiment.claims()[0]
    ]
    return [pytest.param(*both, id=both[0].id) for both in (*of_several, *of_one)]


@pytest.mark.parametrize(("one", "published"), shipped())
def test_no_reading_of_a_claim_is_failed_by_the_numbers_of_its_paper(
    one: Claim, published: Mapping[Cell, float]
) -> None:
    assert [trial.text() for trial in failing([one], published)] == []


def of_toy() -> Judged:
    (judged,) = reproduce(find(["toy/a"])[0], quick=True, workers=1).judged["sim"]
    return judged


def test_with_one_printed_number_changed_the_verdict_is_another(toy: Path) -> None:
    assert of_toy().verdict == "holds"
    path = toy / "a" / "published.toml"
    path.write_text(path.read_text().replace("5.0", "55.0"))
    judged = of_toy()
    assert judged.verdict == "undecided"
    assert judged.decision and judged.decision.remarks()[0] == FAILS_IN_PRINT
    assert (
        "drop: CoDel and Tail <drop>, system delay, mean: 55 and 44" in judged.decision.remarks()[1]
    )


def test_a_reading_that_print_fails_is_found_and_decides_nothing(toy: Path) -> None:
    path = toy / "a" / "claims.toml"
    was = 'relation = "less"'
    # In print CoDel's delay is 0.114 of the other's, and in a run less than a tenth.
    path.write_text(path.read_text().replace(was, f"{was}\nfactor = 0.1"))
    (experiment,) = find(["toy/a"])
    (trial,) = failing(experiment.claims()[0], experiment.published)
    assert trial.claim.id == "toy/a/less"
    assert of_toy().verdict == "undecided"


def test_a_claim_is_tried_in_those_cells_that_have_printed_numbers_with_its_quorum() -> None:
    one = claim(left="a", right="b", quorum="most")
    cells = [cell for cell in one.cells() if cell[1] == "a"]
    assert failing([one], {}) == []
    assert failing([one], {cells[0]: 0.5}) == [], "b has no number in that cell"
    low = {(cell[0], name, "jain"): n for cell in cells[:3] for name, n in (("a", 0.6), ("b", 0.5))}
    assert failing([one], low) == []
    low[cells[0]] = 0.4
    assert failing([one], low) == [], "two of three are most"
    low[cells[1]] = 0.4
    (trial,) = failing([one], low)
    assert trial.text().count("Jain's index: 0.4 and 0.5") == 2


def trial_of(one: Claim, a: float, b: float) -> list[Trial]:
    numbers = {"a": a, "b": b}
    return failing([one], {cell: numbers[cell[1]] for cell in one.cells()})


@pytest.mark.parametrize(
    ("entry", "a", "b", "fails"),
    [
        ({}, 0.5, 0.5, True),  # equal is not greater
        ({"margin": -1.5}, 98.4, 99.9, True),  # just 1.5 less, though not in binary
        ({"margin": -1.5}, 98.5, 99.9, False),
        ({"factor": 2.0}, 0.9, 0.5, True),
        ({"relation": "less", "factor": 0.1}, 1.16, 9.18, True),
        ({"relation": "between", "factor": [2, 3]}, 6.4, 2.0, True),
        ({"relation": "between", "factor": [2, 3]}, 6.0, 2.0, False),
    ],
)
def test_print_is_compared_as_it_is_printed(
    entry: dict[str, Any], a: float, b: float, fails: bool
) -> None:
    assert bool(trial_of(claim(left="a", right="b", **entry), a, b)) is fails


@pytest.mark.parametrize(
    ("entry", "printed", "fails"),
    [
        ({"relation": "less", "value": 75}, 75, False),  # "within 75"
        ({"relation": "less", "value": 75}, 76, True),
        ({"relation": "between", "value": [471, 692]}, 471, False),
        ({"relation": "between", "value": [471, 692]}, 470, True),
    ],
)
def test_a_number_of_the_text_belongs_to_its_range(
    entry: dict[str, Any], printed: float, fails: bool
) -> None:
    assert bool(trial_of(claim(left="a", **entry), printed, 0)) is fails


def test_an_order_is_compared_only_beyond_the_noise_of_one_run() -> None:
    one = claim(order=["a", "b", "c"], where={"load": "low", "room": "5/15"})
    cell = "drop, low, 5/15"
    print_ = {(cell, "a", "jain"): 0.9, (cell, "b", "jain"): 0.5, (cell, "c", "jain"): 0.45}
    measured = {"a": 0.9, "b": 0.5, "c": 0.6}
    of_b_and_c = "left out, within one run's noise in print: drop, low, 5/15: b and c, Jain's index"

    def found(noise: float) -> Decision:
        return decided(one, lambda of: measured[of[1]], noise, published=print_)  # type: ignore[no-any-return]

    assert found(1e-3).verdict == "not found here", "c is not less than b"
    # A gap of 0.1 is noise, and is measured: the sentence does not hold, and is not refuted either.
    noisy = found(0.03)
    the_other_way = "measured the other way among these: drop, low, 5/15: Jain's index, b / c = "
    assert (noisy.verdict, noisy.remarks()[0]) == ("undecided", of_b_and_c)
    assert noisy.remarks()[1].startswith(the_other_way)
    measured["c"] = 0.5
    alike = found(0.03)
    assert (alike.verdict, alike.remarks()) == ("holds", [of_b_and_c])
    nothing = found(0.3)
    assert nothing.verdict == "undecided"
    assert nothing.remarks()[0] == "print's differences are within one run's noise"
    # Where print has no number, there is nothing to leave out.
    assert decided(one, lambda of: measured[of[1]], 0.03).left_out == ()


def test_a_claim_that_print_contradicts_says_so_beside_what_was_measured() -> None:
    entry = {"left": "a", "right": "b", "contradicts": "the target alone is twice that"}
    decision = decided(claim(**entry), lambda cell: {"a": 0.9, "b": 0.5}[cell[1]])
    assert (decision.verdict, decision.beside) == ("print contradicts itself", "measured: holds")
    assert decision.remarks() == ["print itself: the target alone is twice that"]
    cell = ("drop, low, 5/15", "a", "jain")
    with pytest.raises(InputError, match=r"claim x: contradicts: the reading holds on the printed"):
        read({"claims": [{**LINE, **entry}]}, CELLS, {cell: 0.9, (cell[0], "b", "jain"): 0.5})
    failed = {cell: 0.4, (cell[0], "b", "jain"): 0.5}
    (one,), _ = read({"claims": [{**LINE, **entry}]}, CELLS, failed)
    again = decided(one, lambda of: {"a": 0.9, "b": 0.5}[of[1]], published=failed)
    assert again.verdict == "print contradicts itself" and "0.4 and 0.5" in again.remarks()[1]


def test_the_sentences_own_number_cannot_contradict_it() -> None:
    entry = {**LINE, "relation": "less", "left": "a", "value": 0.9, "contradicts": "the target"}
    cells = [(cell, "a", "jain") for cell in CELLS]
    (one,), _ = read({"claims": [entry]}, CELLS, dict.fromkeys(cells, 0.9))
    assert decided(one, lambda _: 0.95).verdict == "print contradicts itself"
    with pytest.raises(InputError, match="contradicts: the reading holds on the printed"):
        read({"claims": [entry]}, CELLS, dict.fromkeys(cells, 0.8))


TURNS = {"axis": "room", "values": ["5/15", "33/67"]}


def test_a_claim_that_turns_with_what_print_leaves_open_is_not_in_print() -> None:
    one = claim(left="a", right="b", turns=TURNS, where={"load": "low"})
    assert len(one.pairs) == 2

    def found(of_other: float) -> Decision:
        def number(cell: Cell) -> float:
            return 0.6 if cell[1] == "a" else 0.5 if "5/15" in cell[0] else of_other

        return decided(one, number)  # type: ignore[no-any-return]

    turning = found(0.7)
    assert turning.verdict == "not in print"
    said = "by room: 5/15 holds, 1 of 1 cells hold; 33/67 not found here, 0 of 1 cells hold"
    assert turning.tally() == said
    assert turning.to_json()["turns"] == {"5/15": "holds", "33/67": "not found here"}
    assert found(0.5).verdict == "holds"


def test_a_pair_takes_each_value_in_its_turn_and_one_without_the_axis_stays() -> None:
    cells = {**CELLS, "ecn": {"signal": "ecn"}}
    entry = {**LINE, "turns": TURNS, "pairs": [["drop, low, 5/15", "a", "b"], ["ecn", "a", "b"]]}
    (one,), _ = read({"claims": [entry]}, cells)
    assert one.turns
    assert {value: [pair.signal for pair in pairs] for value, pairs in one.turns.pairs.items()} == {
        "5/15": ["drop, low, 5/15", "ecn"],
        "33/67": ["drop, low, 33/67", "ecn"],
    }


def test_an_algorithm_takes_the_place_of_another_beside_each_value_of_a_second_quantity() -> None:
    one = claim(
        left="a",
        right=["b", "c"],
        where={"load": "low", "room": "5/15"},
        turns=[
            {"algorithm": "a", "values": ["a", "A"]},
            {"algorithm": "c", "values": ["c", "C"]},
        ],
    )
    assert one.turns
    assert one.turns.axis == "a and c"
    assert {
        value: [(pair.left, pair.right) for pair in pairs]
        for value, pairs in one.turns.pairs.items()
    } == {
        "a beside c": [("a", "b"), ("a", "c")],
        "a beside C": [("a", "b"), ("a", "C")],
        "A beside c": [("A", "b"), ("A", "c")],
        "A beside C": [("A", "b"), ("A", "C")],
    }


def test_a_loose_sentence_is_counted_by_opponent() -> None:
    one = claim(left="a", right=["b", "c", "d"], by_opponent=True)
    held = {"a": 0.6, "b": 0.5, "c": 0.5, "d": 0.7}
    told = "12 cells: 8 hold, 4 do not, 0 undecided; 12 must hold; than b, c 8 of 8; than d 0 of 4"
    assert decided(one, lambda cell: held[cell[1]]).tally() == told
    beside_one = claim(left=["a", "d"], right="c", by_opponent=True)
    told = decided(beside_one, lambda cell: held[cell[1]] - 0.2 * (cell[1] == "d")).tally()
    assert told.endswith("; of a 4 of 4; of d 0 of 4")
    alone = claim(left=["a", "b"], value=0.55, by_opponent=True)
    assert decided(alone, lambda cell: held[cell[1]]).tally().endswith("; of a 4 of 4; of b 0 of 4")


def test_two_metrics_go_together_by_the_ranks_of_all_cells_seed_by_seed() -> None:
    """By hand: of three cells in opposite order the ranks correlate by -1, with two exchanged by
    -0.5."""
    assert rank_correlation([1, 2, 30], [9, 8, 7]) == pytest.approx(-1)
    assert rank_correlation([1, 2, 30], [9, 7, 8]) == pytest.approx(-0.5)
    assert math.isnan(rank_correlation([1, 1], [1, 2]))
    one = claim(
        metrics=["utilisation_pct"],
        together="queue_pkts_cov_pct",
        relation="less",
        left=["a", "b", "c"],
        value=-0.5,
        where={"load": "low", "room": "5/15"},
    )
    assert {metric for _, _, metric in one.cells()} == {"utilisation_pct", "queue_pkts_cov_pct"}
    full = {"a": 90.0, "b": 80.0, "c": 70.0}

    def found(swings: dict[str, float]) -> Decision:
        def number(cell: Cell) -> float:
            return (full if cell[2] == "utilisation_pct" else swings)[cell[1]]

        return decided(one, number)  # type: ignore[no-any-return]

    assert found({"a": 10.0, "b": 20.0, "c": 30.0}).verdict == "holds"
    assert found({"a": 30.0, "b": 20.0, "c": 10.0}).verdict == "not found here"
    (check,) = found({"a": 10.0, "b": 20.0, "c": 30.0}).checks
    assert "ranks correlated with ranks of" in check.text()


def test_no_claim_is_on_a_stand_in(toy: Path) -> None:
    for path in (toy / "paper.toml", toy / "a" / "claims.toml", toy / "a" / "published.toml"):
        text = path.read_text().replace('"CoDel"', '"CoDel (stand-in)"')
        path.write_text(text.replace('"codel"', '"codel"\nstand_in = true'))
    said = r"claims.toml: claim toy/a/less: 'CoDel \(stand-in\)' is a stand-in"
    with pytest.raises(InputError, match=said):
        find(["toy/a"])[0].claims()


def test_the_name_of_a_stand_in_says_so_wherever_it_stands(toy: Path) -> None:
    path = toy / "paper.toml"
    path.write_text(path.read_text().replace('"codel"', '"codel"\nstand_in = true'))
    said = r"paper.toml:\d+: algorithms\[0\].name: 'CoDel' .* ends with ' \(stand-in\)'"
    with pytest.raises(InputError, match=said):
        find(["toy/a"])


def test_the_page_and_the_first_screen_of_the_shipped_stand_in_say_so() -> None:
    (name,) = find(["stability/90"])[0].stand_ins
    page = Path("docs/reference/algorithms/an_aqm.md").read_text()
    assert page.partition("# an_aqm\n\n")[2].startswith(f"**{name}:")
    (paper,) = (paper for paper in papers() if paper.name == "stability")
    assert [
        text for text in paper.home.shared["answer"] if "AN-AQM" in text.replace(name, "")
    ] == []


def test_a_claim_that_is_not_found_has_its_cause() -> None:
    entry = {
        "left": "a",
        "right": "b",
        "cause": "set-up not in print",
        "why": "no rate",
    }
    missed = decided(claim(**entry), lambda cell: {"a": 0.5, "b": 0.6}[cell[1]])
    held = decided(claim(**entry), lambda cell: {"a": 0.6, "b": 0.5}[cell[1]])
    assert Judged("sim", missed.claim, missed, ()).cause == ("set-up not in print: no rate")
    assert Judged("sim", held.claim, held, ()).cause == ""
    plain = decided(claim(left="a", right="b"), lambda cell: {"a": 0.5, "b": 0.6}[cell[1]])
    assert Judged("sim", plain.claim, plain, ()).cause == "unexplained"


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"turns": {"axis": "room"}}, "has these two keys"),
        ({"turns": {"algorithm": "c", "values": ["c", "d"]}}, "the claim does not name 'c'"),
        ({"turns": {"axis": "room", "values": ["5/15"]}}, "it needs two values or more"),
        ({"turns": {"axis": "room", "values": ["5/15", "5/16"]}}, "room: no cell has '5/16'. Did"),
        ({"turns": TURNS, "where": {"room": "5/15"}}, "where.room chooses its value already"),
        ({"turns": TURNS, "contradicts": "x"}, "contradicts and turns exclude each other"),
    ],
)
def test_a_word_that_is_none_is_refused_with_its_remedy(entry: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=rf"claim x: .*{re.escape(said)}"):
        claim(left="a", right="b", **entry)


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ("relation", "relaton", ":6: claims[0].relaton: unknown key (its value: 'less'). Did you"),
        ('"less"', '"lees"', ":6: claims[0].relation: 'lees' is not a choice"),
        ("id = ", 'quote = "yes"\nid = ', ":2: claims[0].quote: 'yes' is not true or false"),
        ("id = ", 'cause = "bad luck"\nid = ', ":2: claims[0].cause: 'bad luck' is not a choice"),
        ("id = ", "where = { load = 5 }\nid = ", ":2: claims[0].where.load: 5 is no name"),
        ("metrics = [", "metrics = [5, ", ":5: claims[0].metrics[0]: 5 is not text"),
        ("text = ", "txt = ", ":3: claims[0].txt: unknown key"),
    ],
)
def test_a_claim_of_another_form_is_refused_with_its_line(
    toy: Path, was: str, now: str, said: str
) -> None:
    path = toy / "a" / "claims.toml"
    path.write_text(path.read_text().replace(was, now, 1))
    with pytest.raises(InputError, match=re.escape(f"{path}{said}")):
        find(["toy/a"])[0].claims()
