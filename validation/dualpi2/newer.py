# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""newer.py: a kernel in virtual time that has a dualpi2 of its own, as Linux 6.12 has not.

    python -m validation.dualpi2.newer

builds it, in the cache. Its source is Debian's package of the next release's backports, from the
machine's own mirror: apt-get fetches it with a list and a state of their own, without root, and
checks it by Debian's signed index.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from sojourn.linux.uml import build, module
from sojourn.linux.uml.build import BuildError, Built, cache_root, only_one, run

PACKAGE, SUITE = "linux-source-7.3", "trixie-backports"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
CONF = """\
Dir::Etc::SourceList "{work}/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State "{work}/state";
Dir::State::status "{work}/status";
Dir::Cache "{work}/cache";
APT::Sandbox::User "";
"""


def mirror() -> str:
    """From where this machine gets Debian's packages."""
    words = ["apt-get", "indextargets", "--format", "$(ORIGIN) $(LABEL) $(REPO_URI)"]
    known = subprocess.run([*words, "Created-By: Packages"], capture_output=True, text=True)
    found = re.search(r"^Debian Debian (\S+)$", known.stdout, re.MULTILINE)
    if not found or not KEYRING.exists():
        raise BuildError(f"no {PACKAGE}: this machine has no apt-get with a mirror of Debian")
    return found[1]


def archive() -> Path:
    """The kernel's source: in the cache, or fetched now (170 MB)."""
    work = cache_root() / f"source-{SUITE}"
    kept = work / f"{PACKAGE}.tar.xz"
    with only_one(work.name):
        if not kept.exists():
            shutil.rmtree(work, ignore_errors=True)
            fetch(work, kept)
    return kept


def fetch(work: Path, kept: Path) -> None:
    """Lists, state and package of apt's in this folder."""
    for folder in ("state/lists/partial", "cache/archives/partial"):
        (work / folder).mkdir(parents=True)
    (work / "status").touch()
    (work / "sources.list").write_text(f"deb [signed-by={KEYRING}] {mirror()} {SUITE} main\n")
    (work / "apt.conf").write_text(CONF.format(work=work))
    log = work / "fetch.log"
    for words in (["update"], ["download", PACKAGE]):
        run(["env", f"APT_CONFIG={work / 'apt.conf'}", "apt-get", *words], log, cwd=work)
    [package] = work.glob(f"{PACKAGE}_*.deb")
    run(["dpkg-deb", "-x", package, work / "unpacked"], log)
    version = package.name.split("_")[1].replace("%3a", ":")
    package.unlink()
    (work / "version").write_text(version)
    (work / f"unpacked/usr/src/{kept.name}").rename(kept)
    shutil.rmtree(work / "unpacked")


def version() -> str:
    """Of the package."""
    return (archive().parent / "version").read_text()


def kernel() -> Built:
    """With the configuration of every other guest: `NET_SCH_DUALPI2` is on where there is one."""
    built = build.build(archive())
    if "CONFIG_NET_SCH_DUALPI2=y" not in (built.objects / ".config").read_text():
        raise BuildError(f"{built.release} has no dualpi2")
    return built


# What the module needs there beyond its sources, which know kernels up to 7.2: a function that 7.3
# has no more, and another name for one of ours that a kernel without tracing has too.
COMPAT = """
static inline struct Qdisc *qdisc_from_priv(void *priv)
{
	return container_of(priv, struct Qdisc, privdata);
}
"""
RENAMED = {"trace_init": "trace_made"}


def lay_module(folder: Path) -> Path:
    """A changed copy of linux/qdisc, for `sojourn.linux.uml.module.QDISC`."""
    copy = folder / "linux/qdisc"
    if not copy.exists():
        copy.mkdir(parents=True)
        (folder / "aqm").symlink_to(module.CORE)
        for path in [*module.QDISC.glob("*.[ch]"), module.QDISC / "Kbuild"]:
            text = path.read_text()
            for old, new in RENAMED.items():
                text = re.sub(rf"\b{old}\b", new, text)
            if path.name == "compat.h":
                head, last = text.rsplit("#endif", 1)
                text = head + COMPAT + "\n#endif" + last
            (copy / path.name).write_text(text)
        shutil.copy2(module.QDISC / "Makefile", copy)
    return copy


def main() -> None:
    """Fetch and build."""
    built = kernel()
    print(f"{built.release} ({PACKAGE} {version()}) {built.kernel}")


if __name__ == "__main__":
    main()
