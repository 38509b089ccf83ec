# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cases_local.py: a sender's own TCP, and the answer that it gets for a packet that is refused."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.linux.net import case, do, lay_wire

FLOWS, SECONDS = 8, 10
SINK = f"""
import selectors, socket, time
waits = selectors.DefaultSelector()
called = socket.create_server(('10.0.0.2', 9), backlog={FLOWS})
waits.register(called, 1)
print('ready', flush=True)
end = time.monotonic() + {SECONDS + 2}
while time.monotonic() < end:
    for key, _ in waits.select(1):
        if key.fileobj is called:
            waits.register(called.accept()[0], 1)
        elif not key.fileobj.recv(1 << 20):
            waits.unregister(key.fileobj)
"""
SOURCE = f"""
import selectors, socket, time
waits = selectors.DefaultSelector()
for _ in range({FLOWS}):
    flow = socket.create_connection(('10.0.0.2', 9))
    flow.setblocking(False)
    waits.register(flow, 2)
end = time.monotonic() + {SECONDS}
while time.monotonic() < end:
    for key, _ in waits.select(1):
        try:
            key.fileobj.send(bytes(1 << 16))
        except BlockingIOError:
            pass
"""
PYTHON = "/usr/bin/python3 -S -c"


def retransmitted() -> int:
    """RetransSegs of this namespace."""
    names, values = re.findall(r"^Tcp: (.*)$", Path("/proc/net/snmp").read_text(), re.M)
    return int(values.split()[names.split().index("RetransSegs")])


def refused_and_retransmitted(queue: str) -> tuple[int, int]:
    """Of local CUBIC flows through HTB at 10 Mbit/s with this queue below."""
    do("tc qdisc add dev c0 root handle 1: htb default 1")
    do("tc class add dev c0 parent 1: classid 1:1 htb rate 10mbit burst 3000 cburst 3000")
    do(f"tc qdisc add dev c0 parent 1:1 handle 10: {queue}")
    before = retransmitted()
    words = ["ip", "netns", "exec", "s", *PYTHON.split(), SINK]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as sink:
        assert sink.stdout
        sink.stdout.readline()
        subprocess.run([*PYTHON.split(), SOURCE], check=True)
    [dropped] = re.findall(r"qdisc \w+ 10: .*?dropped (\d+)", do("tc -s qdisc show dev c0"), re.S)
    do("tc qdisc del dev c0 root")
    return int(dropped), retransmitted() - before


@case
def a_refused_packet_of_a_local_tcp_counts_as_sent() -> None:
    """The kernel's pie says that it has not taken the packet, and TCP keeps it."""
    lay_wire(offloads=True)
    do("ip netns exec s tc qdisc add dev s0 root netem delay 20ms limit 10000")
    theirs = refused_and_retransmitted("pie limit 50")
    ours = refused_and_retransmitted("sojourn pie limit 50")
    for name, (refused, again) in (("kernel", theirs), ("ours", ours)):
        print(f"RESULT {name} refused {refused} retransmitted {again}")
    assert theirs[0] > 100
    assert theirs[1] == 0
    assert ours[0] > 100
    # One may be under way at the end.
    assert abs(ours[1] - ours[0]) < 5
