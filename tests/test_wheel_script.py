# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`tools/wheel.sh` with stand-ins for its tools: a wheel is made from a checkout, and from a source
package on a machine without git; one that is not for every Linux is refused."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "tools/wheel.sh"
MATURIN = """\
#!/bin/sh
while [ "$1" != --out ]; do shift; done
cat python/sojourn/commit 2>/dev/null >"$2/a.whl" || echo none >"$2/a.whl"
"""
TOOLS = {"maturin": MATURIN, "abi3audit": "#!/bin/sh\n", "auditwheel": "#!/bin/sh\necho $TAG\n"}


def make(tree: Path, *, has_git: bool, tag: str) -> subprocess.CompletedProcess[str]:
    tools = tree / "bin"
    for folder in (tools, tree / "tools", tree / "python/sojourn"):
        folder.mkdir(parents=True)
    shutil.copy(SCRIPT, tree / "tools")
    for name, text in TOOLS.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    for name in ("bash", "sh", "mkdir", "rm", "cat", "tee", "grep", "uname", "dirname"):
        (tools / name).symlink_to(str(shutil.which(name)))
    if has_git:
        (tools / "git").write_text("#!/bin/sh\necho v1-2-g3\n")
        (tools / "git").chmod(0o755)
    surroundings = {**os.environ, "PATH": str(tools), "TAG": tag}
    words = ["bash", str(tree / "tools/wheel.sh"), "out"]
    return subprocess.run(words, env=surroundings, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("has_git", "commit"), [(True, "v1-2-g3"), (False, "none")])
def test_a_wheel_is_made_with_and_without_git_and_named(
    tmp_path: Path, has_git: bool, commit: str
) -> None:
    done = make(tmp_path, has_git=has_git, tag="manylinux_2_17_x86_64")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/a.whl").read_text().strip() == commit
    assert done.stdout.splitlines()[-1] == "wheel: out/a.whl"
    assert not (tmp_path / "python/sojourn/commit").exists()


def test_a_wheel_that_needs_a_newer_linux_is_refused(tmp_path: Path) -> None:
    assert make(tmp_path, has_git=True, tag="manylinux_2_36_x86_64").returncode != 0
