# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""build.py: make the virtual-time kernel and the guest's programs, once per content.

    python -m sojourn.linux.uml.build
    python -m sojourn.linux.uml.build --devices
    python -m sojourn.linux.uml.build --sanitizers
    python -m sojourn.linux.uml.build --hz 250

The kernel is User-Mode Linux with time travel: an ordinary unprivileged process in
which computing takes no time and idle time is skipped. Its source is Debian's source
package, either installed or fetched with apt-get (no root). --source names another tree
or archive. The build writes nothing into the checkout: all results go to the cache, each
in a folder named by a hash of all its inputs.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, STDOUT

from sojourn.core.hosts import HZ
from sojourn.core.messages import tell

# Sources of the guest's programs, and the kernel's configuration.
HERE = (Path(__file__).parents[2] / "sources/linux/uml").resolve()
# Applications, which one of the programs asks.
TRAFFIC = (Path(__file__).parents[2] / "sources/traffic").resolve()
PACKAGE = "linux-source-6.12"
INSTALLED = Path("/usr/src") / f"{PACKAGE}.tar.xz"
CONFIG = HERE / "kernel.config"
DEVICES = HERE / "devices.config"
SANITIZERS = HERE / "sanitizers.config"
ELSEWHERE = f"apt install {PACKAGE}, or name a kernel's tree or archive: SOJOURN_KERNEL_SOURCE="
GUEST_PROGRAMS = ("init", "tap", "play", "clock", "settings", "statistics", "classes")
# It runs before the guest has the host's libraries.
STATIC = "init"
# Each program is the file of its name, all files in the folder of its name, and these.
_PARTS = {
    "play": ("sockets.c", "transit.c", "samples.c", "dump.c"),
    "statistics": ("place.c",),
    "classes": ("place.c",),
}
# Preloaded into the kernel process, as one library.
SHIMS = ("seed", "registers", "counter", "host")
NEEDED = {
    "gcc": "gcc",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "tar": "tar",
    "xz": "xz-utils",
}
# An allnoconfig kernel for um compiles none of these; Kconfig and Makefiles must stay.
UNUSED = ["*/arch/[!ux]*/*.[chS]", "*/arch/*.dts*", "*/sound/*.[ch]", "*/drivers/gpu/*.[ch]"]
UNUSED += [f"*/drivers/{tree}/*.[ch]" for tree in ("media", "net/ethernet", "net/wireless", "scsi")]


# The kernel's name for itself is mixed into its random pool. By default it holds the time of the
# build: one seed would give other numbers in each build.
NAMED = ["KBUILD_BUILD_TIMESTAMP=2026-01-01", "KBUILD_BUILD_VERSION=1"]
NAMED += ["KBUILD_BUILD_USER=sojourn", "KBUILD_BUILD_HOST=sojourn"]

# A function that takes the number of lines that the compilation has written so far.
Note = Callable[[int], None]
# About the number of lines of a compilation: 1261 in 6.1, 1345 in 6.12, 1428 in 7.2.
LINES = 1345


def ignore(lines: int) -> None:
    """Ignore the number of lines."""


class BuildError(Exception):
    """The kernel could not be made; the message says what to do."""


@dataclass(frozen=True)
class Built:
    """A finished build: where the kernel, its tree for modules and the programs are."""

    kernel: Path
    objects: Path
    source: Path
    programs: Path
    release: str


def cache_root() -> Path:
    """Return the folder that holds everything built, outside any checkout."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "sojourn"


def digest(paths: Iterable[Path], words: Sequence[str] = ()) -> str:
    """Hash the files' contents and some words; the text is short enough for a folder name."""
    total = hashlib.sha256("\0".join(words).encode())
    for path in paths:
        with path.open("rb") as stream:
            total.update(hashlib.file_digest(stream, "sha256").digest())
    return total.hexdigest()[:16]


def below(folder: Path, pattern: str = "*", but: Collection[str] = ()) -> list[Path]:
    """List the files below a folder whose names match, in order, but not those in folders `but`.

    Raise BuildError where there is none: a key would then cover less than its author believes.
    """
    found = sorted(
        path
        for path in folder.rglob(pattern)
        if path.is_file() and not {*but, "__pycache__"} & {*path.relative_to(folder).parts[:-1]}
    )
    if not found:
        raise BuildError(f"{folder}: there is no file {pattern} in it")
    return found


def tree_digest(tree: Path) -> str:
    """Hash names, sizes and times of a source tree: reading 1.5 GB at each start is too slow."""
    total = hashlib.sha256()
    for folder, folders, files in os.walk(tree):
        folders.sort()
        for name in sorted(files):
            stat = Path(folder, name).lstat()
            total.update(f"{folder}/{name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return total.hexdigest()


def compiler_version() -> str:
    return subprocess.check_output(["gcc", "-dumpfullversion"], text=True).strip()


def archive_digest(path: Path) -> str:
    """Hash an archive, and note the hash under its name, size and time.

    Hashing 150 MB takes longer than a boot.
    """
    stat = path.stat()
    facts = f"{path.resolve()} {stat.st_size} {stat.st_mtime_ns}"
    note = cache_root() / "archives" / digest([], [facts])
    if not note.exists():
        note.parent.mkdir(parents=True, exist_ok=True)
        beside = note.with_suffix(f".{os.getpid()}")
        beside.write_text(digest([path]))
        beside.rename(note)
    return note.read_text()


def require_tools() -> None:
    """Raise BuildError, which names the Debian packages of all missing programs at once."""
    missing = [package for tool, package in NEEDED.items() if shutil.which(tool) is None]
    if missing:
        raise BuildError(f"missing programs; install them: apt install {' '.join(missing)}")


def require_plain_paths() -> None:
    """Raise BuildError for paths with a space or colon: make ends names at a space, the loader at
    a colon."""
    for folder, way_out in ((cache_root(), "set XDG_CACHE_HOME"), (HERE, "have it elsewhere")):
        if re.search(r"[\s:]", str(folder)):
            raise BuildError(
                f"{folder}: make cannot work under a name with a space or colon; {way_out}"
            )


def run(
    command: Sequence[str | Path], log: Path, cwd: Path | None = None, note: Note = ignore
) -> None:
    """Run a step; write its output to the log and count the lines.

    A failure raises BuildError with the log's end.
    """
    with (
        log.open("ab", buffering=0) as out,
        subprocess.Popen(command, stdout=PIPE, stderr=STDOUT, cwd=cwd) as process,
    ):
        assert process.stdout
        try:
            for lines, line in enumerate(process.stdout, 1):
                out.write(line)
                note(lines)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        raise BuildError(
            f"{command[0]} ended with status {process.returncode}; the end of {log}:\n{tail}"
        )


def fetched_archive() -> Path:
    """Return the path at which a fetched source archive of Debian is kept."""
    return cache_root() / "source" / f"{PACKAGE}.tar.xz"


def archive_here() -> Path | None:
    """Find Debian's source archive: installed, or fetched before."""
    return next((path for path in (INSTALLED, fetched_archive()) if path.is_file()), None)


@contextlib.contextmanager
def only_one(name: str) -> Iterator[None]:
    """Hold a lock: two builds of the same folder wait for each other."""
    cache_root().mkdir(parents=True, exist_ok=True)
    with (cache_root() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def archive() -> Path:
    """Find Debian's source archive, or fetch it now without root."""
    with only_one("source"):
        if here := archive_here():
            return here
        if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
            raise BuildError(f"no {PACKAGE} here, and no apt-get to fetch it; {ELSEWHERE}")
        fetch(fetched_archive())
    return fetched_archive()


def fetch(archive: Path) -> None:
    """Download Debian's package and take the archive out of it."""
    work = archive.parent
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    log = work / "fetch.log"
    tell(f"fetching {PACKAGE} (150 MB) ...")
    try:
        run(["apt-get", "download", PACKAGE], log, cwd=work)
        [package] = work.glob(f"{PACKAGE}_*.deb")
        run(["dpkg-deb", "-x", package, work / "unpacked"], log)
    except (BuildError, ValueError) as error:
        raise BuildError(f"{PACKAGE} cannot be fetched; {ELSEWHERE}\n{error}") from error
    (work / "unpacked" / INSTALLED.relative_to("/")).rename(archive)
    shutil.rmtree(work / "unpacked")
    package.unlink()


def require_kernel(tree: Path, source: Path) -> None:
    """Raise BuildError where the source is no kernel's: users may name any folder or archive."""
    if not (tree / "arch/um/Kconfig").is_file():
        raise BuildError(f"{source}: this is no source of a kernel; arch/um/Kconfig is missing")


def unpack(source: Path, tree: Path, log: Path) -> None:
    """Copy a tree or archive to `tree`, without the files that this kernel never compiles."""
    tree.mkdir(parents=True)
    leave_out = [f"--exclude={pattern}" for pattern in UNUSED]
    if source.is_file():
        run(["tar", "-xf", source, "-C", tree, "--strip-components=1", *leave_out], log)
        return
    copy = tree.with_suffix(".tar")
    run(["tar", "-cf", copy, "-C", source, "--exclude=./.git", *leave_out, "."], log)
    run(["tar", "-xf", copy, "-C", tree], log)
    copy.unlink()


def free_hz(tree: Path) -> None:
    """Let the configuration choose HZ: um fixes it at 100, which rounds PIE's 15 ms to 20."""
    kconfig = tree / "arch/um/Kconfig"
    entry = re.compile(r"(config HZ\n\tint)\n\tdefault 100\n")
    free = r'\1 "Timer frequency"\n\trange 100 1000\n\tdefault 100\n'
    text, edits = entry.subn(free, kconfig.read_text())
    if edits != 1:
        raise BuildError(f"{kconfig}: no fixed HZ entry found; this tree needs another edit")
    kconfig.write_text(text)


def check_config(objects: Path, fragments: Sequence[Path], hz: int = HZ) -> None:
    """Check that every option that our fragments set has survived. Of kernel.config, only options
    that this kernel knows must survive. The last fragment that names an option decides."""
    made = set((objects / ".config").read_text().splitlines())
    known = {line.split("=")[0].removeprefix("# ").split(" ")[0] for line in made}
    wanted = {w: f for f in fragments for w in f.read_text().splitlines() if w.endswith("=y")}
    lost = [w for w in wanted if w not in made]
    lost = [w for w in lost if wanted[w] != CONFIG or w.split("=")[0] in known]
    ticks = f"CONFIG_HZ={hz}"
    if lost or ticks not in made:
        raise BuildError(f"configuration lost: {' '.join(lost) or ticks}")


def wanted_config(fragments: Sequence[Path], hz: int = HZ) -> str:
    """Join the fragments, with this many ticks per second."""
    text = "".join(fragment.read_text() for fragment in fragments)
    return text.replace(f"CONFIG_HZ={HZ}\n", f"CONFIG_HZ={hz}\n")


@functools.cache
def source_folder(origin: Path) -> Path:
    """Return the folder of this source, unpacked or not: by content, not by place. All kernels
    of it share one, and each object names it."""
    content = tree_digest(origin) if origin.is_dir() else archive_digest(origin)
    return cache_root() / f"tree-{digest([], [content, *UNUSED])}"


def unpacked(origin: Path) -> Path:
    """Return the tree of a source, edited for our kernels; unpack it where it is missing."""

    def make_tree(fresh: Path) -> None:
        tree = fresh / "linux"
        unpack(origin, tree, fresh / "unpack.log")
        require_kernel(tree, origin)
        free_hz(tree)

    return kept(source_folder(origin), make_tree) / "linux"


def make_kernel(
    origin: Path, fragments: Sequence[Path], hz: int, folder: Path, jobs: int, note: Note
) -> None:
    """Configure and compile the kernel; about 7 minutes with two jobs. Where the plain kernel of
    this source is there, compile again only the files that the difference touches."""
    objects, log = folder / "objects", folder / "build.log"
    of_hz = "" if hz == HZ else f" of HZ {hz}"
    tell(f"building the virtual-time kernel{of_hz}; log: {log}")
    tree, plain = unpacked(origin), kernel_folder(origin)
    if (plain / "linux").exists():
        run(["cp", "-a", plain / "objects", objects], log)
    objects.mkdir(exist_ok=True)
    make: list[str | Path] = ["make", "-C", tree, "ARCH=um", f"O={objects}", *NAMED]
    wanted = folder / "wanted.config"
    wanted.write_text(wanted_config(fragments, hz))
    run([*make, f"KCONFIG_ALLCONFIG={wanted}", "allnoconfig"], log)
    check_config(objects, fragments, hz)
    run([*make, f"-j{jobs}", "linux", "modules"], log, note=note)
    # `linux` is written last and atomically: its presence means the folder is whole.
    shutil.copy2(objects / "linux", folder / "linux.new")
    (folder / "linux.new").rename(folder / "linux")


def kept(folder: Path, make: Callable[[Path], object]) -> Path:
    """Return the folder of the cache; make it where it is missing.

    `make` fills a folder beside it first: a stopped or failed build never passes for whole.
    """
    with only_one(folder.name):
        if not folder.exists():
            fresh = folder.with_name(f"{folder.name}.new")
            shutil.rmtree(fresh, ignore_errors=True)
            fresh.mkdir(parents=True)
            make(fresh)
            fresh.rename(folder)
    return folder


def make_programs(fresh: Path) -> None:
    """Compile the guest's programs, and the shim between the kernel and its host."""
    flags: list[str | Path] = ["-O2", "-std=gnu11", "-Wall", "-Wextra", "-Werror"]
    flags += ["-ffp-contract=off"]  # as traffic/application.h asks
    for name in GUEST_PROGRAMS:
        parts = [HERE / f"{name}.c", *sorted(HERE.glob(f"{name}/*.c"))]
        parts += [HERE / shared for shared in _PARTS.get(name, ())]
        parts += sorted(TRAFFIC.glob("*.c")) if name == "play" else []
        alone = ["-static"] * (name == STATIC)
        run(["gcc", *flags, *alone, "-o", fresh / name, *parts, "-lm"], fresh / "build.log")
    shim: list[str | Path] = ["-shared", "-fPIC", "-o", fresh / "shim.so"]
    run(["gcc", *flags, *shim, *(HERE / f"{name}.c" for name in SHIMS)], fresh / "build.log")


def kernel_folder(origin: Path, fragments: Sequence[Path] = (CONFIG,), hz: int = HZ) -> Path:
    """Return the folder of this source's kernel, built or not."""
    source = source_folder(origin).name
    key = digest(fragments, [source, compiler_version(), f"HZ {hz}", *NAMED])
    return cache_root() / f"kernel-{key}"


def build(
    source: Path | None = None,
    jobs: int = 2,
    *,
    devices: bool = False,
    sanitizers: bool = False,
    hz: int = HZ,
    note: Note = ignore,
) -> Built:
    """Build everything that a boot needs, or take it from the cache.

    With `devices` the kernel has the devices, tables and policies that a router's packets may
    meet. With `sanitizers` it finds misuse of memory and locks too, and is slow. A kernel of
    another `hz` has a folder of its own.
    """
    require_tools()
    require_plain_paths()
    origin = source or archive()
    if origin.is_dir():
        require_kernel(origin, origin)
    fragments = [CONFIG, *[DEVICES] * (devices or sanitizers), *[SANITIZERS] * sanitizers]
    kernel = kernel_folder(origin, fragments, hz)
    with only_one(kernel.name):
        if not (kernel / "linux").exists():
            shutil.rmtree(kernel, ignore_errors=True)
            kernel.mkdir(parents=True)
            make_kernel(origin, fragments, hz, kernel, jobs, note)
    sources = [*below(HERE, "*.[ch]"), *below(TRAFFIC, "*.[ch]", ("test",))]
    programs = cache_root() / f"guest-{digest(sources, [compiler_version()])}"
    kept(programs, make_programs)
    objects = kernel / "objects"
    release = (objects / "include/config/kernel.release").read_text().strip()
    return Built(kernel / "linux", objects, unpacked(origin), programs, release)


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the virtual-time kernel (cached).")
    parser.add_argument("--source", type=Path, help="kernel tree or archive instead of Debian's")
    parser.add_argument("--jobs", type=int, default=2, help="compilers side by side (default 2)")
    parser.add_argument("--devices", action="store_true", help="the kernel of the qdisc's tests")
    parser.add_argument("--sanitizers", action="store_true", help="the kernel for make test-deep")
    parser.add_argument("--hz", type=int, default=HZ, help=f"ticks per second (default {HZ})")
    options = parser.parse_args()
    try:
        kinds = {"devices": options.devices, "sanitizers": options.sanitizers}
        built = build(options.source, options.jobs, **kinds, hz=options.hz)
    except BuildError as error:
        print(f"build: {error}", file=sys.stderr)
        return 1
    print(f"{built.release} {built.kernel}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
