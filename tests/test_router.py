# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The files that a router's owner installs and removes: Makefiles, the unit, the page."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from sojourn.core.units import Rate
from sojourn.linux import typed

LINUX = Path(__file__).resolve().parents[1] / "linux"
UNIT = LINUX / "boot/sojourn@.service"
# A kernel's build folder, as far as our Makefile asks it.
KERNEL = """\
kernelrelease:
	@echo 9.9
modules modules_install: ;
"""


def make(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", "-s", *words], capture_output=True, text=True, check=False)


def test_the_plugin_goes_as_it_came(tmp_path: Path) -> None:
    build, root = tmp_path / "build", tmp_path / "root"
    build.mkdir()
    (build / "q_sojourn.so").touch()
    words: list[str | Path] = ["-C", LINUX / "tc", "-o", "all", f"BUILD={build}", f"DESTDIR={root}"]
    assert make(*words, "install").returncode == 0
    assert [path.name for path in root.rglob("*.so")] == ["q_sojourn.so"]
    assert make(*words, "uninstall").returncode == 0
    assert not list(root.rglob("*.so"))


def test_the_module_goes_and_that_of_dkms_stays(tmp_path: Path) -> None:
    if not shutil.which("depmod", path="/usr/sbin:/sbin"):
        pytest.skip("depmod is missing: apt install kmod")
    kernel = tmp_path / "kernel"
    kernel.mkdir()
    (kernel / "Makefile").write_text(KERNEL)
    modules = tmp_path / "lib/modules/9.9"
    for place in ("updates", "extra", "updates/dkms"):
        (modules / place).mkdir(parents=True)
        (modules / place / "sch_sojourn.ko.xz").touch()
    words = [
        f"KERNEL={kernel}",
        f"INSTALL_MOD_PATH={tmp_path}",
        "PATH=/usr/sbin:/sbin:/usr/bin:/bin",
    ]
    done = make("-C", LINUX / "qdisc", *words, "uninstall")
    left = [path.relative_to(modules).as_posix() for path in modules.rglob("sch_sojourn.ko*")]
    assert left == ["updates/dkms/sch_sojourn.ko.xz"], done.stderr


def test_a_build_without_headers_says_what_to_install(tmp_path: Path) -> None:
    done = make("-C", LINUX / "qdisc", f"KERNEL={tmp_path / 'none'}", f"BUILD={tmp_path / 'build'}")
    assert done.returncode and "apt install linux-headers-" in done.stderr
    assert not (tmp_path / "build").exists()


def test_the_unit_sets_what_advise_prints() -> None:
    lines = re.findall(r"^ExecStart=-?(.*)$", UNIT.read_text(), re.MULTILINE)
    told = typed.router("fq_codel", Rate("4750 kbit/s"), Rate("47500 kbit/s")).splitlines()
    values = {"${UP}": "4750kbit", "${DOWN}": "47500kbit", "$QUEUE": "fq_codel", "%I": "WAN"}
    for name, value in values.items():
        lines = [line.replace(name, value) for line in lines]
    assert [line for line in lines if " qdisc del " not in line] == ["modprobe sch_sojourn", *told]


def test_the_unit_undoes_all_that_it_sets() -> None:
    stops = re.findall(r"^ExecStop=-(.*)$", UNIT.read_text(), re.MULTILINE)
    assert stops == [
        "tc qdisc del dev %I root",
        "tc qdisc del dev %I handle ffff: ingress",
        "ip link del ifb-%I",
    ]


def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is missing: apt install systemd")
    # Its commands need not be here: the true file of each name is looked up on the router.
    text = re.sub(r"^(Exec\w+=-?)\w+", r"\1true", UNIT.read_text(), flags=re.MULTILINE)
    unit = tmp_path / "sojourn@eth0.service"
    unit.write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "sojourn" not in done.stderr, done.stderr
