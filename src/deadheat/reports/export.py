"""The values of each query as a file: a row for each query, three columns for each measure.

In comes a `Report`; out goes a file in the format that the ending of its name stands for. A new format is a function
and its row in `FORMATS`. An undefined value is an empty cell in text, NaN in NumPy's format and missing in Parquet.
Text that a spreadsheet would take for a formula gets an apostrophe before it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InvalidValueError
from deadheat.reports.report import Report
from deadheat.support.atomic import is_special
from deadheat.support.lazy import require

_FORMULA = ("=", "+", "-", "@", "\t", "\n")  # OWASP: CSV injection
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")  # in text, as ids may be

Columns = dict[str, NDArray[Any]]


def check(path: Path) -> None:
    """Refuse a file name with an unknown ending, or Parquet without pyarrow."""
    ending = _ending(path)
    if ending not in FORMATS:
        fault = f"ends in {ending!r}" if ending else "has no ending"
        raise InvalidValueError(f"per_query {path}", f"must end in one of {', '.join(FORMATS)}, but {fault}")
    if ending == ".parquet":
        require("pyarrow", "files", f"{path}: writing Parquet")


def write(report: Report, file: IO[bytes], path: Path) -> None:
    """Write ``query`` (its id, or its row from 0), ``label`` if known, ``mAP_lower`` ... to the file open at `path`."""
    table = {name: np.asarray(values) for name, values in report.by_query().columns().items() if name != "relevant"}
    FORMATS[_ending(path)](table, file)


def _ending(path: Path) -> str:
    """Return the ending of a file's name in lower case; for a pipe without one, that of comma-separated text."""
    return path.suffix.lower() or (".csv" if is_special(path) else "")


def _write_text(table: Columns, file: IO[bytes], delimiter: str) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(table)
    rows = zip(*(column.tolist() for column in table.values()), strict=True)
    writer.writerows([_cell(value) for value in row] for row in rows)
    text.detach()


def _cell(value: Any) -> Any:
    """Return a value as a cell: nothing for NaN, and no formula for a spreadsheet to compute."""
    if isinstance(value, str):
        value = value.replace("\r", r"\r")  # which the module does not quote before Python 3.13
        return f"'{value}" if value.startswith(_FORMULA) and not _NUMBER.fullmatch(value) else value
    return "" if value != value else value


def _write_parquet(table: Columns, file: IO[bytes]) -> None:
    pyarrow = require("pyarrow", "files", "writing Parquet")
    arrays = {name: pyarrow.array(column, from_pandas=column.dtype.kind == "f") for name, column in table.items()}
    require("pyarrow.parquet", "files", "writing Parquet").write_table(pyarrow.table(arrays), file)


FORMATS: dict[str, Callable[[Columns, IO[bytes]], None]] = {
    ".csv": partial(_write_text, delimiter=","),
    ".tsv": partial(_write_text, delimiter="\t"),
    ".npz": lambda table, file: np.savez(file, allow_pickle=False, **table),
    ".parquet": _write_parquet,
}
