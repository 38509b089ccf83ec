# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The files that a router's owner installs and removes: Makefiles, unit and script, the page."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
from sojourn.core.units import Rate
from sojourn.linux import typed

from tests.linux.processors import TARGETS
from tests.linux.tdc import shell
from tests.linux.tdc.case import Case

LINUX = Path(__file__).resolve().parents[1] / "linux"
BOOT = LINUX / "boot"
UNIT = BOOT / "sojourn-qdisc@.service"
GUIDE = LINUX.parent / "docs/guide/router.md"
CONF = ["UP=4750kbit", "DOWN=47500kbit", "QUEUE=fq_codel"]
STOPS = [
    "tc qdisc del dev WAN root",
    "tc qdisc del dev WAN handle ffff: ingress",
    "ip link del ifb-WAN",
]
# Its questions whether a device is there are answered, and are no part of the log.
WRITES = """\
#!/bin/sh
case "{name} $*" in
"ip link show dev "*) case " {there} " in *" $4 "*) exit 0 ;; *) exit 1 ;; esac ;;
esac
echo "{name} $*" >>{log}
case "$*" in *refused*) exit 1 ;; esac
case "$*" in *sojourn*) [ -z "{says}" ] || {{ echo "{says}" >&2; exit 1; }} ;; esac
"""
# A kernel's build folder, as far as our Makefile asks it.
KERNEL = """\
kernelrelease:
	@echo 9.9
modules modules_install: ;
"""

OPENWRT = LINUX / "openwrt/sojourn"
# OpenWrt's own files, as far as our recipes ask them.
OPENWRT_RULES = """\
INCLUDE_DIR := $(TOPDIR)
PKG_BUILD_DIR = $(TOPDIR)/build
TARGET_CC := gcc
TARGET_CFLAGS := -O0
INSTALL_DIR := install -d
INSTALL_DATA := install -m 644
KERNEL_MAKE := sh $(TOPDIR)/kernel_make
AutoProbe = $(1)
package: ; $(steps)
files: ; @echo $(FILES)
define steps
$(Build/Prepare)
$(Build/Compile)
$(call Package/tc-mod-sojourn/install,$(TOPDIR)/root)
endef
define KernelPackage
$(KernelPackage/$(1))
endef
"""
# The module is there where all sources that the kernel's build asks for are.
OPENWRT_KERNEL = """\
cd "${1#M=}" && [ "$2" = modules ] || exit
for object in $(sed -n 's/^sch_sojourn-y := //p; s/\\\\$//' Kbuild | grep -o '[a-z_0-9]*\\.o'); do
	[ -f "${object%.o}.c" ] || { echo "$object has no source" >&2; exit 1; }
done
touch sch_sojourn.ko
"""


class Laid(NamedTuple):
    """What the unit's script did: its status, the lines of programs that change something, and what
    it told."""

    status: int
    lines: list[str]
    told: str


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


def lay(program: Path, text: str) -> None:
    """Write a program."""
    program.write_text(text)
    program.chmod(0o755)


def set_up(
    folder: Path,
    verb: str,
    *conf: str,
    device: str = "WAN",
    there: str = "WAN",
    says: Mapping[str, str] | None = None,
    user: int = 0,
    others: Sequence[str] = (),
    between: str = "\n",
) -> Laid:
    """Run the unit's script beside programs that only write down how they are called; devices whose
    names the words `there` do not hold are missing. A program that `says` has refuses sojourn by
    this sentence."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    log = folder / "log"
    log.write_text("")
    for name in ("tc", "ip", "modprobe"):
        said = (says or {}).get(name, "")
        lay(programs / name, WRITES.format(name=name, log=log, there=there, says=said))
    for name, text in {"id": f"echo {user}", **dict.fromkeys(others, ":")}.items():
        lay(programs / name, f"#!/bin/sh\n{text}\n")
    if conf:
        (folder / f"{device}.conf").write_text(between.join(conf), newline="")
    done = subprocess.run(
        ["sh", BOOT / "sojourn-qdisc", verb, device],
        env={"PATH": f"{programs}:/usr/bin:/bin", "SOJOURN_CONF_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    return Laid(done.returncode, log.read_text().splitlines(), done.stderr)


def test_the_guides_file_sets_what_advise_prints(tmp_path: Path) -> None:
    [conf] = re.findall(r"printf '(.*)' .*WAN\.conf", GUIDE.read_text())
    laid = set_up(tmp_path, "start", *conf.split(r"\n"))
    assert laid.status == 0, laid.told
    told = typed.router("fq_codel", Rate("4750 kbit/s"), Rate("47500 kbit/s")).splitlines()
    lines = [line for line in laid.lines if " qdisc del " not in line]
    assert lines == ["modprobe sch_sojourn", *told]


@pytest.mark.parametrize(
    ("conf", "between"),
    [
        ([*CONF, ""], "\r\n"),
        (["  # a line of 5 Mbit/s", "\t", " UP = 4750kbit ", "DOWN\t=47500kbit", *CONF[2:]], "\n"),
    ],
)
def test_blanks_and_carriage_returns_of_the_file_do_not_count(
    tmp_path: Path, conf: list[str], between: str
) -> None:
    laid = set_up(tmp_path, "start", *conf, between=between)
    assert laid == set_up(tmp_path, "start", *CONF) and laid.status == 0


def test_a_rate_may_have_a_point_and_any_unit_of_bits(tmp_path: Path) -> None:
    for rate in ("4.5mbit", "0.5Gbit", "5000000bit", "5Mibit", "4750000"):
        laid = set_up(tmp_path, "start", f"UP={rate}", *CONF[1:])
        assert laid.status == 0 and any(f"rate {rate} " in line for line in laid.lines)


def test_of_a_usage_behind_a_refusal_only_the_reason_is_told(tmp_path: Path) -> None:
    usage = 'Warning: quantum\nIllegal \\"rate\\"\nUsage: ... qdisc add ... htb\n default minor id'
    laid = set_up(tmp_path, "start", *CONF, says={"tc": usage})
    assert laid.status == 1 and laid.told.endswith(': Illegal "rate"\n')


def test_htb_is_gone_before_it_is_set_again(tmp_path: Path) -> None:
    lines = set_up(tmp_path, "start", *CONF).lines
    for device in ("WAN", "ifb-WAN"):
        at = lines.index(f"tc qdisc replace dev {device} root handle 1: htb default 10")
        assert lines[at - 1] == f"tc qdisc del dev {device} root"


def test_a_queue_without_rates_is_the_root(tmp_path: Path) -> None:
    laid = set_up(tmp_path, "start", "# a server", "UP=", "DOWN=", "QUEUE=duk ecn")
    assert laid.lines == [
        "modprobe sch_sojourn",
        "tc qdisc replace dev WAN root handle 10: sojourn duk ecn",
    ]


def test_stop_undoes_all_even_when_the_file_is_gone(tmp_path: Path) -> None:
    assert set_up(tmp_path, "stop", there="WAN ifb-WAN").lines == STOPS


def test_a_start_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    laid = set_up(tmp_path, "start", *CONF[:2], "QUEUE=refused", there="WAN ifb-WAN")
    assert laid.status and laid.lines[-len(STOPS) :] == STOPS


@pytest.mark.parametrize(
    ("conf", "told"),
    [
        ([], "WAN.conf: there is no such file; write"),
        (CONF[1:], "UP is missing; write UP=4750kbit, or UP= "),
        (CONF[:1] + CONF[2:], "DOWN is missing; write DOWN=47500kbit, or DOWN= "),
        (CONF[:2], "QUEUE is missing; write QUEUE="),
        ([*CONF, "RATE=1mbit"], "no key is called RATE; the keys are UP, DOWN and QUEUE"),
        ([*CONF[:2], "QUEUE='fq codel'"], "QUEUE has quotes; write its value without them"),
        ([*CONF[:2], "QUEUE=$(touch no)", "touch no"], "no key is called touch no;"),
        *[
            ([f"UP={rate}", *CONF[1:]], f"UP={rate} is no rate; write a number and its unit")
            for rate in (
                "5x",
                "5",
                "5mbps",
                "mbit",
                "0bit",
                "999",
                "5ibit",
                "5 mbit",
                "-5bit",
                "4.mbit",
            )
        ],
        ([CONF[0], "DOWN=5g", CONF[2]], "DOWN=5g is no rate; "),
        (["UP", *CONF[1:]], "UP has no =; write UP=VALUE"),
    ],
)
def test_a_fault_of_the_file_changes_nothing(tmp_path: Path, conf: list[str], told: str) -> None:
    laid = set_up(tmp_path, "start", *conf)
    assert (laid.status, laid.lines) == (1, [])
    assert told in laid.told and laid.told.count("\n") == 1


@pytest.mark.parametrize(
    ("device", "told"),
    [("gone", "there is no such device; see ip link"), ("enx0011223344", "rename the device")],
)
def test_a_fault_of_the_device_changes_nothing(tmp_path: Path, device: str, told: str) -> None:
    laid = set_up(tmp_path, "start", *CONF, device=device, there="enx0011223344")
    assert (laid.status, laid.lines) == (1, []) and told in laid.told


def test_the_table_of_kernels_names_tests_that_there_are() -> None:
    table = (LINUX.parent / "docs/reference/qdisc.md").read_text().split("## Kernels and")[1]
    makefile = (LINUX.parent / "Makefile").read_text()
    rows = [row.split("|") for row in table.splitlines() if row.startswith("| ")]
    for row in rows[1:]:
        told = re.search(r"`(?:make ([\w-]+)|python -m ([\w.]+)|(?:pytest )?([\w/.]+))", row[4])
        assert told, row
        verb, module, file = told.groups()
        found = f"\n{verb}:" in makefile or (module and find_spec(module))
        assert found or (file and (LINUX.parent / file).is_file()), row


def test_a_module_for_another_processor_is_told_by_its_head(tmp_path: Path) -> None:
    file = tmp_path / "sch_sojourn.ko"
    heads = {
        "arm64": b"\x7fELF\2\1" + bytes(12) + b"\xb7\0",
        "armhf": b"\x7fELF\1\1" + bytes(12) + b"\x28\0",
        "mipsel": b"\x7fELF\1\1" + bytes(12) + b"\x08\0",
        "s390x": b"\x7fELF\2\2" + bytes(12) + b"\0\x16",
    }
    for made, head in heads.items():
        file.write_bytes(head)
        assert [name for name, target in TARGETS.items() if target.is_of(file)] == [made]


INSERT = "modprobe: ERROR: could not insert 'sch_sojourn': "


@pytest.mark.parametrize(
    ("program", "refusal", "told"),
    [
        ("modprobe", "Module sch_sojourn not found in directory /lib/modules/9.9", "no module for"),
        ("modprobe", f"{INSERT}Exec format error", "of another kernel than"),
        ("modprobe", f"{INSERT}Key was rejected by service", "mokutil --import"),
        ("modprobe", f"{INSERT}Required key not available", "mokutil --import"),
        ("modprobe", f"{INSERT}Operation not permitted", "mokutil --import"),
        ("modprobe", f"{INSERT}Cannot allocate memory", "Cannot allocate memory"),
        ("tc", "Unknown qdisc sojourn, hence option fq_codel is unparsable", "install sojourn-tc"),
        ("tc", "Error: no row has the number 12.", "install both from one version"),
        ("tc", "Error: no algorithm is called new.", "install both from one version"),
        ("tc", "Cannot find device WAN", "WAN vanished; the unit starts anew"),
        ("tc", "sojourn: target: 11s is not in 1us to 10s", "target: 11s is not in"),
    ],
)
def test_what_kernel_and_tc_refuse_is_answered_with_the_remedy(
    tmp_path: Path, program: str, refusal: str, told: str
) -> None:
    laid = set_up(tmp_path, "start", *CONF, says={program: refusal}, others=["dkms"])
    assert laid.status == 1 and told in laid.told and laid.told.count("\n") == 1
    assert "linux/qdisc" not in laid.told
    left = [line for line in laid.lines if " del " not in line and " show " not in line]
    assert program == "tc" or left == ["modprobe sch_sojourn"]


def test_a_distribution_without_dkms_is_told_to_make_the_module(tmp_path: Path) -> None:
    if shutil.which("dkms", path="/usr/bin:/bin"):
        pytest.skip("this machine has DKMS")
    for why in ("Module sch_sojourn not found", f"{INSERT}Exec format error"):
        laid = set_up(tmp_path, "start", *CONF, says={"modprobe": why})
        assert laid.status == 1 and "make -C linux/qdisc install" in laid.told


@pytest.mark.parametrize("verb", ["start", "stop"])
def test_a_user_is_told_that_root_is_wanted(tmp_path: Path, verb: str) -> None:
    laid = set_up(tmp_path, verb, *CONF, user=1000)
    assert (laid.status, laid.lines) == (1, []) and "only root may" in laid.told


@pytest.mark.parametrize(
    ("script", "verb", "lines"),
    [
        ("sojourn-tc.prerm", "upgrade", []),
        ("sojourn-tc.prerm", "remove", ["systemctl stop sojourn-qdisc@*.service"]),
        ("sojourn-tc.postinst", "configure", ["systemctl daemon-reload"]),
        ("sojourn-dkms.prerm", "upgrade", []),
        (
            "sojourn-dkms.prerm",
            "remove",
            ["systemctl stop sojourn-qdisc@*.service", "modprobe -r sch_sojourn"],
        ),
    ],
)
def test_an_upgrade_of_the_packages_leaves_queues_and_module_and_a_removal_takes_them_off(
    tmp_path: Path, script: str, verb: str, lines: list[str]
) -> None:
    log = tmp_path / "log"
    log.touch()
    for name in ("systemctl", "modprobe"):
        lay(tmp_path / name, f'#!/bin/sh\necho "{name} $*" >>{log}\n')
    # Not every machine of a test is run by systemd.
    text = (LINUX / "debian" / script).read_text().replace("/run/systemd/system", str(tmp_path))
    (tmp_path / script).write_text(text)
    words = ["sh", str(tmp_path / script), verb, "0.0.9"]
    subprocess.run(words, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=True)
    assert log.read_text().splitlines() == lines


# What tc and the kernel of this machine say, in a namespace of its own.
PLAYED = {
    'Unknown qdisc "sojourn", hence option "fq" is unparsable': "qdisc add dev lo root sojourn fq",
    "Error: Specified qdisc kind is unknown.": "qdisc add dev lo root sojourn",
    'Cannot find device "WAN"': "qdisc add dev WAN root sojourn",
    "Error: Exclusivity flag on, cannot modify.": "qdisc add dev lo root pfifo",
    "Error: Change operation not supported by specified qdisc.": (
        "qdisc replace dev lo root handle 1: htb"
    ),
}


@pytest.mark.parametrize("message", PLAYED)
def test_tc_says_what_the_guide_has(message: str) -> None:
    tc = shutil.which("tc", path="/usr/sbin:/sbin")
    own = shutil.which("unshare")
    if not tc or not own or subprocess.run([own, "-rn", "true"], check=False).returncode:
        pytest.skip("no tc, or no namespaces for users")
    assert f"| `{message}` |" in GUIDE.read_text()
    words = [own, "-rn", tc, *PLAYED[message].split()]
    # Some are said of the second one only.
    twice = f"{shlex.join(words[2:])}; exec {shlex.join(words[2:])}"
    done = subprocess.run(
        [*words[:2], "sh", "-c", twice],
        env={"TC_LIB_DIR": "/none"},
        capture_output=True,
        text=True,
        check=False,
    )
    if "sojourn" in PLAYED[message] and not done.stderr:
        pytest.skip("this machine has the module")
    if "qdisc kind is unknown" in done.stderr and "sojourn" not in PLAYED[message]:
        pytest.skip("this kernel lacks the qdisc")
    assert message in done.stderr


def test_a_user_is_refused_in_the_words_of_the_guide() -> None:
    tc = shutil.which("tc", path="/usr/sbin:/sbin")
    if not tc:
        pytest.skip("tc is missing: apt install iproute2")
    user = 65534 if os.getuid() == 0 else None
    words = [tc, "qdisc", "add", "dev", "lo", "root", "sojourn"]
    done = subprocess.run(words, user=user, capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "RTNETLINK answers: Operation not permitted"
    assert f"| `{done.stderr.strip()}` |" in GUIDE.read_text()


def test_a_kernel_that_is_too_old_is_named_before_all_else(tmp_path: Path) -> None:
    (tmp_path / "linux").mkdir()
    macro = "#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))\n"
    words: list[str | Path] = ["gcc", "-E", f"-I{tmp_path}", LINUX / "qdisc/compat.h"]
    for code, is_old in (((6 << 16) - 1, True), ((6 << 16) + (1 << 8), False)):
        text = f"{macro}#define LINUX_VERSION_CODE {code}\n"
        (tmp_path / "linux/version.h").write_text(text)
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert ("needs Linux 6.1 or newer" in done.stderr) == is_old
        # The first word is the remedy, whatever else that kernel lacks.
        assert not is_old or "Linux 6.1" in done.stderr.splitlines()[0]


def test_the_unit_goes_as_it_came(tmp_path: Path) -> None:
    assert make("-C", BOOT, f"DESTDIR={tmp_path}", "install").returncode == 0
    there = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")}
    assert "etc/systemd/system/sojourn-qdisc@.service" in there
    commands = re.findall(r"^Exec\w+=/(\S+)", UNIT.read_text(), re.MULTILINE)
    assert len(commands) == 3
    assert all(os.access(tmp_path / command, os.X_OK) for command in commands)
    assert make("-C", BOOT, f"DESTDIR={tmp_path}", "uninstall").returncode == 0
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is missing: apt install systemd")
    # Its script need not be installed here.
    text = UNIT.read_text().replace("/usr/lib/sojourn/sojourn-qdisc", "/bin/true")
    unit = tmp_path / "sojourn-qdisc@eth0.service"
    unit.write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "sojourn" not in done.stderr, done.stderr


def test_openwrts_recipes_make_the_module_and_the_plugin(tmp_path: Path) -> None:
    """Beside stand-ins for OpenWrt's include files and kernel; its SDK has not built them."""
    tree = tmp_path / "openwrt"
    feed = tree / "feeds"
    feed.mkdir(parents=True)
    # A feed is a link.
    (feed / "sojourn").symlink_to(OPENWRT.parent)
    (tree / "rules.mk").write_text(OPENWRT_RULES)
    for name in ("kernel.mk", "package.mk"):
        (tree / name).touch()
    (tree / "kernel_make").write_text(OPENWRT_KERNEL)
    words: list[str | Path] = ["-C", feed / "sojourn/sojourn", f"TOPDIR={tree}"]
    done = make(*words, "package")
    assert done.returncode == 0, done.stderr
    [module] = make(*words, "files").stdout.split()
    assert Path(module).is_file()
    installed = [path.relative_to(tree / "root") for path in (tree / "root").rglob("*.so")]
    assert installed == [Path("usr/lib/tc/q_sojourn.so")]


def test_a_case_of_tdc_in_a_guest_without_python_fails_by_status_output_and_end() -> None:
    case = Case("one", "$TC x", "$TC y", r"\Aqdisc codel\n\Z", code=2)
    well = "case 0 status 2\nqdisc codel\ncase 0 ends\nall is played\n"
    assert not shell.fault(well, [case])
    for old, new, told in (
        ("status 2", "status 0", "one: status 0, not 2"),
        ("codel", "pie", "found 0 times"),
        ("case 0 ends\n", "", "did not end"),
        ("all is played", "Oops", "did not come to its end"),
    ):
        assert told in shell.fault(well.replace(old, new), [case])
