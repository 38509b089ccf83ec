# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Texts of results: a table as Markdown, CSV or LaTeX, measured values as JSON, and pages that are
generated. `sojourn.show.tables` prints a table on a terminal, and the templates of pages lay it out
as HTML."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self


def rounded(value: float, digits: int) -> float:
    """Round to so many significant digits; a number that is written without an exponent."""
    return float(f"{value:.{digits}g}")


class Cell(str):
    """A cell as people read it, with its numbers for programs: a mean; a mean and half of its
    interval; or a difference and the ends of its interval."""

    __slots__ = ("numbers", "remark")

    def __new__(cls, text: str, *numbers: float, remark: str = "") -> Self:
        """Make a cell; the remark is a line below its text."""
        cell = super().__new__(cls, f"{text}\n{remark}" if remark else text)
        cell.numbers, cell.remark = numbers, remark
        return cell

    numbers: tuple[float, ...]
    remark: str


@dataclass(frozen=True)
class Column:
    """A heading, which may have several lines, and a cell for each row, which may too."""

    heading: str
    cells: Sequence[str]


@dataclass(frozen=True)
class Table:
    """Columns of numbers beside columns of labels, or of words alone."""

    title: str
    labels: Sequence[Column]
    columns: Sequence[Column] = ()
    note: str = ""
    lines_below: Collection[int] = ()  # numbers of the rows with a line below
    # Whether a narrow terminal shows the first columns alone, and names the others.
    is_brief: bool = False

    @classmethod
    def of_rows(
        cls, title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], note: str = ""
    ) -> Table:
        """Make a table of rows, each with its label first."""
        cells = list(zip(*rows, strict=True)) or [()] * len(headings)
        label, *columns = map(Column, headings, cells)
        return cls(title, [label], columns, note)

    @property
    def all_columns(self) -> list[Column]:
        """Give labels and numbers."""
        return [*self.labels, *self.columns]

    @property
    def headings(self) -> list[str]:
        """Give every heading on one line."""
        return [" ".join(column.heading.split("\n")) for column in self.all_columns]

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Give the cells row by row."""
        return list(zip(*(column.cells for column in self.all_columns), strict=True))

    def markdown(self) -> str:
        """Write it in Markdown, numbers to the right."""
        right = range(len(self.labels), len(self.labels) + len(self.columns))
        rows = [[markdown_cell(cell) for cell in row] for row in self.rows]
        return markdown(self.headings, rows, right)

    def csv(self) -> str:
        """Write it as CSV, numbers in full. A mean and half of its interval take a column each; a
        difference takes four, with the ends of its interval and whether it is shown to be one."""
        columns = [
            part
            for heading, of in zip(self.headings, self.all_columns, strict=True)
            for part in _apart(heading, of.cells)
        ]
        return csv_text(
            [column.heading for column in columns],
            zip(*(column.cells for column in columns), strict=True),
        )

    def latex(self) -> str:
        """Write it as a tabular of LaTeX, with the lines of the package booktabs. Each line of a
        heading is a row, so columns are as narrow as their numbers."""
        form = "l" * len(self.labels) + "r" * len(self.columns)
        lines = [column.heading.split("\n") for column in self.all_columns]
        height = max(map(len, lines), default=1)
        heads = zip(*([""] * (height - len(of)) + of for of in lines), strict=True)
        head, rows = (
            [" & ".join(map(_latex_cell, row)) + r" \\" for row in part]
            for part in (heads, self.rows)
        )
        begin, end = rf"\begin{{tabular}}{{{form}}}", r"\end{tabular}"
        return "\n".join(
            [_PREAMBLE, begin, r"\toprule", *head, r"\midrule", *rows, r"\bottomrule", end, ""]
        )


_PREAMBLE = r"% needs \usepackage{booktabs}"
BESIDE = " ± "  # between a mean and half of its interval
MINUS = " − "  # between two names, of whose numbers the difference is
NOTHING = "–"  # where nothing was measured


# The headings behind that of a column, by how many numbers its cells have.
_PARTS = {
    1: (),
    2: ("half of the 95 % interval",),
    3: ("low", "high", "shown"),
}


def _apart(heading: str, cells: Sequence[str]) -> Iterable[Column]:
    """Yield a column for each number of these cells, in all its digits, and one of remarks."""
    known = [cell if isinstance(cell, Cell) else Cell(cell) for cell in cells]
    count = max((len(cell.numbers) for cell in known), default=0) or 1
    rows = [_numbers(cell, count) for cell in known]
    heads = [heading, *(f"{heading}, {part}" for part in _PARTS[count])]
    yield from (Column(head, [row[n] for row in rows]) for n, head in enumerate(heads))
    if any(cell.remark for cell in known):
        yield Column(f"{heading}, remark", [cell.remark for cell in known])


def _numbers(cell: Cell, count: int) -> list[str]:
    if not cell.numbers:
        words = "" if cell == NOTHING else str(cell)
        return [words, *[""] * len(_PARTS[count])]
    texts = [repr(float(number)).removesuffix(".0") for number in cell.numbers]
    if len(texts) == 3:
        _, low, high = cell.numbers
        texts.append(str(low * high > 0).lower())
    return texts + [""] * (1 + len(_PARTS[count]) - len(texts))


def markdown(
    headings: Sequence[str], rows: Iterable[Iterable[object]], right: Collection[int] = ()
) -> str:
    """Write rows of Markdown as a table; `right` are the columns of numbers."""
    rule = "".join("---:|" if n in right else "---|" for n in range(len(headings)))
    lines = [_line(headings), f"|{rule}", *map(_line, rows)]
    return "\n".join([*lines, ""])


def _line(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def markdown_cell(words: str) -> str:
    """Write a text as a cell of Markdown."""
    return " ".join(words.split()).replace("|", r"\|").replace("<", "&lt;")


def csv_text(headings: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Write rows as CSV."""
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows(rows)
    return sink.getvalue()


_LATEX = {character: "\\" + character for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "–": "--",
    "−": r"$-$",
}


def _latex_cell(words: str) -> str:
    return "".join(_LATEX.get(character, character) for character in " ".join(words.split()))


FORMATS: Mapping[str, Callable[[Table], str]] = {
    "markdown": Table.markdown,
    "csv": Table.csv,
    "latex": Table.latex,
}


def json_text(data: Any) -> str:
    """Write data as JSON, a line for each value. JSON has no NaN and no infinity; such a value
    becomes null."""
    return json.dumps(_finite(data), indent=1, allow_nan=False)


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    if isinstance(data, float) and not abs(data) < float("inf"):
        return None
    return data


def write_page(arguments: Sequence[str], default: Path, text: Callable[[], str]) -> int:
    """Write the page, or with `--check` compare it; the arguments are `[--check] [FILE]`. Return 0
    when the page is written or fresh, else 1."""
    import argparse  # no other command needs it, and its start would take longer

    parser = argparse.ArgumentParser(prog="PAGE", description="Writes a page of the docs.")
    parser.add_argument("--check", action="store_true", help="tell whether it is fresh")
    parser.add_argument(
        "file", nargs="?", type=Path, default=default, help=f"unless given, {default}"
    )
    options = parser.parse_args(arguments)
    path = options.file
    if not options.check:
        path.write_text(text(), encoding="utf-8")
        return 0
    if path.exists() and path.read_text(encoding="utf-8") == text():
        return 0
    print(f"{path} is stale: run `make generate`", file=sys.stderr)
    return 1
