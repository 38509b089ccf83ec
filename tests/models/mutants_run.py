# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Do the tests notice when one operator, constant, statement or condition of the core is changed?

`python -m tests.models.mutants_run` tries the mutants of each file of the core: those of an
algorithm or a law beside its model and by its own tests in C (mutants_algorithms.py), those of the
queue's headers by the queue's tests in C and by the model of flow queueing (mutants_headers.py). A
mutant that nothing notices must be listed, with the reason, in models/survivors.toml.

Results go to models/mutants.digest.toml, an entry for each file. An entry covers the file and what
it includes, the tests that are to notice and what they are made of; while none of these changes, it
is fresh and its mutants are not tried again. It does not cover the rest of the core: what is not
mutated passes its own tests in every `make test`, so the same cases bring a file the same calls.
A header's entry lists the tests in C, and stays fresh when there are more of them: more tests
notice no fewer mutants.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from typing import Any

from tests.models.digest import LICENCE
from tests.models.library import BUILD, ROOT, core
from tests.models.mutants_algorithms import algorithm_subjects
from tests.models.mutants_headers import header_subjects
from tests.models.mutate import Mutant, Subject

SURVIVORS = ROOT / "models" / "survivors.toml"
DIGESTS = ROOT / "models" / "mutants.digest.toml"
MADE_BY = "make mutants"
Key = tuple[str, str, str, int]
Entry = dict[str, Any]


def subjects() -> dict[str, Subject]:
    """All files of the core that are mutated, by name."""
    return {subject.file: subject for subject in (*algorithm_subjects(), *header_subjects())}


def reasons() -> dict[Key, dict[str, str]]:
    """Listed survivors."""
    listed = tomllib.loads(SURVIVORS.read_text()).get("survivor", [])
    return {(s["file"], s["line"], s["change"], s.get("nth", 1)): s for s in listed}


def digests() -> dict[str, Entry]:
    """Kept results, by file."""
    return tomllib.loads(DIGESTS.read_text()) if DIGESTS.exists() else {}


def hash_of_keys(keys: Iterable[Key]) -> str:
    """Of those that nothing notices; their reasons may be worded anew."""
    return hashlib.sha256(repr(sorted(keys)).encode()).hexdigest()


def is_fresh(subject: Subject, entry: Entry | None, listed: Iterable[Key]) -> bool:
    """Does a kept result belong to this tree?"""
    if entry is None or entry["covers"] != subject.covers():
        return False
    if not set(entry.get("tests", [])) <= set(subject.tests()):
        return False
    return bool(entry["unnoticed"] == hash_of_keys(k for k in listed if k[0] == subject.file))


def stale() -> list[str]:
    """Files whose mutants have to be tried again."""
    kept, listed = digests(), reasons()
    return [f for f, subject in subjects().items() if not is_fresh(subject, kept.get(f), listed)]


def tried(subject: Subject) -> tuple[Counter[str], list[Mutant], float]:
    """Outcomes and the time that they took; kept, so that reasons can be written meanwhile."""
    kept = BUILD / "mutants" / f"{re.sub(r'[^a-z0-9]', '-', subject.file)}.json"
    covers = subject.covers()
    if kept.exists():
        old = json.loads(kept.read_text())
        if old["covers"] == covers and set(old["tests"]) <= set(subject.tests()):
            return Counter(old["count"]), [Mutant(**m) for m in old["unnoticed"]], old["seconds"]
    began = time.monotonic()
    count, unnoticed = subject.try_all()
    seconds = time.monotonic() - began
    found = {
        "covers": covers,
        "tests": subject.tests(),
        "count": count,
        "unnoticed": [asdict(m) for m in unnoticed],
        "seconds": seconds,
    }
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(found))
    return count, unnoticed, seconds


def try_file(file: str) -> str:
    """In a process of its own, which leaves its results for `tried` to find."""
    tried(subjects()[file])
    return file


def try_files(files: list[str]) -> Iterator[str]:
    """A file for each processor at a time; each comes in its turn, when it is done."""
    core()  # built once, for all
    with ProcessPoolExecutor() as pool:
        yield from pool.map(try_file, files)


def judge(subject: Subject, listed: dict[Key, dict[str, str]]) -> Entry | None:
    """Try the mutants of a file; its entry, if just those that nothing notices are listed."""
    count, unnoticed, seconds = tried(subject)
    mine = {key: entry for key, entry in listed.items() if key[0] == subject.file}
    for mutant in unnoticed:
        known = mine.get(mutant.key)
        count["unlisted" if known is None else known.get("kind", "survived")] += 1
        if known is None:
            print_entry(mutant)
    gone = mine.keys() - {mutant.key for mutant in unnoticed}
    print(f"# {subject.file}: {listing(count)}, {seconds:.0f} s", flush=True)
    for key in sorted(gone):
        print(f"# listed, but noticed or no longer there: {key}")
    if count["unlisted"] or gone:
        return None
    head = ["git", "rev-parse", "HEAD"]
    commit = subprocess.run(head, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {
        "covers": subject.covers(),
        "tests": subject.tests(),
        "unnoticed": hash_of_keys(mine),
        "commit": commit.strip(),
        "seconds": round(seconds),
        **dict(sorted(count.items())),
    }


def write(kept: dict[str, Entry]) -> None:
    """Of the files that there are."""
    text = f"{LICENCE}# Made by `{MADE_BY}`.\n"
    for file in sorted(kept.keys() & subjects().keys()):
        rows = (f'"{name}" = {json.dumps(value)}' for name, value in kept[file].items())
        text += f'\n["{file}"]\n' + "\n".join(rows) + "\n"
    DIGESTS.write_text(text)


def print_entry(mutant: Mutant) -> None:
    """A survivor as it would be listed."""
    nth = f"nth = {mutant.nth}\n" if mutant.nth > 1 else ""
    line = mutant.text.replace("\\", "\\\\").replace('"', '\\"')
    print(f'[[survivor]] # {mutant.file}:{mutant.line}\nfile = "{mutant.file}"\nline = "{line}"')
    print(f'change = "{mutant.change}"\n{nth}reason = ""\n')


def listing(count: Counter[str]) -> str:
    """Numbers with their names."""
    return ", ".join(f"{n} {what}" for what, n in sorted(count.items()))


def main() -> int:
    """Try what is stale, compare with the list of survivors, keep each result at once."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="*", help="only these, fresh or not, as codel.c law/pie.h")
    parser.add_argument("--check", action="store_true", help="only name the stale ones")
    options = parser.parse_args()
    all_of_them, listed = subjects(), reasons()
    if options.check:
        old = stale()
        print(f"stale: {', '.join(old)}: run `{MADE_BY}`" if old else "fresh")
        return int(bool(old))
    failures = [f"# {key}: of no file" for key in listed if key[0] not in all_of_them]
    print(*failures, sep="\n", end="\n" if failures else "")
    for file in try_files(options.files or stale()):
        entry = judge(all_of_them[file], listed)
        if entry is None:
            failures.append(file)
        else:
            write(digests() | {file: entry})
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
