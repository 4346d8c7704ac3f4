"""One mechanism for every result: it states its columns and its notes, and all forms follow.

    panels() ──> tables()                      ──> to_text (print), to_markdown, to_latex, _repr_html_
    data()   ──> columns()                     ──> to_pandas, to_polars, to_arrow
    facts(), panels(), notes() ──> to_dict()   ──> to_json

A `Panel` is a table: a `Column` for each quantity, with its name, its kind of value and its unit. Tables for people are
in per cent; JSON, frames and Arrow hold fractions, with the units and the notes. So no form can lose a unit, a caution
about few units, or what ties decide.

How to write a result
---------------------
Derive from `Answer` and write `panels` and `notes`; mostly nothing else. `Breakdown` is the shortest model, `Report`
one with facts and options.

1. `panels` returns a list of `Panel`, mostly one. Its first `Column` names the rows. Options of its own (``std=``) are
   keywords of `panels`; every form takes and passes them. ``digits=`` and ``names=`` are handled here.
2. `notes` returns sentences. One without which the numbers mislead is a `Caution`.
3. `facts` returns the values of JSON in addition to the rows; `_facts_of` collects them from fields by name.
4. Where the frame is another table than the one that is shown (a curve below its areas), override `data`.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib.util import find_spec
from reprlib import Repr
from typing import Any, Literal, NamedTuple

import numpy as np

from deadheat.errors import InvalidValueError, MissingPackageError, printable
from deadheat.reports.tables import (
    DIGITS,
    Table,
    decimals,
    distinct_digits,
    has_ties,
    labelled,
    latex_text,
    markdown_text,
    notebook,
    p_value,
    plain,
    program,
    value,
)
from deadheat.support import checks
from deadheat.support.floats import PlainFloats
from deadheat.support.lazy import json, require
from deadheat.support.triple import Triple

FRAMES = ("pandas", "polars")  # the first that is installed is what `to_pandas` returns

_RECALL_AT = re.compile(r"\bRecall@\d")
_ABOUT_RECALL = "Recall@k: the share of the relevant items among the first k; metric learning's Recall@K is Hit@k."


Names = Mapping[str, str] | None


class Caution(str):
    """A note without which the numbers mislead, such as that there are few units."""

    __slots__ = ()


class ValueKind(NamedTuple):
    """A kind of value: its unit in data and in tables, the factor between these, and a format other than decimals."""

    unit: str
    unit_shown: str = ""
    scale: float = 1.0
    form: Callable[[Any], str] | None = None

    @property
    def points(self) -> str:
        """The name of a difference: those of per cent are points."""
        return "points" if self.unit_shown == "%" else self.unit_shown


KINDS = {
    "text": ValueKind("", form=str),
    "measure": ValueKind("", form=str),  # the name of one, which `names=` replaces
    "count": ValueKind("count", form=str),
    "rank": ValueKind("rank", form=str),  # from 1; less is better
    "bytes": ValueKind("bytes", form=str),
    "bits": ValueKind("bits", form=str),
    "fraction": ValueKind("fraction", "%", 100.0),
    "ranks": ValueKind("ranks", "ranks"),  # a mean of ranks; less is better
    "gain": ValueKind("gain", "gain"),
    "times": ValueKind("times", "times"),
    "probability": ValueKind("probability", form=p_value),
    "number": ValueKind("number"),
    "distance": ValueKind("distance", form="{:.6g}".format),
    "seconds": ValueKind("seconds", "s"),
}
KindName = Literal[
    "text", "measure", "count", "rank", "bytes", "bits", "fraction", "ranks", "gain", "times", "probability", "number",
    "distance", "seconds",
]  # fmt: skip
Shape = Literal["single", "bounds", "value", "interval"]


class Column(NamedTuple):
    """A column of an answer: one value, `Triple` or interval for each row, and all that its forms need to know of it.

    Attributes
    ----------
    name : str
        The key in JSON, frames and Arrow; for other shapes than "single" the prefix of their keys. An empty one gives
        the plain keys lower, expected, upper, low and high.
    values : sequence
        Plain values, as data have them: fractions, NaN where undefined.
    kind : str
        A key of `KINDS`, which has the unit and the format.
    title : str
        The heading in tables; by default the name.
    shape : {"single", "bounds", "value", "interval"}
        One value; columns lower, expected and upper, or one column if no tie affects any; one cell ``expected [lower,
        upper]``; or the ends low and high.
    unit : str
        The unit in data, where it is not that of the kind.
    form : str
        The format of a cell, such as ".6g", where it is not that of the kind.
    only : {"", "table", "data"}
    marks : sequence of str
        Text behind each cell, such as raised letters.
    kinds : sequence of str
        The kind of each row, where they differ.
    """

    name: str
    values: Sequence[Any]
    kind: KindName = "text"
    title: str = ""
    shape: Shape = "single"
    unit: str = ""
    form: str = ""
    only: Literal["", "table", "data"] = ""
    marks: Sequence[str] = ()
    kinds: Sequence[KindName] = ()

    def data(self) -> dict[str, list[Any]]:
        """Return the values as columns of plain values.

        Examples
        --------
        >>> Column("recall", [Triple(0.25, 0.5, 1.0)], "fraction", shape="bounds").data()
        {'recall_lower': [0.25], 'recall_expected': [0.5], 'recall_upper': [1.0]}
        """
        if self.shape == "single":
            return {self.name: list(self.values)}
        parts, prefix = self._parts, f"{self.name}_" if self.name else ""
        return {f"{prefix}{part}": [getattr(each, part) for each in self.values] for part in parts}

    @property
    def _parts(self) -> tuple[str, ...]:
        return ("low", "high") if self.shape == "interval" else Triple._fields

    def content(self, row: int) -> dict[str, Any]:
        """Return the value of a row as JSON can hold it, by its key or keys."""
        value_of_row = self.values[row]
        if self.shape == "interval":
            return {self.name or "interval": plain(list(value_of_row))}
        if self.shape == "single":
            return {self.name: plain(value_of_row)}
        bounds = {part: plain(getattr(value_of_row, part)) for part in self._parts}
        return {self.name: bounds} if self.name else bounds

    def units(self) -> dict[str, str]:
        """Return the unit of each column of data that has one."""
        unit = "" if self.kinds else self.unit or KINDS[self.kind].unit
        return dict.fromkeys(self.data(), unit) if unit else {}

    def taken(self, rows: Sequence[int]) -> Column:
        """Return the column of some rows."""
        return self._replace(values=[self.values[row] for row in rows],
                             kinds=[self.kinds[row] for row in rows] if self.kinds else ())  # fmt: skip

    def least_digits(self, digits: int) -> int:
        """Return the decimals with which the bounds of each row differ where they are printed, at least `digits`."""
        if self.shape not in ("bounds", "value"):
            return digits
        return max((distinct_digits([row], digits, kind.scale) for row, kind in self.rows()), default=digits)

    def rows(self) -> list[tuple[Any, ValueKind]]:
        """Return the value of each row with its kind."""
        kinds = [KINDS[kind] for kind in self.kinds] or [KINDS[self.kind]] * len(self.values)
        return list(zip(self.values, kinds, strict=True))

    def cells(self, digits: int, bounds_digits: int, with_unit: bool) -> dict[str, list[str]]:
        """Return the cells of the table by heading."""
        title, rows = self.title or self.name.replace("_", " "), self.rows()
        if self.shape == "bounds" and any(map(has_ties, self.values)):
            before = f"{title}, " if title else ""
            columns = {
                f"{before}{end}": [self._cell(getattr(row, end), bounds_digits, kind) for row, kind in rows]
                for end in Triple._fields
            }
        elif self.shape == "bounds":
            columns = {title or "value": [self._cell(row.lower, bounds_digits, kind) for row, kind in rows]}
        elif self.shape == "value":
            columns = {title: [value(row, bounds_digits, kind.scale) for row, kind in rows]}
        elif self.shape == "interval":
            columns = {title: [self._interval(row, bounds_digits, kind) for row, kind in rows]}
        else:
            columns = {title: [self._cell(row, digits, kind) for row, kind in rows]}
        if self.marks:
            marks = [mark.ljust(max(map(len, self.marks))) for mark in self.marks]
            columns = {heading: list(map(str.__add__, cells, marks)) for heading, cells in columns.items()}
        shown = "" if self.kinds else KINDS[self.kind].unit_shown
        unit = f" ({shown})" if with_unit and shown else ""
        return {heading if "%" in heading else f"{heading}{unit}": cells for heading, cells in columns.items()}

    def _cell(self, number: Any, digits: int, kind: ValueKind) -> str:
        if number is None or (isinstance(number, float) and math.isnan(number)):
            return "-"
        if self.form:
            return format(kind.scale * number, self.form)
        return kind.form(number) if kind.form else format(kind.scale * number, f"z.{digits}f")

    def _interval(self, ends: Any, digits: int, kind: ValueKind) -> str:
        low, high = (self._cell(end, digits, kind) for end in ends)
        return "-" if low == "-" else f"[{low}, {high}]"


@dataclass(frozen=True, eq=False)
class Panel:
    """A table of an answer.

    Attributes
    ----------
    columns : sequence of Column
        The first one names the rows.
    unit : {"first", "each", "note"}
        The place of "(%)": the heading of the first column, that of each column in per cent, or a note or title.
    key : str
        The key of the rows in JSON; empty to leave them out.
    by_name : bool
        Whether the rows in JSON are a dictionary by the values of the first column, or a list.
    rows : sequence of int, optional
        The rows that tables show; by default all.
    drawn : bool
        Whether HTML draws the first bounds of each row.
    notes : sequence of str
        Sentences on columns that an option adds, such as the method of intervals; they go below those of the result.
    part : tuple of str
        The name and the value of a column that tells this panel from the others of a frame: ("distance", "cosine").
    kinds : sequence of str
        The unit of the measure in each row, which columns of fractions take. Where units differ, data have them.
    """

    columns: Sequence[Column]
    unit: Literal["first", "each", "note"] = "first"
    key: str = "measures"
    by_name: bool = True
    rows: Sequence[int] | None = None
    drawn: bool = False
    notes: Sequence[str] = ()
    part: tuple[str, str] | None = None
    kinds: Sequence[KindName] = ()

    def __post_init__(self) -> None:
        several = len(set(self.kinds)) > 1
        if set(self.kinds) <= {"fraction"}:
            return
        columns = [
            column if column.kind != "fraction" else column._replace(kinds=self.kinds) if several
            else column._replace(kind=self.kinds[0]) for column in self.columns
        ]  # fmt: skip
        own = [Column("unit", [KINDS[kind].unit for kind in self.kinds], only="data")] if several else []
        object.__setattr__(self, "columns", [columns[0], *own, *columns[1:]])

    def names_of_measures(self) -> list[str]:
        """Return the texts that may hold names of measures: titles, and the cells of the kind "measure"."""
        cells = [str(cell) for column in self.columns if column.kind == "measure" for cell in column.values]
        return [*cells, *(column.title or column.name for column in self.columns)]

    def renamed(self, rename: Callable[[str], str]) -> Panel:
        """Return the panel with other names of measures."""
        return replace(self, columns=[
            column._replace(
                title=rename(column.title or column.name.replace("_", " ")),
                values=list(map(rename, column.values)) if column.kind == "measure" else column.values,
            )
            for column in self.columns
        ])  # fmt: skip

    def table(self, digits: int) -> Table:
        """Return the table for people."""
        shown = [column for column in self.columns if column.only != "data"]
        if self.rows is not None:
            shown = [column.taken(self.rows) for column in shown]
        least, by_column = [column.least_digits(digits) for column in shown], self.unit != "first"
        cells: dict[str, list[str]] = {}
        for column, of_column in zip(shown, least, strict=True):
            cells |= column.cells(digits, of_column if by_column else max(least), self.unit == "each")
        header = list(cells)
        mixed: Sequence[KindName] = next((column.kinds for column in shown if column.kinds), ())
        if mixed:
            names = zip(cells[header[0]], mixed, strict=True)
            cells[header[0]] = [f"{name} ({KINDS[kind].unit_shown})" for name, kind in names]
        units = ("" if mixed else KINDS[column.kind].unit_shown for column in shown[1:])
        unit = next(filter(None, units), "")
        if unit and not by_column and unit not in header[0]:
            header[0] += f" ({unit})"
        first = next((column for column in shown if column.shape in ("bounds", "value")), shown[0])
        drawn = [row if kind.unit_shown == "%" else _NOT_DRAWN for row, kind in first.rows()]
        return Table(header, list(zip(*cells.values(), strict=True)), drawn if self.drawn else (), self.notes)

    def data(self) -> dict[str, list[Any]]:
        """Return the rows as columns of plain values."""
        return {key: values for column in self._in_data() for key, values in column.data().items()}

    def content(self) -> dict[str, Any] | list[Any]:
        """Return the rows as JSON can hold them."""
        first, *others = self._in_data()
        rows: list[dict[str, Any]] = [{} for _ in first.values]
        for column in others:
            for i, row in enumerate(rows):
                row |= column.content(i)
        if self.by_name:
            return dict(zip(map(str, first.values), rows, strict=True))
        return [{first.name: plain(name), **row} for name, row in zip(first.values, rows, strict=True)]

    def units(self) -> dict[str, str]:
        """Return the units of the columns of data."""
        return {key: unit for column in self._in_data() for key, unit in column.units().items()}

    def _in_data(self) -> list[Column]:
        return [column for column in self.columns if column.only != "table"]


_NOT_DRAWN = Triple(math.nan, math.nan, math.nan)
_SHORT = Repr()
_SHORT.maxother = _SHORT.maxstring = _SHORT.maxlong = 100
_SHORT.maxdict = 10


class Answer(PlainFloats, ABC):
    """A result that can be printed, exported and shown in a notebook; at a prompt it shows no arrays.

    Tables take ``digits=``, the decimals of values, and ``names=``, a dictionary from measures to the names to show.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in vars(cls):
            cls.__repr__ = cls.__repr__  # type: ignore[method-assign]  # or `dataclass` puts its own, of all arrays

    def __repr__(self) -> str:
        shown = {each.name: getattr(self, each.name) for each in fields(self) if each.repr}  # type: ignore[arg-type]
        texts = [f"{name}={_SHORT.repr(value)}" for name, value in shown.items() if not _holds_arrays(value)]
        return f"{type(self).__name__}({', '.join(texts)})"

    # Statements of a result

    @abstractmethod
    def panels(self) -> list[Panel]:
        """Return the tables of the result, mostly one."""

    @abstractmethod
    def notes(self) -> list[str]:
        """Return the sentences below the tables: which queries count, what the ties decide."""

    def facts(self) -> dict[str, Any]:
        """Return the values in addition to the rows of the tables, as JSON can hold them."""
        return {}

    def data(self, **options: Any) -> Panel:
        """Return the rows of frames: those of all panels together."""
        panels = self.panels(**options)
        return panels[0] if panels[0].part is None else stacked(panels)

    def _facts_of(self, *names: str) -> dict[str, Any]:
        """Return some fields and properties by name, as JSON can hold them."""
        return {name: plain(getattr(self, name)) for name in names}

    # Forms

    def cautions(self) -> list[str]:
        """Return those of the notes without which numbers mislead, such as that units are few."""
        return _cautions(self.notes())

    def tables(self, *, digits: int = DIGITS, names: Names = None, **options: Any) -> list[Table]:
        """Return the tables for people, in per cent; mostly one."""
        decimals(digits)
        panels = self.panels(**options)
        return [panel.renamed(_renaming(names, panels)).table(digits) for panel in panels]

    def columns(self, **options: Any) -> Mapping[str, Sequence[Any]]:
        """Return the rows of the tables as columns of plain values: fractions, NaN where a value is undefined."""
        return self.data(**options).data()

    def to_dict(self, **options: Any) -> dict[str, Any]:
        """Return the result as plain Python values that JSON can hold; fractions, and None where undefined."""
        panels = self.panels(**options)
        notes = [*self.notes(), *(note for panel in panels for note in panel.notes)]
        rows = {panel.key: panel.content() for panel in panels if panel.key}
        units = _units([*panels, self.data(**options)])
        about = {"units": units, "notes": list(map(str, notes)), "cautions": _cautions(notes)}
        return {"deadheat": program(), **self.facts(), **rows, **about}

    def to_json(self, **options: Any) -> str:
        """Return `to_dict` as JSON text, with the version and the number of the schema; null where undefined."""
        return json.dumps(labelled(self.to_dict(**options)), indent=2, allow_nan=False)

    def to_text(self, **options: Any) -> str:
        """Return the tables as plain text with the notes below, as `print` shows them."""
        return self._written(Table.to_text, str, options)

    def to_markdown(self, **options: Any) -> str:
        """Return the tables in Markdown with the notes below."""
        return self._written(Table.to_markdown, markdown_text, options) + "\n"

    def to_latex(self, **options: Any) -> str:
        """Return the tables for LaTeX with the package booktabs, with the notes below in a smaller size."""
        return self._written(Table.to_latex, latex_text, options, "{\\footnotesize\n", "\\par}") + "\n"

    def to_pandas(self, **options: Any) -> Any:
        """Return the rows of the tables as a data frame, of pandas or, where only that is installed, of Polars.

        Values are fractions, and NaN where one is undefined. ``frame.attrs`` of pandas has the units and the notes. It
        needs Narwhals (the extra ``frames``) and one of the two, or raises `MissingPackageError`.
        """
        installed = next((name for name in FRAMES if find_spec(name)), None)
        if installed is None:
            raise MissingPackageError("a data frame needs pandas or polars: pip install pandas", name="pandas")
        frame = self._frame(installed, options)
        if installed == "pandas":
            frame.attrs = self._about(options)
        return frame

    def to_polars(self, **options: Any) -> Any:
        """Return the rows of the tables as a data frame of Polars, with values like those of `to_pandas`.

        Polars has no place for units and notes: `to_arrow` and `to_json` have them. It needs Narwhals (the extra
        ``frames``) and Polars, or raises `MissingPackageError`.
        """
        if find_spec("polars") is None:
            raise MissingPackageError("a data frame of Polars needs polars: pip install polars", name="polars")
        return self._frame("polars", options)

    def to_arrow(self, **options: Any) -> Any:
        """Return the rows of the tables as a `pyarrow.Table`: fractions, and NaN where one is undefined.

        A library that reads Arrow takes a result directly: ``polars.DataFrame(report)``, ``pyarrow.table(report)``.
        The metadata of the schema have the units and the notes, as JSON. It needs pyarrow (the extra ``files``), or
        raises `MissingPackageError`.
        """
        table = require("pyarrow", "files", "a table of Arrow").table(dict(self.columns(**options)))
        about = {key: json.dumps(part) for key, part in self._about(options).items()}
        return table.replace_schema_metadata(about)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export `to_arrow` by Arrow's protocol."""
        stream: object = self.to_arrow().__arrow_c_stream__(requested_schema)
        return stream

    def _frame(self, library: str, options: dict[str, Any]) -> Any:
        narwhals = require("narwhals", "frames", "a data frame")
        return narwhals.from_dict(dict(self.columns(**options)), backend=library).to_native()

    def _about(self, options: dict[str, Any]) -> dict[str, Any]:
        return {"units": self.data(**options).units(), "notes": self._below(self.tables(**options))}

    def _below(self, tables: Sequence[Table], names: Names = None) -> list[str]:
        """Return the notes below tables, with the names of measures that these show."""
        cells = (cell for table in tables for row in (table.header, *table.rows) for cell in row)
        about_recall = [_ABOUT_RECALL] if any(map(_RECALL_AT.search, cells)) else []
        of_tables = [note for table in tables for note in table.notes]
        return [printable(_renaming(names)(note)) for note in [*about_recall, *self.notes(), *of_tables]]

    def _written(
        self, form: Callable[[Table], str], note: Callable[[str], str], options: dict[str, Any], *around: str
    ) -> str:
        """Return the tables in a form, and the notes below between the texts `around` them."""
        tables, (before, after) = self.tables(**options), around or ("", "")
        notes = "\n".join(map(note, self._below(tables, options.get("names"))))
        return "\n\n".join([*map(form, tables), *([before + notes + after] if notes else [])])

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        tables = self.tables()
        return notebook(tables, self._below(tables))

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


def _cautions(notes: Sequence[str]) -> list[str]:
    return [str(note) for note in notes if isinstance(note, Caution)]


def _units(panels: Sequence[Panel]) -> dict[str, str]:
    return {key: unit for panel in panels for key, unit in panel.units().items()}


def stacked(panels: Sequence[Panel]) -> Panel:
    """Return one panel with the rows of several, and a first column that says of which each row is."""
    parts = [panel.part for panel in panels if panel.part for _ in panel.columns[0].values]
    columns = [
        same[0]._replace(values=[value for column in same for value in column.values])
        for same in zip(*(panel._in_data() for panel in panels), strict=True)
    ]
    return Panel([Column(parts[0][0], [value for _, value in parts]), *columns])


def notebook_row(
    name: str, result: Any, notes: Iterable[str] = (), title: str = "measure", kind: KindName = "fraction"
) -> str:
    """Return a single result in HTML for a notebook: a table of one row, drawn unless it is a difference."""
    drawn = title == "measure" and kind == "fraction" and result.lower >= 0
    panel = Panel([Column(title, [name]), Column("", [result], kind, shape="bounds")], drawn=drawn)
    return notebook([panel.table(DIGITS)], notes)


def _renaming(names: Names, panels: Sequence[Panel] = ()) -> Callable[[str], str]:
    """Return a function that replaces the names of measures in a text; with panels, refuse names that none shows."""
    if names is None:
        return str
    checks.mapping(names, "names", "a dictionary from measures to the names to show")
    for name, shown in names.items():
        checks.text(shown, f"names[{name!r}]")
    words = re.compile("|".join(rf"(?<![\w@]){re.escape(name)}(?![\w@(=])" for name in names) or "(?!)")
    texts = [text for panel in panels for text in panel.names_of_measures()]
    unknown = next((name for name in names if panels and not any(name in words.findall(text) for text in texts)), None)
    if unknown is not None:
        raise InvalidValueError("names", f"must rename measures of the table, but has {unknown!r}")
    return lambda text: words.sub(lambda found: names[found[0]], text)


def _holds_arrays(value: Any) -> bool:
    return isinstance(value, np.ndarray) or (isinstance(value, (list, tuple)) and any(map(_holds_arrays, value)))
