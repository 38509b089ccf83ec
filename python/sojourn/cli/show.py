# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn list` and `sojourn show`: tables of everything known, read from the core and package
data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.cli import options
from sojourn.cli.options import Json, print_json, verbs
from sojourn.core.errors import InputError, nearest

if TYPE_CHECKING:
    from pydantic import BaseModel

    from sojourn.core.rows import Row
    from sojourn.preset import Preset
    from sojourn.scenario.apps import Sent
    from sojourn.scenario.tcp_preset import TcpPreset
    from sojourn.scenario.variant import Variant

app = verbs()


@app.command("list")
def list_(
    what: Annotated[
        str,
        typer.Argument(
            help="algorithms, presets, tcp, experiments, scenarios or traffic",
            autocompletion=options.lists,
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """List algorithms, presets of them and of TCP, experiments, scenarios and kinds of traffic."""
    tables = listing(what)
    print_json(tables) if as_json else print_listing(tables)


@app.command("show")
def show_(
    algorithm: Annotated[
        str | None,
        typer.Argument(
            help="An algorithm, a preset (of TCP too) or a C file.", autocompletion=options.aqms
        ),
    ] = None,
    expand: Annotated[
        Path | None, typer.Option("--expand", help="A scenario to write out.")
    ] = None,
    tc: Annotated[
        bool, typer.Option("--tc", help="Its words for tc: what is not as by default.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show an algorithm's parameters or a preset, or a scenario with its shorthand written out."""
    if (algorithm is None) == (expand is None):
        raise InputError("show one of the two: an algorithm, or --expand SCENARIO.toml")
    if expand and tc:
        raise InputError("--tc: an algorithm is wanted before it")
    if expand:
        from sojourn.scenario import load

        graph = load(expand).expand()
        print_json(graph.to_engine()) if as_json else print(graph.to_toml(), end="")
    elif algorithm is not None and tc:
        words = tc_words(algorithm)
        print_json({"tc": words}) if as_json else print(words)
    elif algorithm is not None:
        description = table(algorithm)
        print_json(description) if as_json else print_table(description)


def listing(what: str) -> dict[str, list[dict[str, Any]]]:
    """Return the list asked for, or all of them if `what` is empty; InputError for an unknown
    one."""
    makers = {
        "algorithms": _algorithms,
        "presets": _presets,
        "tcp": _tcp,
        "experiments": _experiments,
        "scenarios": _scenarios,
        "traffic": _traffic,
    }
    if what and what not in makers:
        raise InputError(f"list {what}: there is no such list.{nearest(what, makers)}")
    return {name: make() for name, make in makers.items() if what in ("", name)}


def _algorithms() -> list[dict[str, Any]]:
    from sojourn import algorithms

    return [
        {
            "name": a.name,
            "brief": a.brief,
            "source": a.source,
            "ecn": a.ecn,
            "acts": list(a.acts),
            "hosts": list(a.hosts),
        }
        for a in algorithms.every().values()
    ]


def _presets() -> list[dict[str, Any]]:
    from sojourn import preset

    return [
        {"name": p.spec, "brief": p.about, "source": p.source} for p in preset.presets().values()
    ]


def _tcp() -> list[dict[str, Any]]:
    from sojourn.scenario import tcp_preset

    found = tcp_preset.tcp_presets().values()
    return [{"name": p.name, "brief": p.about, "source": p.source} for p in found]


def _experiments() -> list[dict[str, Any]]:
    from sojourn.papers.experiment import experiments

    return [{"name": e.id, "brief": e.title, "source": e.data["source"]} for e in experiments()]


def _scenarios() -> list[dict[str, Any]]:
    from sojourn.scenario import known_scenario

    found = known_scenario.known_scenarios().values()
    return [{"name": s.name, "brief": s.about, "source": s.source} for s in found]


def _traffic() -> list[dict[str, Any]]:
    from sojourn.scenario import Tcp, Udp
    from sojourn.scenario.apps import KINDS

    kinds: list[tuple[str, type[BaseModel]]] = [
        *(("app", kind) for kind in KINDS.values()),
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
    """Print the lists as tables."""
    from sojourn.show.tables import console, print_entries

    out = console()
    for title, entries in tables.items():
        print_entries(out, title, [{k: _text(v) for k, v in entry.items()} for entry in entries])


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, list) else str(value)


def table(text: str) -> dict[str, Any]:
    """Describe an algorithm, a TCP preset, a kind of traffic, or the choice of `--aqm`:
    'red@ns2:limit=100'. InputError for parameters without a preset."""
    from sojourn.scenario import tcp_preset, variant
    from sojourn.scenario.apps import KINDS

    if text in tcp_preset.tcp_presets():
        return _of_tcp(tcp_preset.find(text))
    if text in KINDS:
        return _of_traffic(KINDS[text])
    chosen = variant.read(text, by="show")
    if chosen.preset:
        return _preset(chosen, chosen.preset)
    if chosen.rows:
        raise InputError(f"show {text}: parameters are shown behind a preset, or with --tc")
    return algorithm(chosen.algorithm)


def _preset(chosen: Variant, of: Preset) -> dict[str, Any]:
    from sojourn import algorithms

    known, sources = algorithms.rows_of(chosen.algorithm), of.sources()
    return {
        "name": str(chosen),
        "algorithm": chosen.algorithm,
        "brief": of.about,
        "source": of.source,
        "rows": [
            {
                "name": key,
                "value": known[key].write(known[key].read(value)),
                "default": known[key].write(known[key].default),
                "source": "as given" if key in chosen.rows else sources[key],
            }
            for key, value in chosen.all_rows.items()
        ],
        "differs": list(of.differs),
    }


def _of_tcp(of: TcpPreset) -> dict[str, Any]:
    """List every switch, with the source of each that differs from its default."""
    from sojourn.scenario.checks import tcp_options

    sources = of.sources()
    known = {key: value for key, value in tcp_options().items() if key not in ("ecn", "ect1")}
    values = {**known, "cc": of.cc, **of.options}
    return {
        "name": of.name,
        "brief": of.about,
        "source": of.source,
        "options": [
            {"name": key, "value": value, "source": sources.get(key, "as by default")}
            for key, value in sorted(values.items(), key=lambda item: item[0] not in sources)
        ],
        "differs": list(of.differs),
    }


def tc_words(text: str) -> str:
    """Write the words behind `tc qdisc add dev DEV root` for the choice of `--aqm`."""
    from sojourn import algorithms
    from sojourn.linux import qdiscs
    from sojourn.scenario import variant

    chosen = variant.read(text, by="show")
    rows = algorithms.read_rows(chosen.algorithm, chosen.all_rows)
    found = algorithms.find(chosen.algorithm)
    if found.alone:
        return qdiscs.leaf_words({"algorithm": found.name, "rows": rows})
    return qdiscs.own_words(found, rows)


def algorithm(name: str) -> dict[str, Any]:
    """Return all that the core has on one algorithm."""
    from sojourn import algorithms, preset
    from sojourn.core.rows import UNITS

    found = algorithms.find(name)
    return {
        "name": algorithms.shown_names([name])[name],
        "brief": found.brief,
        "source": found.source,
        "ecn": found.ecn,
        "acts": list(found.acts),
        "presets": [p.spec for p in preset.of(found.name)],
        "parameters": [_row(row) for row in found.params],
        "queue": [_row(row) for row in found.queue],
        "statistics": [
            {"name": row.name, "unit": UNITS[row.unit].label, "help": row.help}
            for row in found.stats
        ],
    }


def _row(row: Row) -> dict[str, Any]:
    from sojourn.core.rows import UNITS

    return {
        "name": row.name,
        "default": row.write(row.default),
        "range": row.range(),
        "unit": UNITS[row.unit].label,
        "fixed": row.fixed,
        "help": row.help,
    }


def _of_traffic(kind: type[Sent]) -> dict[str, Any]:
    from sojourn.scenario.apps import ends, written

    return {
        "name": kind.table["name"],
        "brief": kind.table["help"],
        "source": f"over {' or '.join(kind.table['transports'])}",
        "keys": [
            {"name": key["name"], "default": written(key, key["default"]), "range": ends(key)}
            | {"help": key["help"]}
            for key in kind.table["keys"]
        ],
    }


def print_table(table: dict[str, Any]) -> None:
    """Print a description with its tables."""
    from sojourn.show.tables import console, print_entries

    out = console()
    out.print(f"{table['name']}: {table['brief']}\n{table['source']}", markup=False)
    for title in ("keys", "rows", "options", "parameters", "queue", "statistics"):
        if table.get(title):
            print_entries(out, title, [_entry(row, out.width) for row in table[title]])
    for title, texts in (("differs", table.get("differs")), ("presets", table.get("presets"))):
        if texts:
            lines = [", ".join(texts)] if title == "presets" else [f"- {text}" for text in texts]
            out.print("\n".join([f"{title}:", *lines]), markup=False, highlight=False)


# Below this width each end of a range has a line, and the help names units that values lack.
_WIDE = 120
_UNWRITTEN = ("packets", "share", "log2")


def _entry(row: dict[str, Any], width: int) -> dict[str, str]:
    # A value can be typed as it is shown: true, not yes.
    entry = {
        key: str(value).lower() if isinstance(value, bool) else _text(value)
        for key, value in row.items()
        if key != "fixed"
    }
    if row.get("fixed"):
        entry["help"] += " (fixed once the queue is made)"
    if "range" in entry and width < _WIDE:
        unit = entry.pop("unit", "")
        entry["help"] += f" ({unit})" if unit in _UNWRITTEN else ""
        entry["range"] = entry["range"].replace(" to ", "\nto ").replace(" or ", "\nor ")
    return entry
