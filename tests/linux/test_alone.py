# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What `sojourn linux export` writes: in the kernel's own style, built, and as the core decides."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sojourn.algorithms import algorithms
from sojourn.cli import status
from sojourn.core.errors import InputError
from sojourn.linux.export import LEAST_KERNEL, export
from sojourn.linux.export import rows as of_export
from sojourn.linux.qdiscs import value_text
from sojourn.linux.uml.boot import boot
from sojourn.linux.uml.build import Built

from tests.algorithms import ALGORITHMS
from tests.linux import alone, exported
from tests.linux.debian import HEADERS

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.timeout(600)
PAPERS = ["duk", "lqd", "cfd", "asqm"]
NAMES = [
    pytest.param(name, marks=[] if name in PAPERS else pytest.mark.deep)
    for name in alone.exportable()
]
RECENT = [p for p in HEADERS if tuple(map(int, p.parent.name.split(".")[:2])) >= LEAST_KERNEL]


def test_the_papers_of_the_house_can_be_exported() -> None:
    assert set(PAPERS) <= set(alone.exportable())


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("choke", "the kernel has"),
        ("fifo", "names victims"),
        ("dualpi2", "the kernel has|several queues"),
        ("dukk", "Did you mean"),
        ("./my.c", "is a file; export takes an algorithm of"),
    ],
)
def test_what_no_file_can_hold_is_refused_with_the_reason(name: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        export(name)


def test_files_and_command_say_which_kernel_is_the_least(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert status(["linux", "export", "lqd", "--out", str(tmp_path)]) == 0
    said = capfd.readouterr()
    assert [Path(line).name for line in said.out.splitlines()] == list(export("lqd").files)
    assert said.err == "sojourn: sch_lqd.c needs Linux 6.9 or newer: MODULE_ALIAS_NET_SCH\n"
    for name in ("sch_lqd.c", "Makefile"):
        assert "Linux 6.9 or newer" in (tmp_path / name).read_text(), name


def test_a_file_that_holds_something_else_stays_and_no_other_is_written(tmp_path: Path) -> None:
    words = ["linux", "export", "lqd", "--out", str(tmp_path)]
    other = tmp_path / "Makefile"
    other.write_text("all:\n")
    with pytest.raises(InputError, match=r"Makefile: is there with other content; .* --out$"):
        export("lqd").write(tmp_path)
    assert list(tmp_path.iterdir()) == [other] and other.read_text() == "all:\n"
    other.unlink()
    assert status(words) == status(words) == 0
    (tmp_path / "lqd.json").write_text("[]")
    assert status(words) == 2 and (tmp_path / "lqd.json").read_text() == "[]"
    for make in (Path.mkdir, os.mkfifo, lambda path: path.symlink_to("nowhere")):
        folder = tmp_path / f"{make}"
        folder.mkdir()
        make(folder / "lqd.json")
        assert status([*words[:-1], str(folder)]) == 2
        assert [path.name for path in folder.iterdir()] == ["lqd.json"]


@pytest.mark.parametrize("name", PAPERS)
def test_help_of_an_exported_plugin_names_each_row_with_its_range(
    name: str, tmp_path: Path
) -> None:
    export(name).write(tmp_path)
    program = alone.words(name, tmp_path)
    for words in ("help", "limit 5p help"):
        done = subprocess.run([program, *words.split()], capture_output=True, text=True)
        assert done.returncode == 1 and done.stdout.startswith(f"Usage: ... {name} [ ROW")
        for row in of_export.options(algorithms()[name]):
            least, most = (value_text(row, value) for value in (row.min, row.max))
            if row.unit not in ("ipv4", "count") and row.kind not in ("choice", "bool"):
                assert f"  {row.name} {least} to {most} (default " in done.stdout
            assert re.search(rf"^  {row.name} .*\n      {re.escape(row.help)}", done.stdout, re.M)
            assert not row.fixed or f"{row.help}; cannot be changed later" in done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_a_million_decisions_are_the_cores(name: str, tmp_path: Path) -> None:
    program = alone.twin(name, tmp_path)
    for rows in ({}, *ALGORITHMS[name].signalling):
        status, said = alone.play(program, name, 1_200_000, rows)
        print(f"{name} {rows}: {said}")
        assert status == 0, said
        decisions = sum(int(count) for count in re.findall(r"(?:sent|drops) (\d+)", said))
        assert decisions + int(re.findall(r"sent (\d+)", said)[0]) > 900_000, said
        assert int(re.findall(r"ce (\d+)", said)[0]) > 0, said
        probes = map(int, re.findall(r"(?:joined|refused|freed|answered) (\d+)", said))
        assert all(probes) or not algorithms()[name].probes, said


@pytest.mark.parametrize(
    ("name", "right", "wrong", "told"),
    [
        # A threshold of the law is one unit away.
        ("lqd", "p_q32 == U32_MAX", "p_q32 >= U32_MAX - (1u << 31)", ""),
        # A parent counts one packet where two have joined.
        ("asqm", "qdisc_tree_reduce_backlog(sch, -1, -bytes);", ";", "that a parent counts"),
        # A parent that peeks, or gets nothing, is told of losses in its own call.
        ("asqm", ".peek = asqm_sch_peek_next", ".peek = qdisc_peek_dequeued", "told empty|looks"),
        ("asqm", "if (sch->q.qlen > q->lost_pkts)", "if (q->lost_pkts)", "told empty|nothing"),
        # Nobody reports the losses of a call that gives nothing.
        ("asqm", "else if (q->lost_pkts)", "else if (!q->lost_pkts)", "a report to come"),
        # An answer is one that came now.
        ("asqm", "clamp(answer.at_ns, q->last_ns, now)", "now", "statistic|DS field|freed|left"),
        ("asqm", "v.probe || q->is_due", "v.probe", "a probe not asked for"),
    ],
)
def test_another_decision_is_found(
    name: str, right: str, wrong: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above can fail."""
    files = dict(export(name).files)
    spoilt = files[f"sch_{name}.c"].replace(right, wrong)
    assert spoilt != files[f"sch_{name}.c"]
    made = type(export(name))({**files, f"sch_{name}.c": spoilt})
    monkeypatch.setattr(alone, "export", lambda name: made)
    status, said = alone.play(alone.twin(name, tmp_path), name, 1_000_000, {})
    assert status == 1
    assert "in the qdisc" in said and re.search(told, said), said


def test_an_exported_qdisc_probes_by_echo_alone() -> None:
    text = export("asqm").files["sch_asqm.c"]
    assert "ICMP_ECHO" in text and "ICMPV6_ECHO_REQUEST" in text
    assert not re.search(r"xperimental|PROBE_PROTOCOL|probe_place|respond\b|EXPORT", text)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_has_the_kernels_own_style(name: str, kernel: Built, tmp_path: Path) -> None:
    checkpatch = kernel.source / "scripts/checkpatch.pl"
    path = next(path for path in export(name).write(tmp_path) if path.name == f"sch_{name}.c")
    words: list[str | Path] = ["perl", checkpatch, "--no-tree", "--terse", "-f", path]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)
    # A clean file has no line.
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_builds_it_without_a_word(name: str, kernel: Built, tmp_path: Path) -> None:
    sparse = ["C=2"] if shutil.which("sparse") else []
    headers, arch = (RECENT[-1], []) if RECENT else (kernel.objects, ["ARCH=um"])
    said = alone.module(name, headers, tmp_path, *arch, *sparse)
    assert not re.search(rf"sch_{name}\.c", said), said


@pytest.mark.parametrize("name", NAMES)
def test_its_cases_have_the_words_that_its_plugin_reads_and_prints(
    name: str, tmp_path: Path
) -> None:
    export(name).write(tmp_path)
    alone.plugin(name, tmp_path)
    program = alone.words(name, tmp_path)

    def printed(words: str) -> str:
        done = subprocess.run([program, *words.split()], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    cases = json.loads((tmp_path / f"{name}.json").read_text())
    assert len({case["id"] for case in cases}) == len(cases) > 8
    for case in cases:
        head, _, pattern = case["matchPattern"].partition(" refcnt [0-9]+ ")
        shown = re.sub(r"\\(.)", r"\1", pattern)
        assert head == f"qdisc {name} 1: root"
        assert re.fullmatch(pattern, shown) and printed(shown) == shown, case["name"]
        for command in (*case["setup"], case["cmdUnderTest"]):
            typed = printed(command.partition(f" root {name} ")[2]).split()
        in_order = iter(shown.split())
        assert all(word in in_order for word in typed), case["name"]


def test_a_word_that_an_exported_plugin_lacks_is_refused(tmp_path: Path) -> None:
    export("lqd").write(tmp_path)
    program = alone.words("lqd", tmp_path)
    for words, told in (
        ("limt 5", 'lqd: what is "limt"? Try "lqd help"'),
        ("limit x", "lqd: limit: a number of"),
        # The kernel would read the lowest 32 bits.
        ("limit 4294967297p", "lqd: limit: at most 16777216p is wanted, not 4294967297p"),
    ):
        done = subprocess.run([program, *words.split()], capture_output=True, text=True)
        assert done.returncode == 1 and told in done.stdout


@pytest.fixture(scope="module")
def beside_the_module(
    kernel: Built, sojourn_ko: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The exported `asqm` and the module, each with its plugin of tc."""
    folder = tmp_path_factory.mktemp("asqm")
    alone.module("asqm", kernel.objects, folder, "ARCH=um")
    alone.plugin("asqm", folder)
    for name in ("sch_sojourn.ko", "q_sojourn.so"):
        shutil.copy(sojourn_ko.parent / name, folder)
    return folder


@pytest.mark.parametrize("case", exported.CASES)
def test_an_exported_asqm_probes_as_the_module_does(
    case: str, kernel: Built, beside_the_module: Path, tmp_path: Path
) -> None:
    setting = f"PYTHONPATH={ROOT}:{ROOT / 'python'} TC_LIB_DIR={beside_the_module}"
    modules = " ".join(f"{beside_the_module}/sch_{name}.ko" for name in ("sojourn", "asqm"))
    job = tmp_path / "job"
    python = f"{setting} exec {sys.executable} -S -B -m tests.linux.exported"
    job.write_text(f"#!/bin/sh\n{python} {case} {modules}\n")
    job.chmod(0o755)
    boot(kernel, tmp_path, limit_s=300)
