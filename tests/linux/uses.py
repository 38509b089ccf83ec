# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""uses.py: the script that uses module and plugin in a kernel of Debian's, and its judgement."""

from __future__ import annotations

import re

from tests.linux.cases import ALGORITHMS, ALONE, RATE_BYTES_S, RATED

SCRIPT = f"""
export PATH=/bin TC_LIB_DIR=/
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
(
set -ex
ip link set lo up
insmod /sch_htb.ko
insmod /sch_tbf.ko
insmod /sch_sojourn.ko
for name in {" ".join(ALGORITHMS)}; do
	case $name in {"|".join(ALONE)}) flows= ;; *) flows="flows 512" ;; esac
	case $name in {"|".join(RATED)}) rate="bandwidth {RATE_BYTES_S}B/s" ;; *) rate= ;; esac
	/sbin/tc qdisc add dev lo root handle 1: sojourn $name ecn $rate
	ping -q -c 5 -i 0.05 127.0.0.1
	/sbin/tc qdisc change dev lo root sojourn $name limit 50p
	/sbin/tc -s qdisc show dev lo
	/sbin/tc qdisc del dev lo root
	/sbin/tc qdisc add dev lo root handle 1: htb default 10
	/sbin/tc class add dev lo parent 1: classid 1:10 htb rate 2mbit
	/sbin/tc qdisc add dev lo parent 1:10 handle 10: sojourn $name $flows $rate
	ping -q -c 5 -i 0.05 -s 1000 127.0.0.1
	/sbin/tc -s qdisc show dev lo
	/sbin/tc qdisc del dev lo root
done
refused() {{
	sentence=$1
	shift
	if /sbin/tc "$@" 2>/told; then exit 1; fi
	grep "$sentence" /told
}}
/sbin/tc qdisc add dev lo root handle 9: tbf rate 80bit burst 1600 limit 10mb
/sbin/tc qdisc add dev lo parent 9:1 handle 1: sojourn fq fifo flows 1
ping -q -c 9 -i 0.05 -w 1 -s 1000 127.0.0.1 || :
/sbin/tc -s class show dev lo
/sbin/tc -s class show dev lo | grep "class sojourn 1:1 parent 1: fifo"
refused "is a flow" class add dev lo parent 1: classid 1:2 sojourn
refused "is a flow" class change dev lo parent 1: classid 1:1 sojourn
refused "is a flow" class delete dev lo classid 1:1
refused "is a flow" qdisc add dev lo parent 1:1 pfifo
refused "not found" qdisc add dev lo parent 1:2 pfifo
refused "support" filter add dev lo parent 1: matchall
/sbin/tc qdisc del dev lo root
/sbin/tc qdisc add dev lo root sojourn codel target 1ns && exit 1
/sbin/tc qdisc add dev lo root handle 1: sojourn codel
rmmod sch_sojourn && exit 1
/sbin/tc qdisc del dev lo root
rmmod sch_sojourn
dmesg | grep -E "WARN|BUG|Oops|Call Trace" && exit 1
echo all is well
)
poweroff -f
"""


def fault(console: str) -> str:
    """Return the end of the console where the script found a fault or counted too few packets;
    empty where all is well. An algorithm may drop a request, and its answer never comes."""
    counted = [int(count) for count in re.findall(r"counts in_pkts (\d+) ", console)]
    full = sum(8 <= count <= 10 for count in counted)
    if "all is well\n" not in console or full != len(ALGORITHMS) * 2:
        return f"{full} of {len(ALGORITHMS) * 2} queues had 8 to 10 packets:\n{console[-4000:]}"
    return ""
