# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Sweeps: a scenario over the values of axes.

Papers and the command use this room; theory may. Begin with `file` and `run`.

`axis`    axes and cells                    `quantity`  values between two ends, columns
`model`   the tables of a SWEEP.toml        `file`      the file, read and checked
`source`  an axis as the file writes it     `plan`      the cells of axes or a list
`run`     the runs of all cells             `result`    tables and JSON of the results
`placed`  paths of a file that is copied    `folder`    the folder of a result
"""
