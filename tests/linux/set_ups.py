# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""set_ups.py: routers as people set them up, soundly and not, for `sojourn doctor`.

    python -m tests.linux.set_ups

records anew what tests/data/doctor holds: each is laid in a kernel of Debian's under QEMU, with
traffic, and read twice. `wan` leads to a namespace that stands for the Internet, through no modem:
that the line is slower is told by `up` and `down`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sojourn.linux import device as dev
from sojourn.linux.device import BQL, LINKS, QDISCS, commands
from sojourn.linux.uml.module import TC

from tests.linux.debian import HEADERS, archive, image, program
from tests.linux.hostile.qemu import module, needed

FOLDER = Path(__file__).resolve().parents[1] / "data/doctor"
LINE = "20mbit"
MODULES = ["veth", "ifb", "8021q", "virtio_net", "virtio_pci", "pktgen", "tcp_diag", "sch_ingress"]
MODULES += ["cls_matchall", "cls_u32", "act_mirred", "act_pedit", "act_csum"]
MODULES += [f"sch_{kind}" for kind in ("htb", "tbf", "fq_codel", "pie", "cake")]

UP = "nc 10.0.0.2 5000 </dev/zero >/dev/null"
DOWN = "sleep 99 | nc 10.0.0.2 5001 >/dev/null"
# TCP gives the kernel large segments even where a device takes none.
PLAIN = "ip link set wan gso_max_segs 1\nip -n s link set s0 gso_max_segs 1"
# Packets of the kernel's own generator pass by every queue.
PKTGEN = """\
echo add_device wan >/proc/net/pktgen/kpktgend_0
for word in "count 3000" "pkt_size 1000" "dst 10.0.0.2" "dst_mac $(cat /peer)" "delay 500000"
do echo "$word" >/proc/net/pktgen/wan
done
echo start >/proc/net/pktgen/pgctrl"""


def shaped(device: str, words: str, rate: str = "19mbit", default: str = "10") -> str:
    """A shaper with one class, and a queue below it."""
    return (
        f"tc qdisc replace dev {device} root handle 1: htb default {default}\n"
        f"tc class replace dev {device} parent 1: classid 1:10 htb rate {rate} quantum 1514\n"
        f"tc qdisc replace dev {device} parent 1:10 handle 10: {words}"
    )


def arriving(words: str, rate: str = "19mbit") -> str:
    """What arrives goes through a shaper too."""
    return (
        "ip link add name ifb0 type ifb\nip link set ifb0 up\n"
        "tc qdisc replace dev wan handle ffff: ingress\n"
        "tc filter replace dev wan parent ffff: prio 1 handle 1 matchall "
        f"action mirred egress redirect dev ifb0\n{shaped('ifb0', words, rate)}"
    )


@dataclass(frozen=True)
class SetUp:
    """Commands, traffic, and the checks that have a verdict; a sound one has none."""

    name: str
    lay: str
    checks: tuple[str, ...] = ()
    traffic: tuple[str, ...] = (UP, UP)
    device: str = "wan"
    line: bool = True  # its rate is known
    wait_s: int = 6
    devices: tuple[str, ...] = ("wan",)


OURS = "sojourn fq codel ecn"
CLASSES_OF_PORT = """\
tc filter add dev wan parent 1: prio 1 u32 match ip dport 5000 0xffff flowid 1:20"""
SECOND = """\
tc class add dev wan parent 1: classid 1:20 htb rate 9mbit quantum 1514
tc qdisc add dev wan parent 1:20 handle 20: fq_codel"""
VLAN = """\
ip link add link wan name wan.5 type vlan id 5
ip -n s link add link s0 name s0.5 type vlan id 5
ip link set wan.5 up
ip -n s link set s0.5 up
ip addr flush dev wan
ip -n s addr flush dev s0
ip addr add 10.0.0.1/24 dev wan.5
ip -n s addr add 10.0.0.2/24 dev s0.5
ip route replace default via 10.0.0.2
ip link set wan.5 gso_max_segs 1"""
CARD = """\
ip link set eth0 up
ip addr add 10.0.9.1/24 dev eth0
ip route replace default via 10.0.9.2
ethtool -s eth0 speed {mbps} duplex full
tc qdisc replace dev eth0 root handle 1: fq_codel"""

BROKEN = (
    SetUp("no_aqm", f"{PLAIN}\n{shaped('wan', 'pfifo')}", ("aqm",)),
    SetUp(
        "wrong_device",
        "ip link add lan type veth peer name lan1\nip link set lan up\nip link set lan1 up\n"
        f"{shaped('lan', OURS)}",
        ("device",),
        device="lan",
        devices=("lan",),
        wait_s=1,
    ),
    SetUp("above_the_line", f"{PLAIN}\n{shaped('wan', OURS, '25mbit')}", ("shaper",)),
    SetUp("no_shaper", f"tc qdisc replace dev wan root {OURS}", ("shaper",), wait_s=1),
    SetUp(
        "never_full",
        shaped("wan", OURS, "100gbit"),
        ("shaper",),
        line=False,
        traffic=(UP,),
        wait_s=25,
    ),
    SetUp(
        "default_without_class",
        f"{PLAIN}\n{shaped('wan', OURS, default='30')}",
        ("class",),
    ),
    SetUp(
        "idle_class",
        f"{PLAIN}\n{shaped('wan', OURS, default='20')}\n{SECOND}",
        ("class",),
        wait_s=20,
        line=False,
    ),
    SetUp("segments", shaped("wan", "fq_codel"), ("offloads",)),
    SetUp(
        "joined_arrivals",
        f"{shaped('wan', OURS)}\n{arriving('fq_codel')}",
        ("offloads",),
        traffic=(DOWN, DOWN),
        devices=("wan", "ifb0"),
    ),
    SetUp("ecn_off", f"{PLAIN}\n{shaped('wan', 'sojourn codel noecn')}", ("ecn",)),
    SetUp(
        "tcp_without_ecn",
        f"{PLAIN}\nsysctl -qw net.ipv4.tcp_ecn=0\n{shaped('wan', OURS)}",
        ("ecn",),
    ),
    SetUp(
        "bleached",
        f"{PLAIN}\n{shaped('wan', OURS)}\ntc -n s qdisc add dev s0 clsact\n"
        "tc -n s filter add dev s0 egress protocol ip matchall "
        "action pedit ex munge ip tos set 0 retain 0x3 pipe csum ip",
        ("ecn",),
        traffic=(DOWN, DOWN, DOWN, DOWN),
    ),
    SetUp(
        "deep_ring",
        f"echo 10000000 >{BQL.format(device='eth0').split()[1]}_min\n{CARD.format(mbps=100)}",
        ("ring",),
        device="eth0",
        devices=("eth0",),
        traffic=(),
        line=False,
        wait_s=1,
    ),
    SetUp(
        "arrivals_lead_nowhere",
        f"{PLAIN}\n{shaped('wan', OURS)}\ntc qdisc add dev wan handle ffff: ingress",
        ("download",),
    ),
    SetUp(
        "ifb_is_down",
        f"{PLAIN}\n{shaped('wan', OURS)}\n{arriving('fq_codel')}\nip link set ifb0 down",
        ("download",),
        traffic=(),
        wait_s=1,
        devices=("wan", "ifb0"),
    ),
    SetUp(
        "slower_below",
        f"{PLAIN}\n{VLAN}\n{shaped('wan.5', OURS)}\n"
        "tc qdisc add dev wan root tbf rate 5mbit burst 10k latency 500ms",
        ("shaper",),
        device="wan.5",
        devices=("wan.5", "wan"),
    ),
    SetUp(
        "passed_by",
        f"{PLAIN}\n{shaped('wan', OURS)}\n{PKTGEN}",
        ("statistics",),
        traffic=(),
        wait_s=1,
    ),
)

SOUND = (
    SetUp(
        "both_ways",
        f"{shaped('wan', OURS)}\n{arriving(OURS)}",
        traffic=(UP, UP, DOWN, DOWN),
        devices=("wan", "ifb0"),
    ),
    SetUp("fq_codel", f"{PLAIN}\n{shaped('wan', 'fq_codel')}"),
    SetUp("cake", "tc qdisc replace dev wan root cake bandwidth 19mbit"),
    SetUp(
        "tbf",
        "tc qdisc replace dev wan root handle 1: tbf rate 19mbit burst 10k latency 1s\n"
        "tc qdisc replace dev wan parent 1:1 handle 10: sojourn fq_codel ecn",
    ),
    SetUp(
        "short_ring",
        CARD.format(mbps=1000),
        device="eth0",
        devices=("eth0",),
        traffic=(),
        line=False,
        wait_s=1,
    ),
    SetUp(
        "vlan",
        f"{PLAIN}\n{VLAN}\n{shaped('wan.5', OURS)}",
        device="wan.5",
        devices=("wan.5", "wan"),
    ),
    SetUp(
        "two_classes",
        f"{PLAIN}\n{shaped('wan', OURS, '10mbit')}\n{SECOND}\n{CLASSES_OF_PORT}",
        traffic=(UP, UP, DOWN, DOWN),
        wait_s=20,
    ),
    SetUp("pie", f"{PLAIN}\n{shaped('wan', 'pie ecn')}"),
    SetUp("quiet", shaped("wan", OURS), traffic=(), wait_s=1, line=False),
    SetUp(
        "inner_classes",
        f"{PLAIN}\ntc qdisc replace dev wan root handle 1: htb default 10\n"
        "tc class add dev wan parent 1: classid 1:1 htb rate 19mbit quantum 1514\n"
        "tc class add dev wan parent 1:1 classid 1:10 htb rate 19mbit quantum 1514\n"
        "tc qdisc add dev wan parent 1:10 handle 10: sojourn duk ecn",
    ),
    SetUp("fast_line", shaped("wan", "fq_codel", "500mbit"), line=False),
    SetUp("bare", "tc qdisc replace dev wan root sojourn fq codel ecn", line=False, wait_s=1),
)
EVERY = (*BROKEN, *SOUND)


PROLOGUE = """\
export PATH=/usr/sbin:/sbin:/usr/bin:/bin TC_LIB_DIR=/
/bin/busybox --install -s /bin
mkdir -p /run /tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs run /run
mkdir -p /var
ln -s /run /var/run
printf '#!/bin/sh\\nexec cat >/dev/null\\n' >/bin/sink
printf '#!/bin/sh\\nexec cat /dev/zero\\n' >/bin/source
chmod 755 /bin/sink /bin/source
mknod /dev/zero c 1 5
mknod /dev/null c 1 3
while read name; do insmod /$name.ko || echo "@@failed insmod $name"; done </modules
# Busybox prefers its own.
ip() { /usr/sbin/ip "$@"; }
tc() { /usr/sbin/tc "$@"; }
ip link set lo up
ask() {
	echo "@@ask $*"
	"$@" 2>/dev/null
	echo
}
begin() {
	ip netns add s
	ip link add wan type veth peer name s0 netns s
	ip addr add 10.0.0.1/24 dev wan
	ip -n s addr add 10.0.0.2/24 dev s0
	ip link set wan up
	ip -n s link set s0 up
	ip -n s link set lo up
	ip route replace default via 10.0.0.2
	sysctl -qw net.ipv4.tcp_ecn=1
	ip netns exec s sysctl -qw net.ipv4.tcp_ecn=1
	ip -n s -o link show s0 | sed 's/.*ether \\([^ ]*\\).*/\\1/' >/peer
	ip netns exec s nc -ll -p 5000 -e /bin/sink & server=$!
	ip netns exec s nc -ll -p 5001 -e /bin/source & other=$!
	sleep 1
}
finish() {
	kill $server $other $clients 2>/dev/null
	killall nc cat sleep 2>/dev/null
	ip link del wan 2>/dev/null
	ip link del lan 2>/dev/null
	ip link del ifb0 2>/dev/null
	ip addr flush dev eth0 2>/dev/null
	tc qdisc del dev eth0 root 2>/dev/null
	ip netns del s
	sleep 1
}
"""


def script(set_up: SetUp) -> str:
    """Lay it, send, and read it twice."""
    moved = (QDISCS, LINKS)
    lines = [f"echo '@@set_up {set_up.name}'", "begin", "clients="]
    lines += [f"{line} || echo '@@failed {line}'" for line in _joined(set_up.lay)]
    lines += [f'{client} & clients="$clients $!"' for client in set_up.traffic]
    background = "pktgen" in set_up.lay
    lines += [f"sleep {set_up.wait_s}"] if not background else []
    lines += ["echo '@@first'", *(f"ask {command}" for command in moved)]
    lines += ["sleep 2", "echo '@@now'"]
    lines += [f"ask {command}" for command in commands(list(set_up.devices))]
    return "\n".join([*lines, "echo '@@end'", "finish", ""])


def _joined(text: str) -> list[str]:
    """The lines; those of a loop are one, and a start of the generator stays behind."""
    text = text.replace("\ndo ", "; do ").replace("\ndone", "; done")
    return [f"({line} &)" if line.startswith("echo start") else line for line in text.splitlines()]


def play(set_ups: tuple[SetUp, ...], folder: Path) -> str:
    """Boot the guest; its console."""
    kernel, modules = image(HEADERS[-1].parent.name)
    found: dict[str, bytes] = {}
    for name in MODULES:
        needed(modules, name, found)
    found["sch_sojourn"] = module(folder / "module").read_bytes()
    plugin = folder / "plugin"
    subprocess.run(["make", "-s", "-C", TC, f"BUILD={plugin}"], check=True)
    files = {f"{name}.ko": data for name, data in found.items()}
    files["modules"] = "".join(f"{name}\n" for name in found).encode()
    files["q_sojourn.so"] = (plugin / "q_sojourn.so").read_bytes()
    files["bin/busybox"] = Path("/bin/busybox").read_bytes()
    for tool in dev.TOOLS:
        files |= program(str(shutil.which(tool, path=dev.PATH)))
    body = PROLOGUE + "".join(map(script, set_ups)) + "poweroff -f\n"
    files["init"] = f"#!/bin/busybox sh\n{body}".encode()
    (folder / "initrd").write_bytes(archive(files))
    words = "console=ttyS0 panic=-1 quiet loglevel=3"
    command = ["qemu-system-x86_64", "-accel", "tcg", "-m", "512", "-nographic", "-no-reboot"]
    command += ["-nic", "user,model=virtio-net-pci,restrict=on"]
    command += ["-kernel", str(kernel), "-initrd", str(folder / "initrd"), "-append", words]
    with (folder / "console").open("wb") as out:
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False)
    return (folder / "console").read_text(errors="replace").replace("\r\n", "\n")


def recordings(console: str) -> dict[str, dict[str, dict[str, str]]]:
    """The answers of each set-up, by reading."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for part in console.split("@@set_up ")[1:]:
        name, _, rest = part.partition("\n")
        if "@@failed" in rest:
            print(name, [line for line in rest.splitlines() if "@@failed" in line])
        first, _, now = rest.partition("@@end")[0].partition("@@first\n")[2].partition("@@now\n")
        found[name] = {"first": _answers(first), "now": _answers(now)}
    return found


def _answers(text: str) -> dict[str, str]:
    parts = (part.partition("\n") for part in text.split("@@ask ")[1:])
    return {command: output.rstrip("\n") for command, _, output in parts}


def main() -> None:
    """Renew the recordings, all or those of these names."""
    wanted = tuple(one for one in EVERY if not sys.argv[1:] or one.name in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="sojourn-") as scratch:
        found = recordings(play(wanted, Path(scratch)))
    FOLDER.mkdir(parents=True, exist_ok=True)
    for one in wanted:
        path = FOLDER / f"{one.name}.json"
        path.write_text(json.dumps(found[one.name], indent=1, sort_keys=True) + "\n")
        print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
