# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""alone.py: builds what `sojourn linux export` writes: a kernel's module, and a twin in user space
that gives the same events to the exported qdisc and to the core."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from sojourn.algorithms import algorithms
from sojourn.core.errors import InputError
from sojourn.linux.export import c, export
from sojourn.linux.uml.module import CORE, core_sources

HERE = Path(__file__).parent / "export"
# The functions between the qdisc and the wire of its probes.
WIRE = re.compile(
    r"\w+?_(probes_(new|free|drop_route|hear|forget|counts)|check_responders|is_probe"
    r"|probe_(may_ask|ask|prime|comes|leaves)|hear_echo(_no_more)?"
    r"|(probe_senders|hear|keep)_(start|stop))"
)
KERNEL_WORDS = re.compile(r"^#include <[^>]+>\n", re.M)


def exportable() -> list[str]:
    """All that the command does not refuse."""
    return [name for name in algorithms() if not refusal(name)]


def refusal(name: str) -> str:
    try:
        export(name)
    except InputError as error:
        return str(error)
    return ""


def twin(name: str, folder: Path) -> Path:
    """The exported file without the kernel's headers, in the place of which kernel.h stands."""
    text = export(name).files[f"sch_{name}.c"]
    probes = algorithms()[name].probes
    if probes:
        text = without_wire(name, text)
    (folder / "exported.c").write_text(KERNEL_WORDS.sub("", text))
    head = f"TCA_{name.upper()}_"
    rate = f"{head}BANDWIDTH" if algorithms()[name].needs_rate else "0"
    names = {"LIMIT": f"{head}LIMIT", "ECN": f"{head}ECN", "RATE": rate}
    words = [f"-DTCA_{word}={value}" for word, value in names.items()]
    words += ["-DPROBES"] * probes
    first = 3 + (rate != "0") + 2 * probes
    words += [f"-DTCA_FIRST={first}", f"-I{folder}", f"-I{HERE}", f"-I{CORE}"]
    sources = [HERE / "twin.c", HERE / "core.c", *core_sources(CORE)]
    files = [path for path in sources if path.suffix == ".c"]
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wno-unused", "-Werror"]
    program = folder / "twin"
    subprocess.run(["gcc", *flags, *words, *files, "-o", program], check=True)
    return program


def without_wire(name: str, text: str) -> str:
    """Declare alone what the qdisc calls of its senders and hearers of probes; wire.h has them."""
    pieces = [_declared(piece) for piece in c.source_of(text).pieces]
    pieces = [p for p in pieces if not p.text.startswith(f"struct {name}_probes {{")]
    roots = {word for piece in pieces if not piece.defines for word in piece.uses}
    kept = c.needed([c.Source("", tuple(pieces))], roots)[0].pieces
    pieces = [piece for piece in pieces if piece in kept or not piece.defines]
    return "\n\n".join([f"struct {name}_probes;", *(piece.text for piece in pieces)]) + "\n"


def _declared(piece: c.Piece) -> c.Piece:
    if "\n{" not in piece.text or not any(map(WIRE.fullmatch, piece.defines)):
        return piece
    head = re.sub(r"/\*.*?\*/\n", "", piece.text, flags=re.S).partition("\n{")[0]
    return c.Piece(f"{head};", piece.defines)


def play(program: Path, name: str, calls: int, rows: Mapping[str, int]) -> tuple[int, str]:
    said = [f"{row}={value}" for row, value in rows.items()]
    words: list[str | Path] = [program, name, str(calls), *said]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.strip()


def plugin(name: str, folder: Path) -> Path:
    """The exported plugin of tc, where `write` has put its C."""
    path = folder / f"q_{name}.so"
    words = ["gcc", "-O2", "-Wall", "-Werror", "-fPIC", "-shared", "-fvisibility=hidden"]
    subprocess.run([*words, folder / f"q_{name}.c", "-o", path, "-lm"], check=True)
    return path


def words(name: str, folder: Path) -> Path:
    """A program that reads words as the exported plugin does, and prints them again."""
    program = folder / "words"
    given = [f'-DPLUGIN="{folder}/q_{name}.c"', f"-DUTIL={name}_qdisc_util", f"-I{HERE.parent}"]
    flags = ["-std=gnu11", "-Wall", "-Wno-unused", "-Werror"]
    subprocess.run(["gcc", *flags, *given, HERE / "words.c", "-o", program, "-lm"], check=True)
    return program


def module(name: str, headers: Path, folder: Path, *more: str) -> str:
    """Build it for this kernel; what the compiler, and sparse, said."""
    export(name).write(folder)
    words: list[str | Path] = ["make", "-C", headers, f"M={folder}", "W=1", *more, "modules"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (folder / f"sch_{name}.ko").is_file(), done.stderr
    return str(done.stderr)
