# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The Linux host: a scenario on a real network stack, in a kernel in virtual time.

The room `runs` and the command use it. Begin with `plan`. The last three are of a Linux that runs
here: a router.

refusals   the parts of a scenario that Linux cannot express, refused before anything starts
plan       a scenario as namespaces, links and qdiscs, traffic and a timetable
transport  a namespace, and the TCP of flows as sysctls and words of routes
qdiscs     the queue and shaper of a link in the words of tc
kernel     the kernel, the module, the guest's programs and tc's plugin, built once
samples    counts and readings that the guest's programs report
run        one run: boot, and a report on the packets that were seen, in the engine's form
typed      queues as commands that a person types
device     what this machine says of a device and its queues
doctor     faults of its set-up
metrics    its statistics for Prometheus
"""
