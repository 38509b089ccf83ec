# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn list` and `sojourn show`: what there is, read from the core and the package data."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

from sojourn import algorithms
from sojourn.errors import InputError, nearest
from sojourn.experiment import experiments
from sojourn.scenario import Bulk, Cbr, Respawn, Tcp, Udp


def listing(what: str) -> dict[str, list[dict[str, Any]]]:
    """The lists asked for; all of them if `what` is empty."""
    makers = {"algorithms": _algorithms, "experiments": _experiments, "traffic": _traffic}
    if what and what not in makers:
        raise InputError(f"list {what}: there is no such list.{nearest(what, makers)}")
    return {name: make() for name, make in makers.items() if what in ("", name)}


def _algorithms() -> list[dict[str, Any]]:
    return [
        {
            "name": a.name,
            "brief": a.brief,
            "source": a.source,
            "ecn": a.ecn,
            "acts": list(a.acts),
        }
        for a in algorithms.algorithms().values()
    ]


def _experiments() -> list[dict[str, Any]]:
    return [{"name": e.id, "brief": e.title, "source": e.data["source"]} for e in experiments()]


def _traffic() -> list[dict[str, Any]]:
    kinds: list[tuple[str, type[BaseModel]]] = [
        ("app", Bulk),
        ("app", Respawn),
        ("app", Cbr),
        ("transport", Tcp),
        ("transport", Udp),
    ]
    return [
        {
            "name": kind.model_fields["kind"].default,
            "brief": (kind.__doc__ or "").replace("\n", " "),
            "key": key,
            "keys": [name for name in kind.model_fields if name != "kind"],
        }
        for key, kind in kinds
    ]


def print_listing(tables: dict[str, list[dict[str, Any]]]) -> None:
    """As tables."""
    console = Console()
    for title, entries in tables.items():
        table = Table(title=title, title_justify="left")
        for key in entries[0] if entries else ():
            table.add_column(key, overflow="fold")
        for entry in entries:
            table.add_row(*(_text(value) for value in entry.values()))
        console.print(table)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, list) else str(value)


def algorithm(name: str) -> dict[str, Any]:
    """Everything the core says of one algorithm."""
    found = algorithms.find(name)
    return {
        "name": found.name,
        "brief": found.brief,
        "source": found.source,
        "ecn": found.ecn,
        "acts": list(found.acts),
        "parameters": [_row(row) for row in found.params],
        "queue": [_row(row) for row in algorithms.queue_rows().values()],
        "statistics": [
            {"name": row.name, "unit": algorithms.UNITS[row.unit].label, "help": row.help}
            for row in found.stats
        ],
    }


def _row(row: algorithms.Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "default": row.write(row.default),
        "range": row.range(),
        "unit": algorithms.UNITS[row.unit].label,
        "fixed": row.fixed,
        "help": row.help,
    }


def print_algorithm(table: dict[str, Any]) -> None:
    """As tables."""
    console = Console()
    console.print(f"[bold]{table['name']}[/bold]: {table['brief']}\n{table['source']}")
    for title in ("parameters", "queue", "statistics"):
        if not table[title]:
            continue
        rows = Table(title=title, title_justify="left")
        for key in table[title][0]:
            rows.add_column(key, overflow="fold")
        for row in table[title]:
            rows.add_row(*(_text(value) for value in row.values()))
        console.print(rows)
