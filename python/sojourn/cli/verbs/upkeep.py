# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The verbs on the installation itself: `bench`, `cache`, `doctor`."""

from __future__ import annotations

from typing import Annotated

import typer

from sojourn.cli.options import Json, verbs
from sojourn.cli.output import print_json
from sojourn.core.errors import InputError

app = verbs()


@app.command()
def bench(
    quick: Annotated[bool, typer.Option("--quick", help="A short simulated time, once.")] = False,
    as_json: Json = False,
) -> None:
    """Time the engine beside ns-2, where it is installed, and browsers beside real time."""
    from sojourn.bench import measure, print_measured

    measured = measure(quick=quick)
    print_json(measured) if as_json else print_measured(measured)


@app.command()
def cache(
    clear: Annotated[
        str | None,
        typer.Option("--clear", help="Remove runs, builds or all.", show_default=False),
    ] = None,
    older_than: Annotated[
        float, typer.Option("--older-than", min=0, help="Only what is unchanged for so many days.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Show what is kept in the cache folder, or remove it; all of it can be made again."""
    from sojourn.cli import cache as kept
    from sojourn.store.store import default_root

    if clear is None and older_than:
        raise InputError("--older-than: says what --clear removes; name a part with --clear")
    if clear is not None:
        count, size = kept.clear(clear, older_than)
        if as_json:
            print_json({"removed": count, "mb": size / 1e6})
        else:
            print(f"removed {count} of {default_root().parent}, {size / 1e6:.1f} MB")
        return
    parts = kept.examine()
    if as_json:
        print_json({"folder": str(default_root().parent), "parts": parts})
        return
    from sojourn.show.tables import console, print_entries

    entries = [
        {key: f"{value:.1f}" if key == "mb" else str(value) for key, value in part.items()}
        for part in parts
    ]
    print_entries(console(), str(default_root().parent), entries)


@app.command()
def doctor(as_json: Json = False) -> int:
    """Check the installation and say what is missing."""
    from sojourn.cli import doctor as checks

    found = checks.examine()
    print_json({"checks": found}) if as_json else checks.print_found(found)
    return 0 if all(check["ok"] or not check["needed"] for check in found) else 3
