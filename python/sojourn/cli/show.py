# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn list` and `sojourn show`: tables of everything known, read from the core and package
data."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.cli import options
from sojourn.cli.options import Json, print_json, verbs
from sojourn.core.errors import InputError, nearest

if TYPE_CHECKING:
    from pydantic import BaseModel

    from sojourn.algorithms import Preset
    from sojourn.core.rows import Row
    from sojourn.scenario import Scenario
    from sojourn.scenario.flows import TcpPreset
    from sojourn.scenario.variant import Variant

app = verbs()


def _lists() -> dict[str, Callable[[], list[dict[str, Any]]]]:
    """Return a function for each list, by its name."""
    from sojourn import algorithms
    from sojourn.papers.experiment import experiments
    from sojourn.scenario import Tcp, Udp
    from sojourn.scenario.flows import KINDS, tcp_presets
    from sojourn.scenario.known import known_scenarios

    def entry(name: str, brief: str, source: str) -> dict[str, Any]:
        return {"name": name, "brief": brief, "source": source}

    def traffic(key: str, kind: type[BaseModel]) -> dict[str, Any]:
        return {
            "name": kind.model_fields["kind"].default,
            "brief": (kind.__doc__ or "").replace("\n", " "),
            "key": key,
            "keys": [name for name in kind.model_fields if name != "kind"],
        }

    return {
        "algorithms": lambda: [
            entry(a.name, a.brief, a.source)
            | {"ecn": a.ecn, "acts": list(a.acts), "hosts": list(a.hosts)}
            for a in algorithms.every().values()
        ],
        "presets": lambda: [
            entry(p.spec, p.about, p.source) for p in algorithms.presets().values()
        ],
        "tcp": lambda: [entry(p.name, p.about, p.source) for p in tcp_presets().values()],
        "experiments": lambda: [entry(e.id, e.title, e.data["source"]) for e in experiments()],
        "scenarios": lambda: [entry(s.name, s.about, s.source) for s in known_scenarios().values()],
        "traffic": lambda: [
            *(traffic("app", kind) for kind in KINDS.values()),
            *(traffic("transport", kind) for kind in (Tcp, Udp)),
        ],
    }


def _complete_list(incomplete: str) -> list[str]:
    return options.one_of(_lists())(incomplete)


@app.command("list")
def list_(
    what: Annotated[
        str,
        typer.Argument(
            help="algorithms, presets, tcp, experiments, scenarios or traffic",
            autocompletion=_complete_list,
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """List algorithms, presets of them and of TCP, experiments, scenarios and kinds of traffic."""
    from sojourn.show.tables import console, print_entries, print_line

    tables = listing(what)
    if as_json:
        print_json(tables)
        return
    if not what:
        counts = ", ".join(f"{len(entries)} {title}" for title, entries in tables.items())
        print_line(console(), f"{counts}; `sojourn list algorithms` prints these alone")
    for title, entries in tables.items():
        rows = [{key: _text(value) for key, value in entry.items()} for entry in entries]
        print_entries(console(), title, rows)


def listing(what: str) -> dict[str, list[dict[str, Any]]]:
    """Return the list of this name, or all of them if `what` is empty; InputError for an unknown
    one."""
    lists = _lists()
    if what and what not in lists:
        shown = ""
        for kind, list_of in lists.items():
            if what in (entry["name"] for entry in list_of()):
                word = "show --network" if kind in ("scenarios", "experiments") else "show"
                shown = f" `sojourn {word} {what}` shows it."
        raise InputError(f"list {what}: there is no such list.{shown or nearest(what, lists)}")
    return {name: entries() for name, entries in lists.items() if what in ("", name)}


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, list) else str(value)


def _complete_network(incomplete: str) -> list[str]:
    return options.scenarios(incomplete) + options.experiments(incomplete)


@app.command("show")
def show_(
    algorithm: Annotated[
        str | None,
        typer.Argument(
            help="An algorithm, a preset (of TCP too) or a C file; with --tc also a scenario.",
            autocompletion=options.aqms,
        ),
    ] = None,
    expand: Annotated[
        Path | None, typer.Option("--expand", help="A scenario to write out.")
    ] = None,
    network: Annotated[
        str | None,
        typer.Option(
            "--network",
            help="A scenario to draw: a file, or the name of a known one or of an experiment.",
            autocompletion=_complete_network,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Of --network: a picture (.svg) or a page (.html)."),
    ] = None,
    tc: Annotated[
        bool,
        typer.Option(
            "--tc",
            help="Its words for tc: what is not as by default; of a scenario, the commands for its "
            "queues.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Show an algorithm's parameters or a preset, a scenario with its shorthand written out, or the
    picture of its network."""
    if [algorithm, expand, network].count(None) != 2:
        raise InputError(
            "show one of the three: an algorithm, or --expand SCENARIO.toml, "
            "or --network SCENARIO.toml"
        )
    if tc and algorithm is None:
        raise InputError("--tc: an algorithm is wanted before it")
    if out and network is None:
        raise InputError("--out: only a picture is written to a file: add --network SCENARIO.toml")
    if network is not None:
        _show_network(network, out, as_json=as_json)
    elif expand:
        from sojourn.scenario import load

        graph = load(expand).expand()
        print_json(graph.to_engine()) if as_json else print(graph.to_toml(), end="")
    elif algorithm is not None and tc:
        from sojourn.linux import typed

        if algorithm.endswith(".toml"):
            words, command = tc_commands(algorithm), ""
        else:
            words, command = typed.words(algorithm), "tc qdisc replace dev DEV root "
        print_json({"tc": words}) if as_json else print(command + words.rstrip("\n"))
    elif algorithm is not None and algorithm.endswith(".toml"):
        from sojourn.scenario.known import remedy

        if not Path(algorithm).exists():
            raise InputError(f"show {algorithm}: there is no such file; {remedy(algorithm)}")
        raise InputError(
            f"show {algorithm}: is a scenario: add --expand or --network before it, or --tc"
        )
    elif algorithm is not None:
        description = table(algorithm)
        print_json(description) if as_json else _print(description)


def _show_network(name: str, out: Path | None, *, as_json: bool) -> None:
    """Print the network, or write its picture."""
    from dataclasses import asdict

    from sojourn.show import network, network_page

    scenario = find_scenario(name)
    if out:
        network_page.write(scenario, out)
        print_json({"files": [str(out)]}) if as_json else print(out)
        return
    found = network_page.of_scenario(scenario)
    if as_json:
        # A trailing underscore keeps a field apart from a word of Python.
        print_json(asdict(found, dict_factory=lambda pairs: {k.rstrip("_"): v for k, v in pairs}))
    else:
        print(network.text(found), end="")


def find_scenario(name: str) -> Scenario:
    """Load the scenario of a known name, of an experiment, or in a file."""
    from sojourn.papers.experiment import experiments
    from sojourn.scenario import load
    from sojourn.scenario.known import KNOWN, known_scenarios

    known = known_scenarios()
    if name in known:
        return load(KNOWN / f"{name}.toml")
    by_id = {experiment.id: experiment for experiment in experiments()}
    if name in by_id:
        return by_id[name].scenario
    if not name.endswith(".toml") and not Path(name).exists():
        meant = nearest(name, [*known, *by_id])
        raise InputError(f"--network {name}: there is no such scenario, and no such file.{meant}")
    return load(Path(name))


def table(text: str) -> dict[str, Any]:
    """Describe an algorithm, a TCP preset, a kind of traffic, or the choice of `--aqm`:
    'red@ns2:limit=100'. InputError for parameters without a preset."""
    from sojourn.scenario import variant
    from sojourn.scenario.flows import KINDS, find_tcp, range_text, tcp_presets, write_number

    if text in tcp_presets():
        return _tcp_data(find_tcp(text))
    if text in KINDS:
        kind = KINDS[text].table
        return {
            "name": kind["name"],
            "brief": kind["help"],
            "source": f"over {' or '.join(kind['transports'])}",
            "keys": [
                {
                    "name": key["name"],
                    "default": write_number(key, key["default"]),
                    "range": range_text(key),
                    "help": key["help"],
                }
                for key in kind["keys"]
            ],
        }
    chosen = variant.read(text, by="show")
    if chosen.preset:
        return _preset_data(chosen, chosen.preset)
    if chosen.rows:
        raise InputError(f"show {text}: parameters are shown behind a preset, or with --tc")
    return algorithm(chosen.algorithm)


def _preset_data(chosen: Variant, preset: Preset) -> dict[str, Any]:
    from sojourn import algorithms

    known, sources = algorithms.rows_of(chosen.algorithm), preset.sources()
    return {
        "name": str(chosen),
        "algorithm": chosen.algorithm,
        "brief": preset.about,
        "source": preset.source,
        "rows": [
            {
                "name": key,
                "value": known[key].write(known[key].read(value)),
                "default": known[key].write(known[key].default),
                "source": "as given" if key in chosen.rows else sources[key],
            }
            for key, value in chosen.all_rows.items()
        ],
        "differs": list(preset.differs),
    }


def _tcp_data(preset: TcpPreset) -> dict[str, Any]:
    """List every switch, with the source of each that differs from its default."""
    from sojourn.scenario.checks import tcp_options

    sources = preset.sources()
    known = {key: value for key, value in tcp_options().items() if key not in ("ecn", "ect1")}
    values = {**known, "cc": preset.cc, **preset.options}
    return {
        "name": preset.name,
        "brief": preset.about,
        "source": preset.source,
        "options": [
            {"name": key, "value": value, "source": sources.get(key, "as by default")}
            for key, value in sorted(values.items(), key=lambda item: item[0] not in sources)
        ],
        "differs": list(preset.differs),
    }


def tc_commands(name: str) -> str:
    """Write the commands for the queues of a scenario."""
    from sojourn.linux import refusals, typed
    from sojourn.scenario.engine import to_engine

    data = to_engine(find_scenario(name).expand(), "linux")
    refusals.check(data)
    return typed.commands(data)


def algorithm(name: str) -> dict[str, Any]:
    """Return all that the core has on one algorithm."""
    from sojourn import algorithms
    from sojourn.core.rows import UNITS

    def entry(row: Row) -> dict[str, Any]:
        return {
            "name": row.name,
            "default": row.write(row.default),
            "range": row.range(),
            "unit": UNITS[row.unit].label,
            "fixed": row.fixed,
            "help": row.help,
        }

    known = algorithms.find(name)
    return {
        "name": algorithms.shown_names([name])[name],
        "brief": known.brief,
        "source": known.source,
        "files": _files(known.name),
        "ecn": known.ecn,
        "acts": list(known.acts),
        "presets": [p.spec for p in algorithms.presets_of(known.name)],
        "parameters": [entry(row) for row in known.params],
        "queue": [entry(row) for row in known.queue],
        "statistics": [
            {"name": row.name, "unit": UNITS[row.unit].label, "help": row.help}
            for row in known.stats
        ],
    }


def _files(name: str) -> list[str]:
    """List the C file of one of ours, and the headers of laws that it includes; of others none."""
    from sojourn.user_aqm.compiler import sources

    root = sources().resolve()
    files = [file for file in [root / "algorithms" / f"{name}.c"] if file.exists()]
    for file in files:  # grows meanwhile
        for part in re.findall(r'^#include "(.+)"', file.read_text(encoding="utf-8"), re.MULTILINE):
            law = next(p for at in (file.parent, root) if (p := (at / part).resolve()).exists())
            if law.parent.name == "law" and law not in files:
                files.append(law)
    return [f"aqm/{file.relative_to(root)}" for file in files]


def _print(description: dict[str, Any]) -> None:
    from sojourn.show.tables import console, print_entries

    out = console()
    head = "{name}: {brief}\n{source}".format_map(description)
    out.print(head, markup=False)
    for title in ("keys", "rows", "options", "parameters", "queue", "statistics"):
        if rows := description.get(title):
            print_entries(out, title, [_cells(row, out.width) for row in rows])
    lists = {
        "files": [", ".join(description["files"])] if description.get("files") else [],
        "differs": [f"- {text}" for text in description.get("differs", ())],
        "presets": [", ".join(description["presets"])] if description.get("presets") else [],
    }
    for title, lines in lists.items():
        if lines:
            out.print("\n".join([f"{title}:", *lines]), markup=False, highlight=False)


# Below this width each end of a range has a line, and the help names units that values lack.
_WIDE = 120
_UNWRITTEN = ("packets", "share", "log2")


def _cells(row: dict[str, Any], width: int) -> dict[str, str]:
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
