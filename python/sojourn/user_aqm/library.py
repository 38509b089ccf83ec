# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A user's file: new from a template, as a library that the core loads, and in a kernel's module.

A library is in the user's cache, in a folder whose name is a digest of all its parts: the file, the
headers that it includes, the compiler and its flags. A copy of the file and of its own headers lies
beside it. The engine's scenarios and the keys of finished runs name the algorithm by that digest
too.

`lay_out` makes folders that the build of the module copies over `aqm/`. An algorithm becomes NAME.c
under any name of its file. A changed copy of one of ours therefore replaces ours, in a module of
its own. Headers keep their places relative to the file or its tree.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from sojourn import _native
from sojourn.core.algorithm import SOURCE, Library
from sojourn.core.errors import InputError
from sojourn.store.store import default_root, write_errors, write_whole
from sojourn.user_aqm import compiler
from sojourn.user_aqm.compiler import shown

_LIBRARY = "library.so"
# `aqm/all.sh` lists the algorithms of its folder in the same way.
_DEFINED = re.compile(r"(static )?(?:const )?struct aqm_algo aqm_(\w+) ?(?:\[|=|__attribute__)")


__all__ = ["absolute", "adopt", "find", "is_file", "one_version", "shown"]


def is_file(name: str) -> bool:
    """Tell whether a name is that of a file rather than of an algorithm."""
    return name.endswith(".c") or "/" in name


def absolute(name: str | Path, folder: Path | None = None) -> Path:
    """Make the path absolute, from `folder` or else from the current one."""
    # Not resolved: results show the name of a symbolic link.
    return Path(os.path.abspath((folder or Path()) / Path(name).expanduser()))  # noqa: PTH100


_States = tuple[tuple[str, int, int], ...]
_built: dict[Path, tuple[_States, Library]] = {}
# The libraries of the block around this code, by the names of their files.
_in_block: ContextVar[dict[str, Library] | None] = ContextVar("libraries", default=None)


@contextmanager
def one_version() -> Iterator[None]:
    """Look each file up once in this block: all runs have the same version of it."""
    token = _in_block.set({})
    try:
        yield
    finally:
        _in_block.reset(token)


def find(name: str) -> Library:
    """Find the library of a file, built from its present version. Raise InputError if the file is
    missing or does not define one algorithm."""
    libraries = _in_block.get()
    if libraries is None:
        return build(absolute(name))
    if name not in libraries:
        libraries[name] = build(absolute(name))
    return libraries[name]


def build(file: Path) -> Library:
    """Build the library of a file; compile it if the file or one of its headers is new. Raise
    InputError if the file is missing or does not define one algorithm."""
    known = _built.get(file)
    if known and known[0] == _states(part for part, _, _ in known[0]):
        return known[1]
    if not file.is_file():
        name = shown(file)
        if file.exists() or file.suffix != ".c":
            there = "is no C file" if file.exists() else "there is no such file"
            raise InputError(f"{name}: {there}; an algorithm is a file NAME.c")
        raise InputError(
            f"{name}: there is no such file; 'sojourn new {name}' writes one to begin with"
        )
    name, parts = _read(file)
    states = _states(map(str, _own(parts)))
    digest = _digest(name, parts)
    folder = cache_folder(digest)
    if not (folder / _LIBRARY).exists():
        _compile(file, name, parts, folder)
    library = Library(file, name, digest, folder, parts, _load(file, name, digest, folder))
    _built[file] = states, library
    return library


def _states(parts: Iterable[str]) -> _States:
    """Read times and sizes, which show when a file changes."""
    return tuple((part, *_state(part)) for part in parts)


def _state(part: str) -> tuple[int, int]:
    try:
        stat = os.stat(part)  # noqa: PTH116
    except OSError:
        return 0, 0
    return stat.st_mtime_ns, stat.st_size


def _own(parts: Sequence[Path]) -> list[Path]:
    """List the parts that are not Sojourn's: these may change while a command runs."""
    ours = compiler.sources()
    return [part for part in parts if not part.is_relative_to(ours)] or [parts[0]]


def _read(file: Path) -> tuple[str, tuple[Path, ...]]:
    """Find the name of the algorithm, and the files that the compiler reads for it. Raise
    InputError unless the file defines exactly one algorithm."""
    with tempfile.NamedTemporaryFile("r", suffix=".d") as rule:
        flags = ["-E", "-P", "-MMD", "-MF", rule.name, "-MT", "x"]
        text = compiler.run(
            [*compiler.FREESTANDING, *flags, *compiler.include_flags(file), shown(file)],
            file,
        )
        words = re.findall(r"(?:\\[ #:]|[^\s\\])+", rule.read().partition(":")[2])
    parts = dict.fromkeys(absolute(re.sub(r"\\(.)", r"\1", word)) for word in words)
    definitions = _DEFINED.findall(" ".join(text.split()))
    where = shown(file)
    if any(static for static, _ in definitions):
        raise InputError(f"{where}: its algorithm is static, and nobody else can see it")
    names = list(dict.fromkeys(name for _, name in definitions))
    if not names and file.suffix != ".c":
        raise InputError(f"{where}: is no C file; an algorithm is a file NAME.c")
    if not names:
        raise InputError(
            f"{where}: defines no algorithm; write 'const struct aqm_algo aqm_NAME = {{ ... }};'"
        )
    if len(names) > 1:
        raise InputError(f"{where}: defines several algorithms, {', '.join(names)}; one is wanted")
    return names[0], tuple(parts)


def hash_of(parts: Iterable[Path], *words: str) -> str:
    """Hash contents and names of files, not folders. The hash is short enough for a folder's
    name."""
    total = hashlib.sha256("\0".join(words).encode())
    for part in parts:
        total.update(hashlib.sha256(part.name.encode() + b"\0" + part.read_bytes()).digest())
    return total.hexdigest()[:16]


@functools.cache
def _frame() -> str:
    """Hash the parts that every library has."""
    parts = sorted((compiler.sources() / "check").glob("*.[ch]"))
    return hash_of(parts, compiler.version(), *compiler.FREESTANDING, SOURCE)


def _digest(name: str, parts: Iterable[Path]) -> str:
    return hash_of(parts, _frame(), name)


def cache_folder(digest: str) -> Path:
    """Return the folder for the library of this digest."""
    return default_root().parent / f"own-{digest}"


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a folder to fill, which is then renamed: a folder of this name is complete.

    Where another process is first, its folder stays.
    """
    with write_errors(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
        try:
            yield beside
            beside.chmod(0o755)
            if not folder.exists():
                beside.rename(folder)
        except OSError:
            if not folder.exists():
                raise
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def _compile(file: Path, name: str, parts: Sequence[Path], folder: Path) -> None:
    with new_folder(folder) as beside:
        frame = compiler.sources() / "check" / "library.c"
        words = [*compiler.FREESTANDING, "-shared", "-nostdlib", "-Wl,-z,defs"]
        words += [*compiler.include_flags(file), f"-DAQM_OWN=aqm_{name}"]
        compiler.run([*words, shown(file), str(frame), "-o", str(beside / _LIBRARY)], file)
        _copy(parts, beside / SOURCE)
        if cache_folder(_digest(name, parts)) != folder:
            raise InputError(f"{shown(file)}: changed while it was compiled; run this again")
        _try_tables(file, beside / _LIBRARY)


def _places(parts: Sequence[Path]) -> dict[Path, Path]:
    """Return the places of the parts that are not Sojourn's, relative to each other."""
    own = _own(parts)
    common = os.path.commonpath([part.parent for part in own])
    return {part: part.relative_to(common) for part in own}


def kept_name(library: Library) -> str:
    """Return the path of its file in a folder that keeps its sources: 'mine.c@DIGEST/mine.c'."""
    return f"{library.engine}/{_places(library.parts)[library.parts[0]]}"


def _copy(parts: Sequence[Path], to: Path) -> None:
    """Copy the parts that are not Sojourn's, and keep their places relative to each other."""
    for part, name in _places(parts).items():
        place = to / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(part, place)


def _try_tables(file: Path, library: Path) -> None:
    """Read its tables first in a process of its own, because a table without an end crashes it.
    Raise InputError if that process crashes."""
    read = "import sys; from sojourn import _native; _native.load(sys.argv[1], 'x')"
    words = [sys.executable, "-c", read, str(library)]
    done = subprocess.run(words, capture_output=True, check=False)
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        raise InputError(
            f"{shown(file)}: reading its tables ends with {name}; does AQM_END end each table of "
            "rows, and {NULL, 0} the defaults?"
        )


def _load(file: Path, name: str, digest: str, folder: Path) -> _native.Algorithm:
    try:
        raw = _native.load(str(folder / _LIBRARY), f"{file.stem}.c@{digest}")
    except ValueError as error:
        raise InputError(f"{shown(file)}: {error}") from error
    if raw["name"] != name:
        raise InputError(
            f"{shown(file)}: aqm_{name} calls itself '{raw['name']}'; write .name = \"{name}\""
        )
    return raw


def files_of(folder: Path) -> list[Path]:
    """List the files of a library's folder that another machine needs."""
    return [folder / _LIBRARY, *sorted((folder / SOURCE).rglob("*"))]


def unpacked(digest: str, files: Mapping[str, bytes | Path]) -> Path:
    """Return the folder of a library that another machine has compiled; write it if it is not
    here."""
    folder = cache_folder(digest)
    if not (folder / _LIBRARY).exists():
        with new_folder(folder) as beside:
            for name, content in files.items():
                place = beside / name
                place.parent.mkdir(parents=True, exist_ok=True)
                if isinstance(content, bytes):
                    place.write_bytes(content)
    return folder


def adopt(library: Library) -> None:
    """Load, in a worker, a library that another process has compiled."""
    _native.load(str(library.folder / _LIBRARY), library.engine)


def lay_out(files: Sequence[Library]) -> list[Path]:
    """Make a folder for each file. Raise InputError if two algorithms have the same name."""
    names = Counter(file.name for file in files)
    for file in files:
        if names[file.name] > 1:
            same = " and ".join(shown(f.file) for f in files if f.name == file.name)
            raise InputError(f"{same} are both '{file.name}', which a kernel cannot tell apart")
    folders = [file.folder / "linux" for file in files]
    for file, folder in zip(files, folders, strict=True):
        if not folder.exists():
            with new_folder(folder) as beside:
                _copy_parts(file, beside)
    return folders


def _copy_parts(file: Library, folder: Path) -> None:
    roots = [Path(flag[2:]).resolve() for flag in compiler.include_flags(file.file)]
    home = folder / "algorithms" if (roots[-1] / "algorithms").is_dir() else folder
    home.mkdir(exist_ok=True)
    shutil.copy2(file.parts[0], home / f"{file.name}.c")
    for part in file.parts[1:]:
        place = part.resolve()
        if place.is_relative_to(roots[-1]):
            continue  # ours, which the module has
        for root in (*roots, file.file.parent.resolve()):
            if place.is_relative_to(root):
                target = (folder if root in roots else home) / place.relative_to(root)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(place, target)
                break
        else:
            raise InputError(
                f"{shown(file.file)} includes {shown(part)}; a kernel's build takes headers from "
                "the folder of the file, or from below it"
            )


_TEMPLATE = Path(__file__).with_name("template.c")


def template_text(name: str) -> str:
    """Fill in the template for an algorithm of this name. It has no licence: its author chooses
    one."""
    lines = _TEMPLATE.read_text(encoding="utf-8").splitlines(keepends=True)
    body = "".join(line for line in lines if "SPDX-" not in line)
    return body.replace("NAME", name)


def write_template(path: Path) -> Path:
    """Write the template to a new file. Raise InputError if there is such a file or algorithm, or
    if C has no such name."""
    file = absolute(path)
    name = file.stem
    if file.suffix != ".c" or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise InputError(
            f"{path}: an algorithm is named by its file: write NAME.c, NAME of a-z, 0-9 and _, "
            "beginning with a letter"
        )
    if name in (raw["name"] for raw in _native.algorithms()):
        raise InputError(f"{path}: '{name}' is an algorithm of Sojourn's; choose another name")
    if file.exists():
        raise InputError(
            f"{shown(file)}: there is such a file; nothing was written; give another name"
        )
    write_whole(file, template_text(name).encode())
    return file
