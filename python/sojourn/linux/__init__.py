# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The Linux host: a scenario on a real network stack, in a kernel in virtual time.

The room `runs` makes runs by it, and the command uses it. Begin with `plan`.

refusals   what Linux cannot express, said before anything starts
plan       a scenario as namespaces, links and qdiscs, traffic and a timetable
transport  the TCP of flows as sysctls and words of routes
qdiscs     the queue and shaper of a link in the words of tc
kernel     the kernel, the module and the guest's programs, built once
run        one run: boot, and a report in the engine's form from what was seen
plugin     `sojourn linux tc`: the system's tc with the plugin, for a Linux that is running
"""
