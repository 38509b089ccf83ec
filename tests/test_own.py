# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Users' own algorithms: a C file runs beside ours, is tried first, and its faults are named."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import sojourn
from sojourn import algorithms
from sojourn.cli import status
from sojourn.cli.options import aqms
from sojourn.cli.own import find
from sojourn.core.algorithm import Library
from sojourn.core.errors import InputError, RunError, StoreError
from sojourn.result.result import Result
from sojourn.runs import processes
from sojourn.user_aqm import compiler, library, trial
from sojourn.user_aqm.library import lay_out

from tests.algorithms import ALGORITHMS as BESIDE
from tests.conftest import SMALL

AQM = Path(__file__).parent.parent / "aqm"
FAULTS = (Path(__file__).parent / "data" / "faults.c").read_text()
# What names each fault: a property, or the loading of the file; and what is said.
FOUND = {
    "MARKS_NOT_ECT": ("marks", r"rule 'mark'.* in enqueue of packet \d+ \(1000 bytes, Not-ECT\)"),
    "DIVIDES_BY_ZERO": ("verdicts", r"division by zero \(faults\.c:\d+\): in enqueue of packet"),
    "LOOPS": ("verdicts", r"an endless loop: in enqueue of packet \d+"),
    "NULL_POINTER": ("verdicts", r"null pointer.*\(faults\.c:\d+\): in enqueue of packet"),
    "BEYOND_ITS_STATE": ("verdicts", r"out of bounds.*\(faults\.c:\d+\): in enqueue of packet"),
    "TICKS_IN_THE_PAST": ("verdicts", r"rule 'tick'.* in tick after packet \d+, at 0\.\d+ s"),
    "VICTIM_OUT_OF_REACH": ("verdicts", r"rule 'victim'.* in enqueue of packet \d+"),
    "KEEPS_A_GLOBAL": ("seeds", r"is there a variable outside st\?: in enqueue of packet"),
    "POINTS_INTO_ITS_STATE": ("copies", r"heap-use-after-free \(faults\.c:\d+\): in tick"),
    "READS_THE_TIME_OF_DAY": ("time", r"2\^32 .* get other verdicts: in enqueue of packet"),
    "STARTS_ANEW_WITH_ROWS": ("again", r"after a change to the values that it has"),
    "IDLES_TICK_BY_TICK": ("work", r"more than 100000 branches in one call: in idle"),
    "WINDS_UP": ("pause", r"it does not come back: delay .* 10 s after a minute's stop"),
    "SHARE_ABOVE_ONE": ("statistics", r"'share' is 4294967296, and a share is at most"),
    "COUNTER_FALLS": ("statistics", r"'count' is 0, and a counter never falls"),
    "BOUND_REFUSED": ("bounds", r"'update': its largest value, 1000000000, is refused"),
    "DEFAULT_OUTSIDE": ("", r"row 'target': has a default outside its own range"),
    "ROWS_OVERLAP": ("", r"row 'update': overlaps another row"),
    "NAME_OF_THE_QUEUE": ("", r"row 'limit': the queue has a row of this name already"),
    "TICK_WITHOUT_IDLE": ("", r"tick and idle come together"),
    "IDLES_ONE_TICK": ("idle", r"over its two parts, leave other states: in idle after packet"),
    "LOOPS_IN_ECHO": ("verdicts", r"an endless loop: in echo after packet \d+"),
    "PROBE_WITHOUT_ECHO": ("verdicts", r"asked for a probe, .* no echo .*: in enqueue of packet"),
    "MARKS_WITHOUT_FLAG": ("verdicts", r"no flag AQM_MARKS: in enqueue of packet"),
    "SIGNALS_WITHOUT_FLAG": ("verdicts", r"no flag AQM_AT_TAIL: in enqueue of packet"),
    "FLAG_UNKNOWN": ("", r"it has a flag that there is not"),
    "DEFAULT_OF_NO_ROW": ("", r"row 'limits': is in its defaults, and is no row of the queue"),
    "DEFAULT_OF_QUEUE_OUTSIDE": ("", r"row 'limit': has a default outside the range"),
    "DEFAULT_TWICE": ("", r"row 'limit': is twice in its defaults"),
    "MARKS_WITHOUT_THE_ROW": ("marks", r"it marked a packet, though the row `ecn` is off"),
    "FORGETS_WHILE_IT_IS_BUSY": (
        "forget",
        r"\d+ signals to packets of 64 bytes at 5 %",
    ),
    "REMEMBERS_A_SLOW_LINK": (
        "dips",
        r"it leaves the link idle: .* to \d+\.\d % while",
    ),
    "KEEPS_ITS_FIRST_ROWS": ("changes", r"10 s after target was at its largest: delay \d+"),
    "TAKES_A_NEW_TIME_FOR_THE_OLD": ("calm", r"signals at 90 % .* after update went from \d+ to"),
}


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(autouse=True)
def in_a_folder(
    own_store: None, shared_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver takes seconds to compile: all tests of this file have one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_cache))
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(SMALL)


def write(name: str, text: str) -> Library:
    Path(name).write_text(text)
    found = algorithms.find(f"./{name}").file
    assert found
    return found


def codel() -> str:
    """CoDel in one file: with the header that it shares with others in it."""
    (source,) = AQM.glob("**/codel.c")
    rows = (AQM / "law/codel_rows.h").read_text()
    rows = rows.replace('"../aqm.h"', '"aqm.h"').replace('"codel.h"', '"law/codel.h"')
    return source.read_text().replace('#include "law/codel_rows.h"', rows)


def fault(number: str) -> str:
    return FAULTS.replace("#define FAULT 0", f"#define FAULT {number}")


def failed(file: Library) -> dict[str, str]:
    return {f.name: f.detail for f in trial.check(file) if f.state == "FAILED"}


# ---- running ----


def test_a_copy_of_one_of_ours_runs_as_ours_does() -> None:
    write("mine.c", codel())
    result = sojourn.run("s.toml", aqms=["./mine.c:target=3ms", "codel:target=3ms"])
    assert [run.labels["aqm"] for run in result] == ["mine:target=3ms", "codel:target=3ms"]
    mine, ours = (run.report["fingerprint"] for run in result)
    assert mine == ours


def test_a_scenario_names_a_file_from_its_own_folder() -> None:
    Path("below").mkdir()
    Path("below/mine.c").write_text(codel())
    Path("below/s.toml").write_text(SMALL.replace('"codel"', '"./mine.c"'))
    (run,) = sojourn.run("below/s.toml")
    assert run.labels["aqm"] == "mine"
    Path("below/s.toml").write_text(
        SMALL.replace('"codel"', '{ algorithm = "mine.c", target = "3 ms" }')
    )
    (other,) = sojourn.run("below/s.toml")
    assert other.report["fingerprint"] != run.report["fingerprint"]


def test_a_file_is_told_from_another_algorithm_of_its_name() -> None:
    Path("below").mkdir()
    for name in ("codel.c", "mine.c", "below/mine.c"):
        write(name, codel())
    names = [str(Path(name).absolute()) for name in ("codel.c", "mine.c", "below/mine.c")]
    shown = algorithms.shown_names([*names, "codel"])
    assert [shown[name] for name in names] == ["./codel.c", "./mine.c", "./below/mine.c"]
    assert algorithms.shown_names(names[1:2])[names[1]] == "mine"


def test_a_run_is_filed_under_the_content_of_the_file_and_its_headers() -> None:
    Path("gain.h").write_text("#define GAIN 1\n")
    text = codel().replace('#include "aqm.h"', '#include "aqm.h"\n#include "gain.h"')
    first = write("mine.c", text)
    keys = {first.digest}
    Path("gain.h").write_text("#define GAIN 2 \n")
    changed = algorithms.find("./mine.c").file
    assert changed
    keys.add(changed.digest)
    keys.add(write("mine.c", text + "\n").digest)
    assert len(keys) == 3
    Path("gain.h").write_text("#define GAIN 1\n")
    assert write("mine.c", text).digest == first.digest
    scenario = sojourn.loads(SMALL.replace('"codel"', f'"{Path("mine.c").absolute()}"'))
    (of_link,) = {link["queue"]["algorithm"] for link in scenario.to_engine()["links"]} - {"fifo"}
    assert of_link == f"mine.c@{first.digest}"


def test_a_file_that_changes_during_a_sweep_keeps_its_version_until_the_end() -> None:
    first = write("mine.c", codel())
    with library.one_version():
        assert library.find("./mine.c") == first
        Path("mine.c").write_text(codel() + "// changed\n")
        assert library.find("./mine.c") == first
    assert library.find("./mine.c").digest != first.digest


def test_a_sweep_looks_a_file_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("mine.c", codel())
    sweep = 'scenario = "s.toml"\naqms = ["./mine.c"]\n[[axes]]\nkey = "dumbbell.rtt"\n'
    Path("sweep.toml").write_text(sweep + 'values = ["20 ms", "30 ms", "40 ms"]\n')
    names = []
    build = library.build

    def counted(file: Path) -> Library:
        names.append(file)
        return build(file)

    monkeypatch.setattr(library, "build", counted)
    assert len(sojourn.sweep("sweep.toml").rows) == 3
    assert names == [tmp_path / "mine.c"]


def test_a_result_repeats_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("mine.c", codel())
    sojourn.run("s.toml", aqms=["./mine.c"], out="out")
    head = json.loads(Path("out/result.json").read_text())
    monkeypatch.chdir("out")
    before = head["runs"][0]["fingerprint"]
    words = head["command"].split()[1:]
    assert any(word.startswith("./own/mine.c@") for word in words)
    assert status([*words, "--out", "again"]) == 0
    assert json.loads(Path("again/result.json").read_text())["runs"][0]["fingerprint"] == before


def test_a_result_keeps_the_file_as_it_was_run(tmp_path: Path) -> None:
    """The file may change before somebody asks what it was."""
    Path("my").mkdir()
    Path("my/wait.h").write_text("#define WAIT 1\n")
    text = '#include "my/wait.h"\n' + codel()
    digest = write("mine.c", text).digest
    sojourn.run("s.toml", aqms=["./mine.c"], out="out")
    write("mine.c", codel())
    kept = tmp_path / "out" / "own" / f"mine.c@{digest}"
    assert (kept / "mine.c").read_text() == text
    assert (kept / "my/wait.h").exists()
    assert not (kept / "aqm.h").exists()
    assert "`own/`" in Path("out/README.md").read_text()
    assert Result.load("out").runs[0].entry.sources[f"mine.c@{digest}"]["mine.c"] == text


def test_a_file_that_changes_under_the_compiler_is_no_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copied = library._copy

    def copy(parts: Sequence[Path], to: Path) -> None:
        parts[0].write_text(codel() + "// changed\n")
        copied(parts, to)

    with monkeypatch.context() as patched:
        patched.setattr(library, "_copy", copy)
        with pytest.raises(InputError, match=r"\./mine\.c: changed while it was compiled"):
            write("mine.c", codel() + "// as it was\n")
    assert "// as it was" in write("mine.c", codel() + "// as it was\n").sources()["mine.c"]


def test_the_command_shows_a_files_rows(capsys: pytest.CaptureFixture[str]) -> None:
    library.write_template(Path("my_aqm.c"))
    assert status(["show", "./my_aqm.c", "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert table["name"] == "my_aqm"
    assert [row["name"] for row in table["parameters"]] == ["target", "range", "update", "most"]


# ---- what cannot be used ----


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("now = codel_tick(c, now);", "now = codel_tick(c, then);", r"mine\.c:\d+:\d+: error"),
        (".abi = AQM_ABI", ".abi = AQM_ABI + 1", r"its abi is \d+; write \.abi = AQM_ABI"),
        ('.name = "codel"', '.name = "other"', r"aqm_codel calls itself 'other'"),
        ("const struct aqm_algo aqm_", "static const struct aqm_algo aqm_", r"is static"),
        ("AQM_ROW(1, AQM_U64", "AQM_ROW(1, AQM_U32", r"member is not as wide as the type"),
        ("s->delay = now", "s->delay = (u64)(0.5 * (double)now)", r"has no floating point"),
        ("= codel_on_empty", "= codel_dried", r"codel_dried is codel_on_empty"),
        ('"law/codel.h"', '"law/even.h"', r"law/even\.h is law/integral\.h"),
        ("s->delay = now", "extern int rand(void);\ns->delay = (u64)rand() + now", "no C library"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_a_reason(old: str, new: str, said: str) -> None:
    assert old in codel()
    with pytest.raises(InputError, match=said):
        write("mine.c", codel().replace(old, new))


def test_a_file_without_an_algorithm_or_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match=r"mine\.c: defines no algorithm; write"):
        write("mine.c", '#include "aqm.h"\n')
    with pytest.raises(InputError, match=r"\./none\.c: there is no such file"):
        algorithms.find("./none.c")


def test_a_library_of_another_interface_is_refused() -> None:
    """A header of the user's own tree decides what its file is compiled with."""
    for source in AQM.glob("**/*.h"):
        place = Path("aqm") / source.relative_to(AQM)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(source.read_text())
    header = Path("aqm/aqm.h")
    text = header.read_text()
    header.write_text(re.sub(r"#define AQM_ABI +\d+", "#define AQM_ABI 999", text))
    with pytest.raises(InputError, match=r"is written for interface 999"):
        write("aqm/mine.c", codel())
    header.write_text(text.replace("struct aqm_pkt {", "struct aqm_pkt {\n\tu64 more;"))
    with pytest.raises(InputError, match=r"another aqm\.h: a struct has another size"):
        write("aqm/mine.c", codel() + "\n")


def test_a_full_disk_is_not_the_fault_of_the_file_that_is_compiled() -> None:
    file = Path("full.c")
    file.write_text(library.template_text("full"))
    words: list[str | Path] = ["-c", *compiler.include_flags(file), file, "-o", "/dev/full"]
    with pytest.raises(StoreError, match=r"^no room to compile .*full\.c: the disk of .* is full"):
        compiler.run(words, file)


def test_a_machine_without_a_compiler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("mine.c").write_text(codel() + "\n\n")
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    compiler.path.cache_clear()
    try:
        with pytest.raises(RunError, match=r"no C compiler is on PATH .*apt install gcc"):
            algorithms.find("./mine.c")
    finally:
        compiler.path.cache_clear()


# ---- what is tried first ----


@pytest.mark.parametrize("number", FOUND)
def test_a_planted_fault_is_found_and_named(number: str) -> None:
    prop, said = FOUND[number]
    try:
        file = write("faults.c", fault(number))
        found = {f.name: f.detail for f in trial._all(file, trial.build(file), (prop,))}
    except InputError as error:
        found = {"": str(error)}
    assert re.search(said, found[prop]), found


@pytest.mark.parametrize(
    ("where", "declared", "used", "named"),
    [
        ("file", "static u64 seen;", "s->delay += ++seen & 1", "seen"),
        ("file", "u32 many[4] = {1, 2, 3, 4};", "s->delay += many[now & 3]++ & 1", "many"),
        ("call", "static u64 inner = 3;", "s->delay += ++inner & 1", "inner"),
        ("file", "__attribute__((weak)) u64 weak;", "s->delay += ++weak & 1", "weak"),
        ("file", "__attribute__((weak)) u64 weak = 3;", "s->delay += ++weak & 1", "weak"),
        ("file", "__attribute__((weak)) const u64 weak = 1;", "s->delay += weak", ""),
        ("file", "static const u32 table[4] = {0, 1, 0, 1};", "s->delay += table[now & 3]", ""),
        ("file", "static const u32 one = 1, *const place = &one;", "s->delay += *place", ""),
    ],
)
def test_a_variable_that_queues_would_share_is_refused_by_its_name_and_a_constant_is_not(
    where: str, declared: str, used: str, named: str
) -> None:
    text = library.template_text("mine")
    head = "static struct aqm_verdict dequeue("
    line = "\ts->delay = aqm_sojourn_ns(now, pkt);\n"
    assert text.count(head) == text.count(line) == 1
    if where == "file":
        text = text.replace(head, f"{declared}\n{head}")
    else:
        used = f"{{ {declared} {used}; }}"
    file = write("mine.c", text.replace(line, f"{line}\t{used};\n"))
    found = {finding.name: finding for finding in trial.check(file)}["globals"]
    if not named:
        assert found.state == "ok"
        return
    assert found.detail.startswith(
        f"{named}: outside the state, and all queues of a kernel would share"
    )
    with pytest.raises(RunError, match=rf"mine\.c is not run.*\n  {named}: outside the state"):
        sojourn.run("s.toml", aqms=["./mine.c"])


def test_a_machine_without_nm_skips_the_search_for_globals(monkeypatch: pytest.MonkeyPatch) -> None:
    file = write("mine.c", library.template_text("mine"))
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert trial._globals(file).state == "skipped"


def test_a_file_that_was_tried_without_nm_is_searched_for_globals_once_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    head = "static struct aqm_verdict dequeue("
    line = "\ts->delay = aqm_sojourn_ns(now, pkt);\n"
    text = library.template_text("mine").replace(head, f"static u64 seen;\n{head}")
    file = write("mine.c", text.replace(line, f"{line}\ts->delay += ++seen & 1;\n"))
    with monkeypatch.context() as without:
        without.setattr(trial, "_nm", lambda: None)
        trial.before_run.__wrapped__(file)
    with pytest.raises(RunError, match="seen: outside the state"):
        trial.before_run.__wrapped__(file)


def test_variables_of_one_name_in_two_calls_are_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    file = write("mine.c", library.template_text("mine"))
    rows = "enqueue.trio|0|b|OBJECT|8||.bss\ndequeue.trio|8|b|OBJECT|8||.bss\n"
    monkeypatch.setattr(
        "subprocess.run", lambda words, **_: subprocess.CompletedProcess(words, 0, rows, "")
    )
    monkeypatch.setattr(compiler, "run", lambda *_: "")
    assert trial._globals(file).detail.startswith("trio: outside the state")


def test_one_fault_that_many_properties_meet_is_told_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("faults.c").write_text(fault("DIVIDES_BY_ZERO"))
    assert status(["check", "./faults.c"]) == 3
    told = capsys.readouterr().out.splitlines()
    assert sum("in enqueue of packet" in line for line in told) == 1
    assert re.fullmatch(r"FAILED too, division by zero \(faults\.c:\d+\): marks, .*fuzz", told[-1])


def test_a_table_without_an_end_is_named() -> None:
    """Of the parameters, and of the statistics: read on and on, and into another table."""
    text = library.template_text("mine")
    for keep in (0, 1):
        before, end, after = text.rpartition("AQM_END,") if keep else text.partition("AQM_END,")
        assert end
        with pytest.raises(InputError, match="AQM_END"):
            write("mine.c", before + after)


def test_every_planted_fault_is_looked_for() -> None:
    names = re.findall(r"^\t([A-Z_]+),$", FAULTS, re.M)
    assert names == ["SOUND", *FOUND]
    assert failed(write("faults.c", FAULTS)) == {}


@pytest.mark.parametrize("name", algorithms.algorithms())
def test_ours_have_every_property(name: str) -> None:
    assert set(found := failed(find(name))) == BESIDE[name].lacks, found


def test_a_slow_algorithm_is_no_endless_loop() -> None:
    """The watch gets a signal for each second of work: it must outlive more than one."""
    arrival = "\ts->came += pkt->len;\n"
    assert arrival in FAULTS
    work = "\tfor (none = 1; none < 12000; none++)\n\t\t;\n"
    program = trial.build(write("slow.c", FAULTS.replace(arrival, arrival + work)))
    done = subprocess.run([program, "verdicts"], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("ok\n", 0)


def test_work_is_skipped_where_a_compiler_counts_no_branches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trial, "_COUNTS", ())
    found = {f.name: f for f in trial.check(write("mine.c", codel() + "\n\n\n"))}
    assert found["work"].state == "skipped"
    assert "this compiler counts no branches" in found["work"].detail


def test_a_fault_is_told_before_anything_runs(capsys: pytest.CaptureFixture[str]) -> None:
    write("faults.c", fault("LOOPS"))
    assert status(["run", "s.toml", "--aqm", "./faults.c", "--aqm", "codel"]) == 3
    said = capsys.readouterr()
    assert "./faults.c is not run" in said.err and not said.out
    assert re.search(r"an endless loop: in enqueue of packet \d+ \(\d+ bytes, ", said.err)


# Random packets come with other limits, so that this shows in the run alone.
LATE = "\tif (view->limit_pkts == 777 && now > NS_PER_S)\n\t\t"


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("for (;;)\n\t\t\ts->delay++;", "no progress for 2 s: an endless loop?"),
        ("{ u64 *volatile none = NULL; *none = 1; }", "SIGSEGV (a NULL pointer?)"),
    ],
)
def test_a_run_that_crashes_or_hangs_ends_with_a_sentence(
    statement: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(processes, "_STUCK_S", 2.0)
    before = "\tnow = codel_tick(c, now);"
    assert before in codel()
    write("late.c", codel().replace(before, f"{LATE}{statement}\n{before}", 1))
    assert status(["run", "s.toml", "--aqm", "./late.c:limit=777", "--aqm", "codel"]) == 3
    assert said in capsys.readouterr().err


def test_a_crash_costs_its_own_run_only(capsys: pytest.CaptureFixture[str]) -> None:
    before = "\tnow = codel_tick(c, now);"
    write("late.c", codel().replace(before, f"{LATE}__builtin_trap();\n{before}", 1))
    words = ["run", "s.toml", "--aqm", "./late.c:limit=777", "--aqm", "./late.c", "--seeds", "3"]
    # One worker, so that each crash is followed by another run.
    assert status([*words, "--workers", "1"]) == 3
    message = capsys.readouterr().err
    assert "3 of 6 runs failed; the other 3 are kept" in message
    assert message.count("limit=777, seed") == message.count("ended by SIGILL") == 3
    assert len(sojourn.run("s.toml", aqms=["./late.c"], seeds=3, workers=1)) == 3


def children(session: int) -> list[int]:
    """Find the processes of a session but its first, and but those that have ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            pid, _, rest = path.read_text().partition(" (")
            state, _, _, its_session = rest.rpartition(") ")[2].split()[:4]
            if int(its_session) == session != int(pid) and state != "Z":
                found.append(int(pid))
    return found


def wait_until(condition: Callable[[], bool], most_s: float) -> None:
    # Naps are counted: on a busy machine a clock may jump over all of them.
    for _ in range(int(most_s / 0.05)):
        if condition():
            return
        time.sleep(0.05)
    assert condition()


@contextmanager
def long_command() -> Iterator[subprocess.Popen[str]]:
    """A command with two processes under way, which would run for minutes."""
    write("mine.c", codel())
    trial.before_run(algorithms.find("./mine.c").file or pytest.fail())
    Path("long.toml").write_text(SMALL.replace('"2 s"', '"60000 s"'))
    words = ["run", "long.toml", "--aqm", "./mine.c", "--seeds", "2", "--workers", "2"]
    with subprocess.Popen(
        [sys.executable, "-m", "sojourn", *words],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as command:
        try:
            wait_until(lambda: len(children(command.pid)) == 2, 60)
            yield command
        finally:
            command.kill()


def test_a_run_whose_process_is_killed_says_so() -> None:
    with long_command() as command:
        time.sleep(2)
        for pid in children(command.pid):
            os.kill(pid, signal.SIGKILL)
        _, message = command.communicate(timeout=30)
    assert command.returncode == 3
    assert "2 of 2 runs failed" in message
    assert message.count("its worker process was killed (out of memory?)") == 2


@pytest.mark.parametrize("runs_s", [0, 2])
def test_processes_end_with_a_command_that_is_killed(runs_s: float) -> None:
    with long_command() as command:
        time.sleep(runs_s)
        command.kill()
        wait_until(lambda: not children(command.pid), 10)


def test_ctrl_c_ends_a_run_that_does_not_come_back() -> None:
    before = "\tnow = codel_tick(c, now);"
    write("late.c", codel().replace(before, f"{LATE}for (;;)\n\t\t\ts->delay++;\n{before}", 1))
    trial.before_run(algorithms.find("./late.c").file or pytest.fail())
    words = [sys.executable, "-m", "sojourn", "run", "s.toml", "--aqm", "./late.c:limit=777"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as command:
        time.sleep(5)
        assert command.poll() is None
        command.send_signal(signal.SIGINT)
        _, said = command.communicate(timeout=20)
    assert command.returncode == 130 and "interrupted: 0 of 1 runs" in said


# ---- beginning ----


def test_new_writes_an_algorithm_that_has_every_property_and_holds_delay_down() -> None:
    assert status(["new", "my_aqm.c"]) == 0
    assert failed(write("my_aqm.c", Path("my_aqm.c").read_text())) == {}
    result = sojourn.run("s.toml", aqms=["./my_aqm.c", "fifo"])
    delays = [run.report["queues"][0]["windows"][0]["queue_delay_ms"]["mean"] for run in result]
    assert delays[0] < delays[1] / 3
    assert all(run.report["queues"][0]["windows"][0]["utilisation_pct"] > 75 for run in result)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("s.toml", "write NAME.c"),
        ("My-aqm.c", "write NAME.c"),
        ("codel.c", "an algorithm of Sojourn's"),
        ("there.c", "nothing was written"),
    ],
)
def test_new_refuses_what_it_cannot_name_or_would_overwrite(name: str, said: str) -> None:
    Path("there.c").write_text("kept")
    with pytest.raises(InputError, match=re.escape(said)):
        library.write_template(Path(name))
    assert Path("there.c").read_text() == "kept" and Path("s.toml").read_text() == SMALL


def test_the_shell_completes_paths_of_files_too() -> None:
    Path("below").mkdir()
    Path("below/mine.c").write_text("")
    assert aqms("./b") == ["./below/"]
    assert aqms("./below/") == ["./below/mine.c"]
    assert "codel" in aqms("co") and aqms("") == list(algorithms.every())


# ---- for a kernel ----


def test_a_file_is_laid_out_for_the_module_with_its_headers_by_its_own_name() -> None:
    Path("gain.h").write_text("#define GAIN 1\n")
    text = codel().replace('#include "aqm.h"', '#include "aqm.h"\n#include "gain.h"')
    mine = write("mine.c", text)
    (folder,) = lay_out([mine])
    laid = {path.name: path.read_text() for path in folder.rglob("*.[ch]")}
    assert laid == {"codel.c": text, "gain.h": "#define GAIN 1\n"}
    with pytest.raises(InputError, match=r"are both 'codel'"):
        lay_out([mine, write("other.c", text)])


@pytest.mark.parametrize("there", [[], ["home.toml"], ["home.toml", "scenario.toml"]])
def test_what_a_new_algorithm_proposes_can_be_run(
    there: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in there:
        Path(name).write_text(SMALL)
    assert status(["new", "my_aqm.c"]) == 0
    proposed = re.findall(r"^  sojourn (.*)$", capsys.readouterr().out, re.MULTILINE)
    assert [words.split()[0] for words in proposed] == ["check", *([] if there else ["new"]), "run"]
    for words in proposed[1:]:
        assert status(words.split()) == 0, words
