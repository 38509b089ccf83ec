# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The fluid model of TCP over an AQM: its equilibrium, its stability there, and its swings.

The charts of a study are in `show`, which uses this room, as papers and the command do. It starts
runs only in `simulated`. Begin with `network` and `laws`.

network    flows, capacity and round trip; the equilibrium, and the plant linearised there
laws       the algorithms: the equilibrium, transfer function and update of each
loop       a loop's margins, and its poles in the right half-plane by Nyquist's criterion
rows       from an algorithm's rows to its law
models     the loop of an algorithm on a network, also as papers print it
equations  the nonlinear equations with their delays, integrated
noise      the spectrum of the queue that signals at random leave
maps       margins over flows, capacity and round trip
simulated  the same network in the packet engine
study      all of that for one command, and its numbers
"""
