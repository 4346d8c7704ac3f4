"""The values of each query as a file: one row a query, three columns a measure.

In comes a `Report`; out goes a ``.csv``, ``.tsv``, ``.npz`` or ``.parquet`` file. An undefined value is an empty cell
in text, NaN in NumPy's format and missing in Parquet.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from deadheat.reports.summary import Report

ENDINGS = (".csv", ".tsv", ".npz", ".parquet")

Columns = dict[str, NDArray[Any]]


def check(path: Path) -> None:
    """Refuse a file name with an unknown ending, or Parquet without pyarrow."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"--per-query {path} must end in one of {', '.join(ENDINGS)}, but ends in {ending!r}")
    if ending == ".parquet":
        try:
            import pyarrow  # noqa: F401
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                f"{path}: writing Parquet needs pyarrow: pip install 'deadheat[parquet]'"
            ) from None


def columns(report: Report, labels: NDArray[Any]) -> Columns:
    """The columns: ``query`` (its row, from 0), ``label``, and ``mAP_lower``, ``mAP_expected``, ``mAP_upper`` ..."""
    table: Columns = {"query": np.arange(report.n_query), "label": labels}
    for name in report:
        values = report[name].per_query
        table |= {f"{name}_{bound}": getattr(values, bound) for bound in ("lower", "expected", "upper")}
    return table


def write(table: Columns, file: IO[bytes], ending: str) -> None:
    """Write the columns to an open file, in the format that the ending of its name stands for."""
    if ending == ".npz":
        np.savez(file, allow_pickle=False, **table)
    elif ending == ".parquet":
        _write_parquet(table, file)
    else:
        _write_text(table, file, "\t" if ending == ".tsv" else ",")


def _write_text(table: Columns, file: IO[bytes], delimiter: str) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*map(_cells, table.values()), strict=True))
    text.detach()


def _cells(column: NDArray[Any]) -> Iterable[Any]:
    values = column.tolist()
    return ["" if value != value else repr(value) for value in values] if column.dtype.kind == "f" else values


def _write_parquet(table: Columns, file: IO[bytes]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    arrays = {name: pa.array(column, from_pandas=column.dtype.kind == "f") for name, column in table.items()}
    parquet.write_table(pa.table(arrays), file)
