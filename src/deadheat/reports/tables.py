"""One shape for every result: what it shows as a table, and the same as text, Markdown, LaTeX, HTML, JSON and frame.

A result says what its tables hold, what a reader has to know beside them, and what it is as plain values. All the rest
follows from these three, and is here. Tables for people are in per cent; plain values and frames hold fractions.

    result ──> tables(), notes()  ──> to_text (print), to_markdown, to_latex, _repr_html_
           ──> to_dict()          ──> to_json
           ──> columns()          ──> to_pandas

Where these take options, what follows from them takes the same ones: ``report.to_latex(std=True)``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from deadheat.errors import MissingPackageError
from deadheat.support.extras import require
from deadheat.support.lazy import html, json
from deadheat.support.triple import Triple

FRAMES = ("pandas", "polars")  # the first that is installed is what `to_pandas` returns

_FEWEST_DIGITS, _MOST_DIGITS = 2, 6


class Table(NamedTuple):
    """Cells as people read them; the first column is flush left, the others flush right."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def to_text(self) -> str:
        """The table as lines of plain text."""
        lines = [self.header, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in lines)

    def to_markdown(self) -> str:
        """The table in Markdown; a bar in a cell is escaped.

        Examples
        --------
        >>> print(Table(["measure (%)", "lower"], [["mAP", "9.50"], ["a|b", "-"]]).to_markdown())
        | measure (%)   |   lower |
        |:--------------|--------:|
        | mAP           |    9.50 |
        | a\\|b          |       - |
        """
        header, *rows = ([cell.replace("|", r"\|") for cell in row] for row in [self.header, *self.rows])
        return Table(header, rows)._formatted("pipe")

    def to_latex(self) -> str:
        """The table for LaTeX with the package booktabs; what LaTeX would read as a command is escaped."""
        return self._formatted("latex_booktabs")

    def to_html(self) -> str:
        """The table in HTML; what a browser would read as a tag is escaped."""
        return self._formatted("html")

    def _formatted(self, style: str) -> str:
        """The table in a style of tabulate's."""
        sides = ("left", *("right" for _ in self.header[1:])) if self.rows else None
        tabulate = import_module("tabulate").tabulate  # not before a table is shown: the first result comes sooner
        text: str = tabulate(self.rows, headers=self.header, tablefmt=style, disable_numparse=True, colalign=sides)
        return text


class TabularResult(ABC):
    """A result that can be printed, exported and shown in a notebook."""

    @abstractmethod
    def tables(self) -> list[Table]:
        """What people read, in per cent; mostly one table."""

    @abstractmethod
    def notes(self) -> list[str]:
        """Sentences that belong below the tables: which queries count, what the ties decide."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The result as plain Python values that JSON can hold; fractions, and None where a value is undefined."""

    @abstractmethod
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """The rows of the tables as columns of plain values: fractions, NaN where a value is undefined."""

    def to_json(self, **options: Any) -> str:
        """`to_dict` as JSON text; null where a value is undefined."""
        return json.dumps(self.to_dict(**options), indent=2, allow_nan=False)

    def to_text(self, **options: Any) -> str:
        """The tables as plain text with the notes below: what `print` shows."""
        return self._with_notes([table.to_text() for table in self.tables(**options)])

    def to_markdown(self, **options: Any) -> str:
        """The tables in Markdown with the notes below."""
        return self._with_notes([table.to_markdown() for table in self.tables(**options)]) + "\n"

    def to_latex(self, **options: Any) -> str:
        """The tables for LaTeX with the package booktabs, without the notes."""
        return "\n\n".join(table.to_latex() for table in self.tables(**options)) + "\n"

    def to_pandas(self, **options: Any) -> Any:
        """The rows of the tables as a data frame, of pandas or, where only that is installed, of Polars.

        Values are fractions, and NaN where one is undefined.

        Raises
        ------
        MissingPackageError
            Without Narwhals (the extra ``frames``), or without either of the two.
        """
        narwhals = require("narwhals", "frames", "a data frame")
        installed = next((name for name in FRAMES if find_spec(name)), None)
        if installed is None:
            raise MissingPackageError("a data frame needs pandas or polars: pip install pandas", name="pandas")
        return narwhals.from_dict(dict(self.columns(**options)), backend=installed).to_native()

    def _with_notes(self, tables: list[str]) -> str:
        notes = "\n".join(self.notes())
        return "\n\n".join([*tables, notes] if notes else tables)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        """The tables as a notebook shows them."""
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes())
        return "\n".join(table.to_html() for table in self.tables()) + notes

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


def percents(results: Iterable[Any]) -> list[list[str]]:
    """Cells for lower, expected and upper of each result in per cent, all with as many digits.

    Examples
    --------
    >>> percents([Triple(0.5, math.nan, 1.0)])
    [['50.00', '-', '100.00']]
    """
    rows = [[100 * getattr(result, name) for name in Triple._fields] for result in results]
    fixed = f".{digits(rows)}f"
    return [[number(value, fixed) for value in row] for row in rows]


def number(value: float, form: str) -> str:
    """A number in a format of Python's, or a dash where it is undefined."""
    return "-" if math.isnan(value) else format(value, form)


def digits(rows: Sequence[Sequence[float]]) -> int:
    """The fewest digits that still tell lower from upper wherever they differ."""
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS):
        if all(row[0] == row[2] or f"{row[0]:.{digits}f}" != f"{row[2]:.{digits}f}" for row in rows):
            return digits
    return _MOST_DIGITS


def count(n: int, singular: str, plural: str) -> str:
    """How many of what.

    Examples
    --------
    >>> count(1, "query", "queries"), count(2, "query", "queries")
    ('1 query', '2 queries')
    """
    return f"{n} {singular if n == 1 else plural}"


def plain(value: Any) -> Any:
    """A value as JSON can hold it: numbers of NumPy's become Python's, NaN becomes None, and so does what is inside.

    Examples
    --------
    >>> plain({"mAP": (np.float64(0.5), np.nan)})
    {'mAP': [0.5, None]}
    """
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and math.isnan(value) else value


def program() -> str:
    """The version of deadheat, as results carry it."""
    return str(import_module("importlib.metadata").version("deadheat"))
