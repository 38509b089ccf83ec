# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Changes from the command line that reach queues and classes in the stages of a link's end."""

from __future__ import annotations

from pathlib import Path

import pytest
from sojourn.core.errors import InputError
from sojourn.runs.run import cases_of
from sojourn.scenario import load
from sojourn.scenario.changes import under_test
from sojourn.scenario.ends import queues_of

ENDS = Path(__file__).with_name("data") / "ends"


def ends(name: str, *aqms: str, **changes: object) -> dict[str, str]:
    """The algorithm of each queue of a file with stages."""
    [case] = cases_of(load(ENDS / f"{name}.toml"), aqms, changes)
    return {q: queue.algorithm for q, queue in queues_of(case.scenario.links).items()}


def test_an_algorithm_reaches_the_leaves_that_say_that_they_are_tested() -> None:
    before, after = ends("cable"), ends("cable", "codel")
    tested = [name for name in after if before[name] != after[name]]
    up, down = ([f"{name} {i}" for i in (1, 2, 3)] for name in ("up", "cable down/ip/af"))
    assert tested == [*(f"{name}/af" for name in up), *down]
    assert {after[name] for name in tested} == {"codel"}
    scenario = load(ENDS / "cable.toml")
    assert under_test(scenario, scenario.expand()) == tested
    assert ends("diffserv", "pie")["core/be"] == "pie"


UNTESTED = {"links.home up.end.sqm.rest.tested": False}


def test_of_several_recorded_queues_at_one_end_one_must_be_tested() -> None:
    names = "'home up/sqm/voice', 'home up/sqm/rest', 'home up/sqm/backup', 'home up/modem'"
    for changes in (UNTESTED, {**UNTESTED, "record.queues": ["home up"]}):
        with pytest.raises(InputError, match=f"none is under test: {names}; write tested = true"):
            ends("home", "pie", **changes)
    # One alone needs no word.
    alone = ends("home", "pie", **UNTESTED, **{"record.queues": ["home up/modem"]})
    assert (alone["home up/modem"], alone["home up/sqm/rest"]) == ("pie", "fq_codel")


def test_a_key_of_a_class_is_set_by_the_names_of_stage_and_class() -> None:
    changes: dict[str, object] = {
        "links.core.end.classes.be.quantum": "9 kB",
        "links.core.end.classes.bands.ef.queue.limit": 7,
        "links.core.end.line.packets": 5,
    }
    [case] = cases_of(load(ENDS / "diffserv.toml"), (), changes)
    stages = case.scenario.to_engine()["links"][0]["end"]
    assert stages[0]["bands"][1]["inner"]["classes"][2]["quantum"] == 9000
    assert stages[0]["bands"][0]["queue"] == {"algorithm": "fifo", "limit": 7}
    assert stages[1]["packets"] == 5
    with pytest.raises(InputError, match="there is no class 'eff'"):
        ends("diffserv", **{"links.core.end.classes.eff.queue.limit": 7})
    with pytest.raises(InputError, match=r"Did you mean 'links.core.end.line.packets'"):
        ends("diffserv", packets=7)
    with pytest.raises(InputError, match="there is no 'lime'"):
        ends("diffserv", **{"links.core.end.lime.packets": 7})
