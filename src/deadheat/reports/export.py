"""The values of each query as a file: one row a query, three columns a measure.

In comes a `Report`; out goes a file in the format that the ending of its name stands for. A new format is a function
and its row in `FORMATS`. An undefined value is an empty cell in text, NaN in NumPy's format and missing in Parquet.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InvalidValueError
from deadheat.reports.report import Report
from deadheat.support.atomic import is_special
from deadheat.support.extras import require
from deadheat.support.triple import Triple

Columns = dict[str, NDArray[Any]]


def check(path: Path) -> None:
    """Refuse a file name with an unknown ending, or Parquet without pyarrow."""
    ending = ending_of(path)
    if ending not in FORMATS:
        raise InvalidValueError(
            f"--per-query {path}", f"must end in one of {', '.join(FORMATS)}, but ends in {ending!r}"
        )
    if ending == ".parquet":
        require("pyarrow", "parquet", f"{path}: writing Parquet")


def ending_of(path: Path) -> str:
    """The ending of a file's name in lower case; what goes through a pipe without one is comma-separated text."""
    return path.suffix.lower() or (".csv" if is_special(path) else "")


def columns(report: Report, labels: NDArray[Any] | None = None) -> Columns:
    """The columns: ``query`` (its id, or its row from 0), ``label`` if labels are given, ``mAP_lower``, ..."""
    table: Columns = {"query": report.query_names}
    if labels is not None:
        table["label"] = _as_text(labels)
    for name in report:
        values = report[name].per_query
        table |= {f"{name}_{bound}": getattr(values, bound) for bound in Triple._fields}
    return table


def _as_text(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels, with bytes as the text that they are; what is not UTF-8 comes as \\x.. ."""
    return np.char.decode(labels, "utf-8", "backslashreplace") if labels.dtype.kind == "S" else labels


def write(table: Columns, file: IO[bytes], ending: str) -> None:
    """Write the columns to an open file, in the format that the ending of its name stands for."""
    FORMATS[ending](table, file)


def _write_text(table: Columns, file: IO[bytes], delimiter: str) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*map(_cells, table.values()), strict=True))
    text.detach()


def _cells(column: NDArray[Any]) -> Iterable[Any]:
    values = column.tolist()
    return ["" if value != value else repr(value) for value in values] if column.dtype.kind == "f" else values


def _write_npz(table: Columns, file: IO[bytes]) -> None:
    np.savez(file, allow_pickle=False, **table)


def _write_parquet(table: Columns, file: IO[bytes]) -> None:
    pyarrow = require("pyarrow", "parquet", "writing Parquet")
    arrays = {name: pyarrow.array(column, from_pandas=column.dtype.kind == "f") for name, column in table.items()}
    require("pyarrow.parquet", "parquet", "writing Parquet").write_table(pyarrow.table(arrays), file)


FORMATS: dict[str, Callable[[Columns, IO[bytes]], None]] = {
    ".csv": partial(_write_text, delimiter=","),
    ".tsv": partial(_write_text, delimiter="\t"),
    ".npz": _write_npz,
    ".parquet": _write_parquet,
}
