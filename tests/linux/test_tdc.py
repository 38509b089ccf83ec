# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""tdc.py, as the kernel's tree has it, on the qdisc: our cases, and the kernel's own."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from sojourn.algorithms import algorithms
from sojourn.linux.uml.build import Built, run

from tests.linux import alone
from tests.linux.tdc import differences, page, sentences
from tests.linux.tdc.groups import (
    COMMON,
    REWRITTEN,
    THEIRS,
    Outcome,
    covering,
    our_module,
    run_all,
    run_ours,
)
from tests.linux.tdc.run import Result, lay_out
from tests.linux.tdc.run import run as run_cases
from tests.linux.tdc.upstream import FOLDER

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.timeout(1800)


@pytest.fixture(scope="module")
def found(kernel: Built) -> Outcome:
    return run_all(kernel, names=covering())


def failures(results: list[Result]) -> list[Result]:
    return [result for result in results if result.status != "ok"]


@pytest.fixture(scope="module")
def others(kernel: Built) -> dict[str, list[Result]]:
    return run_ours(kernel, [name for name in algorithms() if name not in covering()])


@pytest.mark.parametrize("group", [*covering(), COMMON])
def test_rows_refusals_and_counts_are_as_the_tables_say(found: Outcome, group: str) -> None:
    assert not failures(found.results[group])


@pytest.mark.deep
@pytest.mark.parametrize("group", sorted(set(algorithms()) - set(covering())))
def test_rows_of_the_other_algorithms_are_too(others: dict[str, list[Result]], group: str) -> None:
    assert others[group]
    assert not failures(others[group])


def test_every_sentence_of_a_refusal_is_met(found: Outcome) -> None:
    told = {case.sentence for cases in found.ours.values() for case in cases}
    assert sentences.NO_IPV6 in sentences.formats()
    for text in set(sentences.formats()) - {sentences.NO_IPV6}:
        assert any(sentences.is_one_of(text, sentence) for sentence in told), text


# ---- the kernel's own cases ----


def test_the_driver_is_the_trees_own(kernel: Built, tmp_path: Path) -> None:
    lay_out(tmp_path, kernel.source, our_module(kernel), [])
    theirs, ours = kernel.source / FOLDER, tmp_path / "tdc"
    own = {"tdc_config_local.py", "pyroute2.py"}
    programs = {str(path.relative_to(ours)) for path in ours.rglob("*.py")} - own
    assert {"tdc.py", "TdcPlugin.py", "plugin-lib/nsPlugin.py"} <= programs
    for name in programs:
        assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name


def test_the_kernels_own_queues_pass_their_own_cases(found: Outcome) -> None:
    """A failure here is the harness's, or that of this system's tc."""
    assert not failures(found.results[THEIRS])


def test_a_rewritten_case_fails_by_a_known_difference_only(found: Outcome) -> None:
    failed = {result.name for result in failures(found.results[REWRITTEN])}
    touched = [case for case in found.rewritten if differences.touched(case, found.lines)]
    assert failed == {case.entry["name"] for case in touched}


def test_the_page_tells_each_difference(kernel: Built, found: Outcome) -> None:
    written = page.block(page.DIFFERENCES)
    if page.versions(kernel) not in written:
        pytest.skip(f"the page is of another kernel or tc than {page.versions(kernel)}")
    assert written == page.differing(kernel, found), "run `python -m tests.linux.tdc --renew`"


# ---- qdiscs of one algorithm, with the cases that are exported with them ----


@pytest.mark.parametrize("name", ["duk", "lqd", "cfd", "asqm"])
def test_an_exported_qdisc_passes_its_own_cases(name: str, kernel: Built, tmp_path: Path) -> None:
    alone.module(name, kernel.objects, tmp_path, "ARCH=um")
    alone.plugin(name, tmp_path)
    cases = json.loads((tmp_path / f"{name}.json").read_text())
    assert not failures(run_cases(kernel, tmp_path / f"sch_{name}.ko", cases))


# ---- that it can fail ----


def spoiled(case: dict[str, Any], which: int) -> dict[str, Any]:
    """One number of the pattern is one higher; of each second case it is the status."""
    pattern, wrong = case["matchPattern"], dict(case)
    numbers = [m for m in re.finditer(r"\[[^\]]*\]|\d+", pattern) if m[0].isdigit()]
    if which % 2 or not numbers:
        wrong["expExitCode"] = str(int(case["expExitCode"]) + 1)
        return wrong
    number = numbers[which // 2 % len(numbers)]
    higher = str(int(number[0]) + 1)
    wrong["matchPattern"] = pattern[: number.start()] + higher + pattern[number.end() :]
    return wrong


def test_a_wrong_expectation_fails(kernel: Built, found: Outcome) -> None:
    cases = [case.entry() for case in found.ours["codel"]]
    wrong = [spoiled(case, which) for which, case in enumerate(cases)]
    results = run_cases(kernel, our_module(kernel), wrong)
    assert {result.status for result in results} == {"not ok"}, results


# A mistake in the module's sources; a case of CoDel that meets it, and one that does not.
MISTAKES = {
    "another default": (
        "aqm/law/codel_rows.h",
        ("interval, AQM_NS, 100 * ", "interval, AQM_NS, 101 * "),
        ("codel: all rows at their default", "codel: interval at its lower bound"),
    ),
    "a bound too high by one": (
        "aqm/field.c",
        ("value > row->max)", "value > row->max + 1)"),
        (
            "codel: interval beyond its upper bound, sent without tc",
            "codel: interval beyond its lower bound, sent without tc",
        ),
    ),
    "a change that forgets": (
        "linux/qdisc/netlink.c",
        ("choice->setup = old->setup;", "choice->setup = (struct aqm_setup){.limit = 7};"),
        ("codel: interval changed under way", "codel: interval at its upper bound"),
    ),
}


def spoiled_module(built: Built, work: Path, place: str, right: str, wrong: str) -> Path:
    """Made from a copy of its sources; the plugin beside it is the right one."""
    for folder in ("aqm", "linux/qdisc"):
        shutil.copytree(ROOT / folder, work / folder)
    source = work / place
    assert source.read_text().count(right) == 1, right
    source.write_text(source.read_text().replace(right, wrong))
    made = work / "build"
    make: list[str | Path] = ["make", "-C", work / "linux/qdisc", "ARCH=um"]
    run([*make, f"KERNEL={built.objects}", f"BUILD={made}"], work / "build.log")
    shutil.copy(our_module(built).parent / "q_sojourn.so", made)
    return made / "sch_sojourn.ko"


@pytest.mark.deep
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_module_fails(mistake: str, kernel: Built, found: Outcome, tmp_path: Path) -> None:
    place, (right, wrong), meeting = MISTAKES[mistake]
    kernel_module = spoiled_module(kernel, tmp_path, place, right, wrong)
    cases = [case.entry() for case in found.ours["codel"] if case.name in meeting]
    results = run_cases(kernel, kernel_module, cases)
    status = {result.name: result.status for result in results}
    assert [status[name] for name in meeting] == ["not ok", "ok"], results
