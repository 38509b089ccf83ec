# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The folder of a sweep.

    DIR/result.json      format, command, seeds, versions, host, axes
       /sweep.toml       the sweep, beside scenario.toml, the scenario
       /cells.parquet    one row for each cell, algorithm, host, queue, window and seed
       /means.parquet    one row for each cell, algorithm, host, queue and window: means over the
                         seeds, and the half widths of their 95 % intervals
       /own/             C files of yours, as they were run
       /README.md        a description of the folder
       /runs/            the store: finished runs, from which the same command continues

result.json is written last, with the digests of the others.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn import _native
from sojourn.core.errors import InputError
from sojourn.core.hosts import machine
from sojourn.scenario.toml import placed
from sojourn.store.folder import claim
from sojourn.store.store import digest
from sojourn.sweeps.placed import place_in
from sojourn.user_aqm import library

if TYPE_CHECKING:
    from sojourn.sweeps.file import Sweep
    from sojourn.sweeps.result import Swept

FORMAT = 1


def save(swept: Swept, folder: Path) -> None:
    """Write the folder; it counts as finished only with its last file."""
    from sojourn.store.arrow import parquet_bytes

    own = claim(folder)
    contents = {
        "sweep.toml": _beside_scenario(swept.spec).encode(),
        "scenario.toml": swept.spec.scenario.to_toml().encode(),
        "cells.parquet": parquet_bytes(swept.cells_table()),
        "means.parquet": parquet_bytes(swept.means_table()),
        "README.md": _README.format(
            own=_OF_OWN if swept.sources else "", core=_native.core_version()
        ).encode(),
    }
    head = {
        "format": FORMAT,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "core": _native.core_version(),
        "host": machine(),
        "command": _COMMAND,
        "sweep": swept.spec.name,
        "axes": swept.axes(),
        "seeds": max(row.seed for row in swept.rows),
        "hosts": list(swept.spec.hosts),
        "asked": _asked(swept.spec),
        "files": own.write_all(contents, swept.sources),
    }
    own.write("result.json", json.dumps(head, indent=1).encode())


def _asked(spec: Sweep) -> list[str]:
    """List every cell with every algorithm and host, and with the values of a seed, as short
    digests."""
    variants = [str(variant) for variant in spec.variants] or [""]
    scenario = digest(spec.scenario.to_toml().encode())
    folder = Path(spec.source).parent
    return [
        digest(
            json.dumps(
                [scenario, placed(cell.changes, folder), aqm, host, *seed],
                sort_keys=True,
            ).encode()
        )[:16]
        for cell in spec.cells
        for aqm in variants
        for host in spec.hosts
        for seed in [[placed(of, folder)] for of in spec.by_seed] or [[]]
    ]


def check_folder(folder: Path, spec: Sweep) -> None:
    """Check that this sweep may replace the content of the folder.

    InputError: the folder holds no sweep, or one with more cells, algorithms, hosts or seeds.
    """
    claim(folder)
    other = f"name another folder: --out {folder}-2"
    if (folder / "reproduction.json").exists():
        raise InputError(f"{folder}: holds what another command made; {other}")
    try:
        head = json.loads((folder / "result.json").read_bytes())
    except (OSError, ValueError):
        return
    if "sweep" not in head:
        raise InputError(f"{folder}: holds what another command made; {other}")
    most = spec.seeds if isinstance(spec.seeds, int) else spec.seeds.at_most
    if set(head["asked"]) - set(_asked(spec)) or head["seeds"] > most:
        raise InputError(
            f"{folder}: holds a sweep that has cells, algorithms, hosts or seeds that this one has "
            f"not; ask for those too, or {other}"
        )


def _beside_scenario(spec: Sweep) -> str:
    """Write the file with its scenario beside it; paths of other files become absolute."""
    import tomlkit

    document = tomlkit.parse(spec.text.removeprefix("\ufeff"))
    document.remove("scenario")
    place_in(document, Path(spec.source).parent)
    if any(library.is_file(variant.algorithm) for variant in spec.variants):
        document["aqms"] = [str(variant) for variant in spec.variants]
    return f'scenario = "scenario.toml"\n{tomlkit.dumps(document)}'


_COMMAND = "sojourn sweep sweep.toml"
_README = """\
# A sweep of Sojourn

In this folder, this command repeats it:

    sojourn sweep sweep.toml

* `sweep.toml`, `scenario.toml`: what was asked for
* `cells.parquet`: one row for each cell, algorithm, host, queue, window and seed; the values of
  the axes are columns
* `means.parquet`: the same, means over the seeds; `_ci95` is half the width of the 95 % interval,
  `_seeds` in how many the metric was measured
* `result.json`: version, command, host, axes
{own}* `runs/`: each finished run with its scenario in full; the same command goes on here

    import pandas;  pandas.read_parquet("cells.parquet")
    import polars;  polars.read_parquet("means.parquet")

Made by Sojourn {core}.
"""
_OF_OWN = """\
* `own/`: C files of yours, as they were run, each under its name and the digest of its content
"""
