# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Make a stand-alone qdisc of one algorithm, for who wants to send it to the kernel's own list.

The files are made from the C that every other host compiles: the algorithm with what it includes
(c.py), in linux/export/sch.c, with the lines of its rows (rows.py), in the kernel's layout
(layout.py). One that probes has the module's senders and hearers too (probes.py). Cases for the
kernel's test driver come with it (cases.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sojourn.algorithms import Algorithm, algorithms
from sojourn.core.algorithm import STOCK
from sojourn.core.errors import InputError, nearest
from sojourn.core.files import refuse_others
from sojourn.linux.export import c, cases, layout, probes, rows
from sojourn.linux.uml.module import CORE, SOURCES, TC
from sojourn.store.store import write_errors, write_whole
from sojourn.user_aqm.library import is_file

_INTERFACE = "aqm/aqm.h"
# REUSE-IgnoreStart
_LICENCE = "SPDX-License-Identifier: MIT OR GPL-2.0-only"
# REUSE-IgnoreEnd
# The first with all that the file uses: MODULE_ALIAS_NET_SCH came last.
LEAST_KERNEL = (6, 9)
LEAST = f"Linux {'.'.join(map(str, LEAST_KERNEL))} or newer: MODULE_ALIAS_NET_SCH"
TEMPLATES = (SOURCES / "linux/export").resolve()
_CALLS = ["check", "configure", "start", "enqueue", "overflow", "dequeue", "empty", "gone", "tick"]
_CALLS += ["echo"]
_TABLE = re.compile(r"^const struct aqm_algo aqm_(\w+) = \{\n(.*?)\n\};", re.M | re.S)
_BODY = re.compile(r"^(?:struct|enum) .*?^\};", re.M | re.S)
_WORDS = re.compile(r"^static const char \*const \w+\[\] = [^;]*;\n?", re.M)
_ROWS = re.compile(r"^static const struct aqm_field \w+\[\] = \{", re.M)


@dataclass(frozen=True)
class Exported:
    """The text of each file, by its name."""

    files: dict[str, str]

    def write(self, folder: Path) -> list[Path]:
        """Write each file whole; return their paths. InputError: one is there with other content,
        and none was written. StoreError: one cannot be written."""
        texts = {folder / name: text.encode() for name, text in self.files.items()}
        refuse_others(texts, "name another folder with --out")
        with write_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            write_whole(path, text)
        return list(texts)


@dataclass(frozen=True)
class Parts:
    """An algorithm's C: its sources, the functions of its calls, its two structs."""

    sources: list[c.Source]
    probing: list[c.Source]  # the senders and hearers of its probes
    calls: dict[str, str]
    conf: str
    state: str
    rows: rows.Rows


def export(name: str) -> Exported:
    """Make the qdisc, the plugin of tc for it, and the cases of tdc."""
    algorithm = _find(name)
    parts = _parts(algorithm)
    return Exported(
        {
            f"sch_{name}.c": layout.kernel(_qdisc(algorithm, parts)),
            f"q_{name}.c": layout.kernel(_plugin(algorithm)),
            "Makefile": f"# {_LICENCE}\n# {LEAST}.\nobj-m := sch_{name}.o\n",
            f"{name}.json": json.dumps(cases.cases(algorithm), indent=4) + "\n",
        }
    )


def _find(name: str) -> Algorithm:
    if is_file(name):
        raise InputError(
            f"{name}: is a file; export takes an algorithm of `sojourn list algorithms`, and "
            "CONTRIBUTING.md in the checkout has the steps by which a C file becomes one"
        )
    if name not in algorithms():
        raise InputError(f"unknown algorithm '{name}'.{nearest(name, algorithms())}")
    algorithm = algorithms()[name]
    if why := _refusal(algorithm):
        raise InputError(f"{name}: {why}")
    return algorithm


def _refusal(algorithm: Algorithm) -> str:
    """Name the part of the module that the stand-alone file would lack."""
    text = (CORE / f"algorithms/{algorithm.name}.c").read_text()
    sources = (s for s in _sources(algorithm.name, set()) if s.file != _INTERFACE)
    own = "".join(piece.text for source in sources for piece in source.pieces)
    if f"kernel:{algorithm.name}" in STOCK:
        return "the kernel has a qdisc of this name already"
    if ".queues = 1," not in text:
        return "it has several queues, and a stand-alone file has one"
    if "victim" in own:
        return "it names victims in the queue, and a stand-alone file has none of these"
    return ""


def _sources(name: str, seen: set[Path]) -> list[c.Source]:
    """List the algorithm's file behind all that it includes, and behind what the template uses."""
    files = [CORE / "aqm.h", CORE / "setup.h", CORE / "rng.h", CORE / f"algorithms/{name}.c"]
    return [source for file in files for source in c.with_included(file, seen)]


def _parts(algorithm: Algorithm) -> Parts:
    seen: set[Path] = set()
    sources = _sources(algorithm.name, seen)
    whole = "\n\n".join(piece.text for source in sources for piece in source.pieces)
    table = _TABLE.search(whole)
    if table is None:
        raise InputError(f"{algorithm.name}: its table of calls is not in its own file")
    calls = dict(re.findall(r"\.(\w+) = (\w+),", table[2]))
    sizes = dict(re.findall(r"\.(conf|state)_bytes = sizeof\(struct (\w+)\)", table[2]))
    left = [replace(s, pieces=tuple(map(_without_tables, s.pieces))) for s in sources]
    conf, state = sizes.get("conf", ""), sizes.get("state", "")
    if not conf or not state:
        raise InputError(f"{algorithm.name}: it has no rows or no state, so nothing to export")
    probing = probes.sources(seen) if algorithm.probes else []
    return Parts(left, probing, calls, conf, state, rows.read(algorithm, whole))


def _without_tables(piece: c.Piece) -> c.Piece:
    """Rows and words of choices are for the module and its tc; a kernel's qdisc has neither."""
    if _TABLE.search(piece.text) or _ROWS.search(piece.text):
        return c.Piece("", frozenset())
    return replace(piece, text=_WORDS.sub("", piece.text).rstrip("\n"))


def _qdisc(algorithm: Algorithm, parts: Parts) -> str:
    template = (TEMPLATES / "sch.c").read_text()
    limit, ecn, *_ = rows.options(algorithm)
    known = {f"EXPORT_{call.upper()}": call in parts.calls for call in _CALLS}
    known["EXPORT_SAMPLES"] = algorithm.samples
    known["EXPORT_RATE"] = algorithm.needs_rate
    loses = "dequeue" in algorithm.acts
    known["EXPORT_HEAD"] = loses
    known["EXPORT_OFFERS"] = algorithm.probes or known["EXPORT_DEQUEUE"]
    known["EXPORT_NEXT"] = loses or known["EXPORT_EMPTY"]
    known["EXPORT_DESTROY"] = algorithm.samples or algorithm.probes or loses
    known["EXPORT_RESET"] = algorithm.probes or loses
    known["EXPORT_REFUSES"] = algorithm.samples or known["EXPORT_CHECK"]
    known["EXPORT_FIXED"] = any(row.fixed for row in algorithm.params)
    known["EXPORT_FLOW"] = any("k.flow" in p.text for s in parts.sources for p in s.pieces)
    text = c.chosen(template[template.index("#include") :], known)
    text = _filled(text, parts.rows.lines())
    numbers = {"LIMIT_MAX": limit.max, "LIMIT": limit.default}
    words = {"ECN": ecn.default, "NAME": algorithm.name, "BRIEF": algorithm.brief.capitalize()}
    for word, value in (numbers | words).items():
        text = re.sub(rf"\bEXPORT_{word}\b", str(value), text)
    text = re.sub(r"\bcall_(\w+)\(", lambda found: f"{parts.calls[found[1]]}(", text)
    text = re.sub(r"\bstruct aqm_conf\b", f"struct {parts.conf}", text)
    text = re.sub(r"\bstruct aqm_state\b", f"struct {parts.state}", text)
    return _head(algorithm, parts) + _own_names(algorithm.name, text, parts)


def _filled(text: str, lines: Mapping[str, str]) -> str:
    """Put lines in the place of the comments that name them."""
    for mark, put in lines.items():
        before, comment, after = text.partition(f"/* EXPORT: {mark} */\n")
        text = before.rstrip("\t ") + put + after if comment else before
    return text


def _head(algorithm: Algorithm, parts: Parts) -> str:
    about = parts.sources[-1].about
    lines = [f"{algorithm.name.upper()}: {algorithm.source}", "", *about.splitlines()]
    lines += ["", f"{LEAST}."]
    comment = "\n".join(f" * {line}".rstrip() for line in lines)
    return f"// {_LICENCE}\n/*\n{comment}\n */\n\n"


def _own_names(name: str, text: str, parts: Parts) -> str:
    """Put the sources that the text uses in their place, and give all names the algorithm's own."""
    sources = c.needed([*parts.sources, *parts.probing], _uses(text))
    text = _filled(text, {"includes": _includes(text, sources)})
    slim = [_slim(source, sources, text) for source in sources]
    sources = c.needed(slim, _uses(text))
    first = [source for source in sources if not _is_probing(source)]
    sources = [*first, *probes.ordered(filter(_is_probing, sources))]
    code = "\n\n".join(block for source in sources for block in _blocks(source))
    code = re.sub(r"^\t+\(void\)\w+(?:, \(void\)\w+)*;\n", "", code, flags=re.M).replace(
        "static inline ", "static "
    )
    code = code.replace(" Names: aqm_why_name().", "")  # the module's alone
    whole = text.replace("/* EXPORT: algorithm */", code)
    pieces = [*c.source_of(text).pieces, *(piece for source in sources for piece in source.pieces)]
    return _foreign(name, c.renamed(whole, _new_names(name, pieces)))


def _slim(source: c.Source, sources: Sequence[c.Source], text: str) -> c.Source:
    """Leave out what the interface has for other algorithms."""
    if source.file != _INTERFACE and not _is_probing(source):
        return source
    rest = [piece.text for other in sources if other != source for piece in other.pieces]
    calls = [_BODY.sub("", piece.text) for piece in source.pieces if "(" in piece.text]
    return c.without_unused(source, "\n".join([text, *rest, *calls]))


def _is_probing(source: c.Source) -> bool:
    return source.file.startswith("qdisc/")


def _includes(text: str, sources: Iterable[c.Source]) -> str:
    """Include the system's headers of the sources, where the template does not."""
    wanted = {name for source in sources for name in source.system}
    new = sorted(name for name in wanted if f"#include <{name}>" not in text)
    return "".join(f"#include <{name}>\n" for name in new)


def _blocks(source: c.Source) -> list[str]:
    """Join its pieces, below the comment of a law or of probes."""
    about = "/*\n" + re.sub(r"^", " * ", source.about, flags=re.M) + "\n */"
    headed = source.file.startswith("law/") or (_is_probing(source) and source.about)
    return [about] * bool(headed) + [piece.text for piece in source.pieces]


def _new_names(name: str, pieces: Iterable[c.Piece]) -> dict[str, str]:
    """Find new names for those that are not the algorithm's own already."""
    old = {defined for piece in pieces for defined in piece.defines}
    new: dict[str, str] = {}
    for word in sorted(old):
        bare = re.sub(r"^(?:aqm|AQM|sojourn)_", "", word)
        head = name.upper() if bare.isupper() else name
        if word.startswith((f"{name}_", f"{name.upper()}_", "tc_", "TCA_", "__TCA_")):
            continue
        new[word] = f"{head}_{bare}" if f"{head}_{bare}" not in old else f"{head}_own_{bare}"
    return new


def _uses(text: str) -> set[str]:
    return set().union(*(piece.uses for piece in c.source_of(text).pieces))


def _foreign(name: str, text: str) -> str:
    """Put the names that userspace sees, and the kernel's own words, in place of ours."""
    text = re.sub(r"\bTCA_AQM_", f"TCA_{name.upper()}_", text)
    text = re.sub(r"\btc_aqm_", f"tc_{name}_", text)
    text = text.replace("__TCA_AQM_", f"__TCA_{name.upper()}_")
    return re.sub(r"\b_Static_assert\b", "static_assert", text)


def _plugin(algorithm: Algorithm) -> str:
    """Write tc's words for the qdisc, by the code that reads and writes values for the module's."""
    text = (TEMPLATES / "q.c").read_text()
    text = c.chosen(text[text.index("#include") :], {"EXPORT_ECHO": algorithm.probes})
    seen: set[Path] = set()
    files = [CORE / "aqm.h", CORE / "unit.c", TC / "tc.h", TC / "value.c"]
    sources = [source for file in files for source in c.with_included(file, seen)]
    named = {*_uses(text), *(f"AQM_{row.kind.upper()}" for row in algorithm.params)}
    # tc has the functions that tc.h declares.
    tcs = [source for source in sources if source.file == "tc/tc.h"]
    own = c.in_one_file(source for source in sources if source not in tcs)
    used = c.needed([*tcs, *own], named)
    code = "\n\n".join(piece.text for source in used for piece in source.pieces)
    attributes = "enum {" + "".join(f"\n\t{word}," for word in rows.attributes(algorithm)) + "\n};"
    text = text.replace("/* EXPORT: sources */", f"{attributes}\n\n{code}")
    text = _filled(text, rows.tables(algorithm))
    text = text.replace("EXPORT_NAME", algorithm.name)
    return f"// {_LICENCE}\n\n{_foreign(algorithm.name, text)}"
