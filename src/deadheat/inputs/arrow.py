"""Arrow's columns as arrays: numbers and text (n,), lists of one length (n, dim). It needs pyarrow.

In comes whatever has Arrow's protocol (pyarrow, Polars, a stream of batches), and columns that formats of files have
read. A missing value, wherever it is, and lists that differ in length are refused with the row that they are in.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.support.arrays import Array
from deadheat.support.lazy import require


def speaks_arrow(values: Any) -> bool:
    """Whether something is best read as Arrow: it has the protocol, and no direct way to NumPy as pandas has."""
    if not (hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")):
        return False
    if type(values).__module__.partition(".")[0] == "pandas":
        return False
    return not hasattr(values, "__array__") or find_spec("pyarrow") is not None


def imported(values: Any, name: str) -> Any:
    """What has the protocol as a `pyarrow.ChunkedArray`; as a `pyarrow.Table` if it has several columns, or names."""
    pyarrow = require("pyarrow", "files", f"{name}: reading Arrow")
    if hasattr(values, "__arrow_c_stream__"):
        chunked = pyarrow.chunked_array(values)
    else:
        chunked = pyarrow.chunked_array([pyarrow.array(values)])
    return pyarrow.Table.from_struct_array(chunked) if pyarrow.types.is_struct(chunked.type) else chunked


def is_list(kind: Any) -> bool:
    """Whether a type of Arrow's is one of lists that can be a matrix."""
    types = require("pyarrow.types", "files", "reading Arrow")
    kind = getattr(kind, "storage_type", kind)  # of an extension type, such as one of tensors
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def to_array(column: Any, title: str, *, first: int = 0, width: int | None = None) -> Array:
    """A column as an array: (n,), or (n, dim) if it holds lists.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
    title : str
        What messages call it.
    first : int
        The number of its first row, for messages.
    width : int, optional
        The length that lists must have; default, that of the first one.

    Raises
    ------
    InvalidValueError
        If a value is missing, or lists differ in length.
    InvalidTypeError
        If it holds lists of something else than numbers, or what NumPy has no type for.
    """
    pyarrow = require("pyarrow", "files", "reading Arrow")
    try:
        parts = []
        for chunk in column.chunks or [pyarrow.array([], column.type)]:
            rows = _part(chunk, title, first, width)
            first, width = first + len(rows), rows.shape[1] if rows.ndim == 2 and len(rows) else width
            parts.append(rows)
    except pyarrow.ArrowException:
        raise InvalidTypeError(title, f"must hold numbers, text or lists of numbers, but holds {column.type}") from None
    filled = [part for part in parts if len(part)] or parts[:1]
    return filled[0] if len(filled) == 1 else np.concatenate(filled)


def _part(chunk: Any, title: str, first: int, width: int | None) -> Array:
    """One piece of a column, which begins at row `first`."""
    pyarrow = require("pyarrow", "files", "reading Arrow")
    if isinstance(chunk, pyarrow.ExtensionArray):
        chunk = chunk.storage
    _require_present(chunk, title, first)
    if pyarrow.types.is_dictionary(chunk.type):
        return _looked_up(chunk, title, first)
    if is_list(chunk.type):
        return _lists(chunk, title, first, width)
    if pyarrow.types.is_nested(chunk.type):
        raise InvalidTypeError(title, f"must hold numbers, text or lists of numbers, but holds {chunk.type}")
    return np.asarray(chunk.to_numpy(zero_copy_only=False))


def _looked_up(chunk: Any, title: str, first: int) -> Array:
    """The values of a dictionary column; one of the values may be missing too."""
    places = chunk.indices.to_numpy(zero_copy_only=False)
    missing = chunk.dictionary.is_null().to_numpy(zero_copy_only=False)
    if missing.any() and missing[places].any():
        raise _missing(title, first + int(np.argmax(missing[places])))
    names = np.asarray(chunk.dictionary.to_numpy(zero_copy_only=False))
    return names[places] if len(places) else names[:0]


def _lists(column: Any, title: str, first: int, width: int | None) -> Array:
    types, compute = (require(f"pyarrow.{part}", "files", "reading Arrow") for part in ("types", "compute"))
    numbers = column.flatten()
    if isinstance(numbers, require("pyarrow", "files", "reading Arrow").ExtensionArray):
        numbers = numbers.storage
    kind = numbers.type
    if len(numbers) and not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        raise InvalidTypeError(title, f"must hold lists of numbers, but holds {column.type}")
    widths = compute.list_value_length(column).to_numpy(zero_copy_only=False)
    if width is None:
        width = int(widths[0]) if len(widths) else max(0, getattr(column.type, "list_size", 0))
    if (widths != width).any():
        row = int(np.flatnonzero(widths != width)[0])
        came = f"row {first + row} has {widths[row]} numbers and row 0 has {width}"
        raise InvalidValueError(title, f"must hold lists of one length, but {came}")
    _require_present(numbers, title, first, width)
    return np.asarray(numbers.to_numpy(zero_copy_only=False)).reshape(len(column), width)


def _require_present(values: Any, title: str, first: int, width: int = 1) -> None:
    """Refuse missing values; each row has `width` of them."""
    if values.null_count:
        place = int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
        raise _missing(title, first + place // width)


def _missing(title: str, row: int) -> InvalidValueError:
    return InvalidValueError(title, f"must have no missing values, but row {row} has one")
