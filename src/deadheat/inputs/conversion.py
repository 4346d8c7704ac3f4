"""From lists, data frames, tensors and Arrow's columns to NumPy arrays of the same numbers: exactly, or refused.

What NumPy would pass over in silence is refused here with one line: a mask, a missing value, an integer rounded beside
floats, and what is no array at all, such as a sparse matrix. How each kind of thing is read, its own module says.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import arrow, frames, tensors

Array = NDArray[Any]

_EXACT = 2.0**53  # from here on a float64 may be an integer that was rounded
_RAGGED = "must be a matrix, but its rows differ in length or kind"


def plain(values: Any, name: str, *, ragged: str = _RAGGED, unmasked: str = "") -> Array:
    """An array of what somebody hands over, in the type that holds it.

    Parameters
    ----------
    values : array-like
        Also an array of another library (PyTorch, JAX, CuPy, anything with `__array__` or `__dlpack__`), wherever it
        is; a data frame of pandas, Polars or pyarrow; a column of one of these, or of Hugging Face's datasets, of
        numbers, text or lists of one length; anything with `__arrow_c_stream__` or `__arrow_c_array__`.
    name : str
        What the caller calls the argument.
    ragged : str
        What is said of rows that differ in length.
    unmasked : str
        What to give in place of a mask, for the message that refuses one.

    Returns
    -------
    ndarray
        bfloat16 and shorter floats, which NumPy does not have, come as float32, which holds each of them.

    Raises
    ------
    InvalidTypeError
        If the values are masked, sparse, or a tensor without numbers of its own; or if a column of a frame does not
        hold numbers.
    InvalidValueError
        If rows differ in length, a value is missing, or no type holds all the numbers.

    Examples
    --------
    >>> plain([[2**53 + 1, 0.5]], "scores")
    Traceback (most recent call last):
    deadheat.errors.InvalidValueError: scores must fit one type, but float64 does not hold 9007199254740993
    """
    _require_unmasked(values, name, unmasked)
    if hasattr(values, "todense"):
        raise InvalidTypeError(name, f"must be dense, but is a sparse {type(values).__name__}: give values.toarray()")
    if _is_dataset_column(values):
        return plain(_from_dataset(values), name, ragged=ragged, unmasked=unmasked)
    if not frames.is_frame(values) and arrow.speaks_arrow(values):
        values = arrow.imported(values, name)
        if not frames.is_frame(values):
            return arrow.to_array(values, name)
    if frames.is_frame(values):
        lists = frames.column_of_lists(values)
        if lists is None:
            return frames.from_frame(values, name, _require_kept)
        return plain(lists, name, ragged=ragged, unmasked=unmasked)
    return _from_rows(tensors.on_host(values, name), name, ragged)


def is_array(values: Any) -> bool:
    """Whether something is an array or a column, of whatever library, and no list."""
    known = isinstance(values, (np.ndarray, np.generic)) or _is_dataset_column(values)
    return known or tensors.is_foreign(values) or arrow.speaks_arrow(values)


def n_dim(values: Any) -> int | None:
    """How many dimensions something has as an array; None where it does not say."""
    if hasattr(values, "ndim"):
        return int(values.ndim)
    if frames.is_frame(values):
        return 2
    if arrow.speaks_arrow(values):
        kind = getattr(arrow.imported(values, "values"), "type", None)
        return 1 if kind is not None and not arrow.is_list(kind) else 2
    return None


def is_masked(values: Any) -> bool:
    """Whether values are a masked array of NumPy's; where nobody has imported these, there are none."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(values, masked.MaskedArray)


def _require_unmasked(values: Any, name: str, instead: str) -> None:
    """Refuse masked arrays, also as rows of a list: NumPy would go on without the mask."""
    if is_masked(values) or (isinstance(values, (list, tuple)) and any(map(is_masked, values))):
        raise InvalidTypeError(name, f"must be a plain array, but is a masked one{instead and f'; {instead}'}")


def _is_dataset_column(values: Any) -> bool:
    """Whether something is a column of Hugging Face's datasets, which is read when it is asked for."""
    return hasattr(values, "column_name") and hasattr(getattr(values, "source", None), "with_format")


def _from_dataset(column: Any) -> Any:
    """A column of Hugging Face's datasets, in the format that somebody chose for it."""
    # in none it would be Python's numbers: as Arrow it comes without that detour
    unformatted = column.source.format["type"] is None
    return column.source.with_format("arrow")[:][column.column_name] if unformatted else column[:]


def _from_rows(values: Any, name: str, ragged: str) -> Array:
    """An array of something that NumPy takes, or of rows that it takes one by one."""
    if isinstance(values, (list, tuple)) and len(values) and tensors.is_foreign(values[0]):
        values = [plain(row, f"{name}[{place}]") for place, row in enumerate(values)]
    try:
        array = np.asarray(values)
    except (ValueError, TypeError):
        raise InvalidValueError(name, ragged + _uneven(values)) from None
    array = tensors.widened(array)
    if array.dtype.kind == "O" and array.ndim == 1 and any(map(frames.is_row, array)):  # a column of lists
        _require_rows(array, name)
        return _from_rows(array.tolist(), name, ragged)
    if array.dtype.kind == "O" and array.ndim == 2:
        _require_present(array, name)
    if not hasattr(values, "__array__"):
        _require_unrounded(array, values, name)
    return array


def _require_rows(column: Array, name: str) -> None:
    """Refuse a column of lists in which one is missing."""
    row = next((row for row, entry in enumerate(column) if not frames.is_row(entry)), None)
    if row is not None:
        raise InvalidValueError(name, f"must have a list of numbers in each row, but row {row} has {column[row]!r:.40}")


def _require_present(array: Array, name: str) -> None:
    """Refuse rows in which something is missing, which NumPy keeps as an object."""
    found = np.argwhere(array == None)  # noqa: E711 - of each entry
    if len(found):
        raise InvalidValueError(name, f"must have no missing values, but row {found[0][0]} has one")


def _uneven(rows: Sequence[Any]) -> str:
    """Which row is the first that differs in length from the one before all, where that is what is wrong."""
    try:
        lengths = [len(row) for row in rows]
    except TypeError:
        return ""
    odd = next((row for row, length in enumerate(lengths) if length != lengths[0]), None)
    return "" if odd is None else f": row {odd} has {lengths[odd]} entries and row 0 has {lengths[0]}"


def _require_unrounded(array: Array, values: Any, name: str) -> None:
    """Refuse lists with integers that NumPy rounded, because other entries are floats or of the other sign."""
    if array.dtype.kind != "f" or array.ndim == 0:
        return
    doubtful = (np.abs(array.astype(np.float64, copy=False)) >= _EXACT).any(axis=tuple(range(1, array.ndim)))
    for row in np.flatnonzero(doubtful).tolist():
        _require_kept(array[row], np.array(values[row], dtype=object).ravel().tolist(), name)


def _require_kept(array: Array, given: list[Any], name: str) -> None:
    """Refuse numbers of Python's, or of NumPy's, that have become others in an array; NaN is for somebody else."""
    plain = [value.item() if isinstance(value, np.generic) else value for value in given]
    for value, kept in zip(plain, array.ravel().tolist(), strict=True):
        if isinstance(value, int) and value != kept:
            raise InvalidValueError(name, f"must fit one type, but {array.dtype} does not hold {value}")
