"""Data frames of pandas, Polars and pyarrow as matrices: columns of numbers side by side, or one column of lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InvalidTypeError

Array = NDArray[Any]


def is_frame(values: Any) -> bool:
    """Whether something is a data frame."""
    return hasattr(values, "columns") and hasattr(values, "__array__")


def is_row(entry: Any) -> bool:
    """Whether what a column holds in one place is a row of numbers: a list or an array, whatever it is of."""
    return hasattr(entry, "__len__") and not isinstance(entry, (str, bytes, dict))


def column_of_lists(frame: Any) -> Any | None:
    """The only column of a frame, if it holds lists."""
    columns = list(_columns(frame)) if frame.shape[1] == 1 else []
    if not columns:
        return None
    entries = np.asarray(columns[0])
    return columns[0] if entries.ndim == 2 or (entries.dtype.kind == "O" and any(map(is_row, entries))) else None


def from_frame(frame: Any, name: str, require_kept: Callable[[Array, list[Any], str], None]) -> Array:
    """The columns of a data frame side by side; nullable ones too, as long as nothing is missing.

    What `require_kept` gets is a column as it became, its numbers as they were, and the name of the argument.
    """
    whole = np.asarray(frame)
    if whole.ndim != 2 or whole.dtype.kind not in "Of":
        return whole
    names, columns = list(getattr(frame, "column_names", frame.columns)), [*map(np.asarray, _columns(frame))]
    odd = next((place for place, column in enumerate(columns) if column.dtype.kind not in "biuf"), None)
    if odd is not None:
        lists = any(map(is_row, columns[odd])) if columns[odd].dtype.kind == "O" else False
        came = f"column {names[odd]!r} " + (
            "holds lists: give it alone" if lists else f"has dtype {columns[odd].dtype}"
        )
        raise InvalidTypeError(name, f"must hold real numbers and none missing, but {came}")
    wide = [place for place, column in enumerate(columns) if column.dtype.kind in "iu" and column.dtype.itemsize == 8]
    if whole.dtype.kind == "f" and not wide:
        return whole
    together = np.stack(columns, axis=1)
    for place in wide:
        require_kept(together[:, place], columns[place].tolist(), name)
    return together


def _columns(frame: Any) -> Iterable[Any]:
    """The columns of a frame of polars, pyarrow or pandas."""
    for method in ("iter_columns", "itercolumns"):
        if hasattr(frame, method):
            return getattr(frame, method)()  # type: ignore[no-any-return]
    return (column for _, column in frame.items())
