# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""package_life.py: the Debian packages installed, upgraded, booted and purged in a Debian 12.

`python -m tests.linux.package_life`, as root, builds the packages, lays a Debian 12 on a disk with
mmdebstrap (once per recipe), and plays its stages one after the other on that disk. Packages are
installed in the disk's root, where the compiler has the host's speed. All that wants a running
kernel or systemd is done in a guest under QEMU. It prints each command and what it told; a command
that fails, or tells something else, ends it with status 1 and the whole of its output.
"""

from __future__ import annotations

import argparse
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from sojourn.linux.uml.build import BuildError, cache_root, digest, kept, run

ROOT = Path(__file__).resolve().parents[2]
PROCESSORS = 2
MEMORY_MB = 1536
# Of a whole stage where there is no KVM.
LIMIT_S = 2400.0
NEEDED = {
    "qemu-system-x86_64": "qemu-system-x86",
    "mmdebstrap": "mmdebstrap",
    "mke2fs": "e2fsprogs",
    "dpkg-buildpackage": "dpkg-dev",
    "dh": "debhelper",
    "dh_dkms": "dh-dkms",
}
INCLUDED = "initramfs-tools,dkms,systemd-sysv,udev,iproute2,iputils-ping,kmod"
# Debian's updates have a newer kernel than its release. The disk has the older one, and packages of
# the newer one in a folder.
KERNEL = "linux-image-cloud-amd64 linux-headers-cloud-amd64"
NEWER = "srv/kernel"
KERNELS = f"""\
export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
old=$(apt-cache madison linux-image-cloud-amd64 | awk 'END {{ print $3 }}')
apt-get install --yes -o DPkg::Chroot-Directory="$1" \\
	$(for name in {KERNEL}; do echo "$name=$old"; done)
mkdir -p "$1/{NEWER}/partial"
apt-get install --yes --download-only -o Dir::Cache::archives="$1/{NEWER}" {KERNEL}
rm -r "$1/{NEWER}/partial"
"""
# The first serial port is the console of the kernel and systemd, the second one the transcript.
UNIT = """\
[Unit]
Description=The stage that lies on the second disk
[Service]
ExecStart=/bin/sh /usr/local/sbin/stage
[Install]
WantedBy=multi-user.target
"""
PLAY = """\
state=$(systemctl is-system-running --wait)
mkdir /run/stage
tar -xf /dev/vdb -C /run/stage
cd /run/stage
echo "system $state" >/dev/ttyS1
sh ./stage >/dev/ttyS1 2>&1 </dev/null
systemctl poweroff
"""
FILES = {
    "etc/systemd/network/wan.network": "[Match]\nName=eth0\n[Network]\nAddress=10.0.2.15/24\n",
    "etc/systemd/system/stage.service": UNIT,
    "usr/local/sbin/stage": PLAY,
    "etc/fstab": "/dev/vda / ext4 defaults 0 1\n",
}
UNITS = "systemd-networkd.service stage.service"
DISK_GB = 4
# The packages before the upgrade: the same sources with another version.
OLD = "0.0.9"
WANTS = "etc/systemd/system/sys-subsystem-net-devices-eth0.device.wants"
DEBUGFS = "/usr/sbin/debugfs"


@dataclass(frozen=True)
class Step:
    """A command as root, whose status is 0, and what its output has to match."""

    command: str
    wants: str = ""


SENT = r"qdisc sojourn 10: .*fq_codel.*\n Sent [1-9]"
CONF = r"printf 'UP=4750kbit\nDOWN=47500kbit\nQUEUE=fq_codel\n' >/etc/sojourn/eth0.conf"
PING = Step("ping -q -c 20 -i 0.05 10.0.2.2", " 0% packet loss")
QUEUES = [
    PING,
    Step("tc -s qdisc show dev eth0", SENT),
    Step("tc -s qdisc show dev ifb-eth0", SENT),
]
PACKETS = (
    "tc -s qdisc show dev eth0 | sed -n '/^qdisc sojourn/{n;s/.* bytes \\([0-9]*\\) pkt.*/\\1/p}'"
)
AT_BOOT = [Step("systemctl is-active sojourn-qdisc@eth0", "^active"), *QUEUES]


def installed(version: str, kernel: str) -> Step:
    wants = rf"^sojourn/{re.escape(version)}, \S*{re.escape(kernel)}\S*, x86_64: installed$"
    return Step("dkms status", wants)


def loaded(version: str) -> Step:
    return Step("cat /sys/module/sch_sojourn/version", rf"^{re.escape(version)}$")


def gone(what: str, command: str) -> Step:
    """The command prints nothing."""
    return Step(f'[ -z "$({command} | tee /dev/stderr)" ] && echo {what}: none', f"^{what}: none$")


SOUND = gone("failed units", "systemctl list-units --failed --plain --no-legend")
REMOVED = [
    gone("files", "find / -xdev -name '*sojourn*'"),
    gone("modules", "find /lib/modules -path '*updates*' -name '*.ko*'"),
    gone("packages", "dpkg-query -W -f '${Package} ${Status}\\n' 'sojourn*' 2>/dev/null"),
    gone("folders", "find /etc/systemd/system -empty -name '*.device.wants'"),
    SOUND,
    gone("module", "grep sojourn /proc/modules"),
    gone("queues", "tc qdisc show | grep -E 'sojourn|htb|ingress'"),
    gone("devices", "ip -o link show | grep ifb"),
]


@dataclass(frozen=True)
class Stage:
    """Steps on the disk: in a booted guest, or in a root without one, at the host's own speed."""

    name: str
    steps: list[Step]
    booted: bool = True
    words: str = ""  # of the kernel's command line


def stages(version: str) -> list[Stage]:
    put = [Step(f"apt-get install --quiet --yes ./*_{OLD}_*.deb"), installed(OLD, "6.1.0")]
    put += [Step(CONF), Step("systemctl enable sojourn-qdisc@eth0")]
    upgrade = [
        Step("uname -r | tee /var/tmp/first", r"^6.1.0\S*"),
        *AT_BOOT,
        loaded(OLD),
        Step(f"{PACKETS} | tee /run/packets", r"^\d+$"),
        Step("ping -q -i 0.2 10.0.2.2 >/run/pings & echo $! >/run/ping"),
        Step(f"apt-get install --quiet --yes ./*_{version}_*.deb"),
        Step("kill -INT $(cat /run/ping); sleep 1; cat /run/pings", r"\d+ received, 0% packet"),
        # The same queue counts on.
        Step(f'[ "$({PACKETS})" -gt $(($(cat /run/packets) + 20)) ] && {PACKETS}', r"^\d+$"),
        installed(version, "6.1.0"),
        gone("the old one", f"find /usr/src /var/lib/dkms -name '*{OLD}'"),
        *AT_BOOT,
        # A module in use stays until the machine restarts.
        loaded(OLD),
        Step("modinfo -F version sch_sojourn", rf"^{re.escape(version)}$"),
        Step("cat /etc/sojourn/eth0.conf", r"^UP=4750kbit\nDOWN=47500kbit\nQUEUE=fq_codel$"),
        Step(f"readlink -e /{WANTS}/sojourn-qdisc@eth0.service", r"/sojourn-qdisc@\.service$"),
        SOUND,
    ]
    second = [
        Step(f"apt-get install --quiet --yes /{NEWER}/*.deb"),
        Step("dkms status | grep -c installed", "^2$"),
        Step("dkms status | grep -v $(cat /var/tmp/first)", r", x86_64: installed$"),
    ]
    # Secure Boot turns this on; the key that DKMS signed with is not enrolled.
    refused = [
        Step("cat /sys/kernel/security/lockdown", r"\[integrity\]"),
        Step("modprobe sch_sojourn 2>&1 || true", r"Key was rejected by service|not permitted"),
        Step("systemctl is-failed sojourn-qdisc@eth0", "^failed"),
        Step(
            "journalctl --boot --unit sojourn-qdisc@eth0",
            r"signed modules only \(Secure Boot\): .*",
        ),
        PING,
    ]
    purge = [
        Step('[ "$(uname -r)" != "$(cat /var/tmp/first)" ] && uname -r', r"^6.1.0\S*"),
        *AT_BOOT,
        loaded(version),
        SOUND,
    ]
    purge += [Step("apt-get purge --quiet --yes 'sojourn-*'"), *REMOVED]
    return [
        Stage(f"the packages of {OLD} are installed, and the unit is enabled", put, booted=False),
        Stage("a boot, and an upgrade with queues in use", upgrade),
        Stage("a second kernel is installed", second, booted=False),
        Stage("a boot that takes signed modules only", refused, words="lockdown=integrity"),
        Stage("a boot of the second kernel, and a purge with queues in use", purge),
    ]


def missing() -> str:
    """What is wanted and not here; nothing: an empty sentence."""
    if os.getuid() != 0:
        return "only root may mount the guest's disk: run it with sudo"
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    lost = [package for tool, package in NEEDED.items() if not shutil.which(tool, path=path)]
    return f"apt install {' '.join(lost)}" if lost else ""


def lay(work: Path) -> None:
    """Make the disk."""
    log = work / "root.log"
    hooks = [f'mkdir -p "$1/{Path(name).parent}"' for name in FILES]
    words = ["mmdebstrap", "--variant=minbase", f"--include={INCLUDED}"]
    words += ["--dpkgopt=force-unsafe-io"]
    for name, text in FILES.items():
        (work / Path(name).name).write_text(text)
        hooks.append(f'cp "{work / Path(name).name}" "$1/{name}"')
    hooks += [KERNELS, f'chroot "$1" systemctl enable {UNITS}']
    run(
        [*words, *(f"--customize-hook={hook}" for hook in hooks), "bookworm", work / "root.tar"],
        log,
    )
    disk = f"""
        cd {work} && mkdir root && tar -xf root.tar -C root --exclude='./dev/*' &&
        truncate -s {DISK_GB}G disk && mke2fs -q -t ext4 -d root disk && rm -r root root.tar
    """
    run(["sh", "-c", disk], log)


def system() -> Path:
    recipe = [INCLUDED, KERNELS, UNITS, *FILES, *FILES.values(), str(DISK_GB)]
    return kept(cache_root() / f"debian-12-{digest([], recipe)}", lay)


def packages(version: str, folder: Path) -> None:
    """Build them as `make deb` does, with this version."""
    tree, log = folder / f"sojourn-{version}", folder / "deb.log"
    run([ROOT / "linux/debian/make-source.sh", tree], log)
    for file in versioned(tree):
        file.write_text(file.read_text().replace(current(), version))
    run(["dpkg-buildpackage", "-us", "-uc", "-b"], log, cwd=tree)


def versioned(tree: Path) -> list[Path]:
    """Files of a source package that tell its version."""
    told = runpy.run_path(str(ROOT / "tools/check-version.py"))["TOLD"]
    # A source package has this folder at its top.
    places = [tree / name.replace("linux/debian/", "debian/") for name in told]
    return [file for file in places if file.exists()]


def current() -> str:
    return output(
        "dpkg-parsechangelog", "-l", ROOT / "linux/debian/changelog", "-S", "Version"
    ).strip()


def output(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def script(steps: list[Step]) -> str:
    lines = ["export DEBIAN_FRONTEND=noninteractive PAGER=cat PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
    for number, step in enumerate(steps):
        lines += [f"echo '<{number}'", step.command, f'echo ">{number} $?"']
    return "\n".join([*lines, ""])


def newest_kernel(folder: Path) -> str:
    """Fetch kernel and initrd from the disk, as a boot loader would."""
    names: list[str] = re.findall(
        r"/vmlinuz-([^/]+)/", output(DEBUGFS, "-R", "ls -p /boot", folder / "disk")
    )
    newest = max(names, key=lambda name: [int(number) for number in re.findall(r"\d+", name)])
    for name in (f"vmlinuz-{newest}", f"initrd.img-{newest}"):
        output(DEBUGFS, "-R", f"dump /boot/{name} {folder / name}", folder / "disk")
    return newest


def play(stage: Stage, debs: list[Path], kernel: str, folder: Path, accelerator: str) -> str:
    """Boot the disk of the folder with this stage; what the second serial port heard."""
    (folder / "stage").write_text(script(stage.steps))
    with tarfile.open(folder / "stage.tar", "w") as tar:
        for file in [folder / "stage", *debs]:
            tar.add(file, arcname=file.name)
    command: list[str | Path] = ["qemu-system-x86_64", "-accel", accelerator, "-cpu", "max"]
    command += ["-smp", str(PROCESSORS), "-m", str(MEMORY_MB), "-display", "none", "-no-reboot"]
    command += ["-drive", f"file={folder}/disk,format=raw,if=virtio,cache=unsafe"]
    command += ["-drive", f"file={folder}/stage.tar,format=raw,if=virtio,readonly=on"]
    command += ["-nic", "user,restrict=on,model=virtio-net-pci"]
    command += ["-serial", f"file:{folder}/console", "-serial", f"file:{folder}/told"]
    command += ["-kernel", folder / f"vmlinuz-{kernel}", "-initrd", folder / f"initrd.img-{kernel}"]
    command += ["-append", f"root=/dev/vda rw console=ttyS0 panic=-1 net.ifnames=0 {stage.words}"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as process:
        try:
            process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
    return (folder / "told").read_text(errors="replace").replace("\r\n", "\n")


def without_boot(steps: list[Step], debs: list[Path], folder: Path) -> str:
    """Play the stage in a root of its own; what it said. Mounts end with their name space."""
    root = folder / "mounted"
    for place in (root, folder / "stage.d"):
        place.mkdir(exist_ok=True)
    (folder / "stage.d/stage").write_text(script(steps))
    for deb in debs:
        shutil.copy2(deb, folder / "stage.d")
    inside = f"""
        mount -o loop {folder}/disk {root} && mount -t proc proc {root}/proc &&
        mount --bind /dev {root}/dev &&
        mkdir -p {root}/mnt && mount --bind {folder}/stage.d {root}/mnt &&
        chroot {root} sh -c 'cd /mnt && sh ./stage 2>&1'
    """
    command = ["unshare", "--mount", "--pid", "--fork", "sh", "-c", inside]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    return done.stdout.decode(errors="replace").replace("\r\n", "\n")


def judge(steps: list[Step], told: str) -> str:
    """Print the transcript; the first fault, or nothing."""
    for number, step in enumerate(steps):
        found = re.search(rf"^<{number}\n(.*?)^>{number} (\d+)$", told, re.M | re.S)
        print(f"  # {step.command}")
        if not found:
            return f"{step.command}: it did not end; the transcript:\n{told}"
        said = re.search(step.wants, found[1], re.M)
        if found[2] != "0" or not said:
            return f"{step.command}: status {found[2]}, {step.wants!r} wanted, but:\n{found[1]}"
        for line in said[0].splitlines():
            print(f"  {line}")
    return ""


def live(folder: Path, first: int, last: int, accelerator: str) -> str | None:
    begun_s = time.monotonic()
    version = current()
    if first == 1:
        packages(OLD, folder)
        packages(version, folder)
        run(["cp", "--sparse=always", system() / "disk", folder], folder / "copy.log")
        print(f"packages and disk: {time.monotonic() - begun_s:.0f} s", flush=True)
    debs = sorted(folder.glob("sojourn-*.deb"))
    for number, stage in enumerate(stages(version), 1):
        if not first <= number <= last:
            continue
        begun_s = time.monotonic()
        if stage.booted:
            kernel = newest_kernel(folder)
            told = play(stage, debs, kernel, folder, accelerator)
        else:
            kernel = "no kernel"
            told = without_boot(stage.steps, debs, folder)
        (folder / f"told-{number}").write_text(told)
        print(f"{number}. {stage.name}, {kernel}: {time.monotonic() - begun_s:.0f} s")
        if fault := judge(stage.steps, told):
            return fault
        sys.stdout.flush()
    return None


def main() -> str | None:
    parser = argparse.ArgumentParser(description="Install, upgrade, boot and purge the packages.")
    parser.add_argument("--keep", type=Path, help="the folder that keeps disk and transcripts")
    parser.add_argument("--first", type=int, default=1, help="begin here, with the kept disk")
    parser.add_argument("--last", type=int, default=99, help="end after this stage")
    parser.add_argument("--accelerator", default="tcg,thread=multi", help="QEMU's -accel: kvm")
    arguments = parser.parse_args()
    if why := missing():
        return why
    with tempfile.TemporaryDirectory(prefix="sojourn-", dir="/var/tmp") as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(exist_ok=True)
        try:
            return live(folder, arguments.first, arguments.last, arguments.accelerator)
        except BuildError as error:
            return str(error)


if __name__ == "__main__":
    sys.exit(main())
