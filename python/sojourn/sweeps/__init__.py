# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Sweeps: a scenario over the values of axes.

Papers and the command use this room; theory may. Begin with `file` and `run`.

`axis`    axes and cells                    `quantity`  values between two ends, columns
`model`   what a SWEEP.toml is made of      `file`      one, read and checked
`source`  an axis as it is written          `plan`      which cells there are
`run`     the runs of all cells             `result`    tables and JSON of what came out
`placed`  paths of a file that is copied     `folder`    where it is kept
"""
