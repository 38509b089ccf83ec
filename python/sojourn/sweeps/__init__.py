# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Sweeps: a scenario over the values of axes.

Papers and the command use this room; theory may. Begin with `file` and `run`.

`axes`    axes, and the cells of a plan      `quantity`  values between two ends, columns
`model`   the tables of a SWEEP.toml        `file`      the file, read and checked
`run`     the runs of all cells             `result`    tables, JSON and folder of the results
`kept`    a folder, read back               `figures`, `compare`  pictures; sweeps side by side
"""
