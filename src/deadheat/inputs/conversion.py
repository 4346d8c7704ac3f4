"""From lists, data frames and tensors to NumPy arrays of the same numbers: exactly, or refused.

What NumPy would pass over in silence is refused here with one line: a mask, an integer rounded beside floats, and what
is no array at all, such as a sparse matrix.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InvalidTypeError, InvalidValueError

Array = NDArray[Any]

_EXACT = 2.0**53  # from here on a float64 may be an integer that was rounded
_RAGGED = "must be a matrix, but its rows differ in length or kind"


def plain(values: Any, name: str, *, ragged: str = _RAGGED, unmasked: str = "") -> Array:
    """An array of what somebody hands over, in the type that holds it.

    Parameters
    ----------
    values : array-like
        Also a tensor of PyTorch's, wherever it is, and a data frame of pandas, polars or pyarrow.
    name : str
        What the caller calls the argument.
    ragged : str
        What is said of rows that differ in length.
    unmasked : str
        What to give in place of a mask, for the message that refuses one.

    Raises
    ------
    InvalidTypeError
        If the values are masked, sparse, or a tensor without numbers of its own; or if a column of a frame does not
        hold numbers.
    InvalidValueError
        If rows differ in length, or no type holds all the numbers.

    Examples
    --------
    >>> plain([[2**53 + 1, 0.5]], "scores")
    Traceback (most recent call last):
    deadheat.errors.InvalidValueError: scores must fit one type, but float64 does not hold 9007199254740993
    """
    _require_unmasked(values, name, unmasked)
    if hasattr(values, "todense"):
        raise InvalidTypeError(name, f"must be dense, but is a sparse {type(values).__name__}: give values.toarray()")
    if hasattr(values, "columns") and hasattr(values, "__array__"):
        return _from_frame(values, name)
    values = from_tensor(values, name)
    try:
        array = np.asarray(values)
    except (ValueError, TypeError):
        raise InvalidValueError(name, ragged) from None
    if not hasattr(values, "__array__"):
        _require_unrounded(array, values, name)
    return array


def from_tensor(values: Any, name: str) -> Any:
    """A tensor of PyTorch's as an array of the same numbers, wherever it is; anything else as it came."""
    if not (hasattr(values, "detach") and hasattr(values, "cpu")):
        return values
    _require_dense(values, name)
    here = values.detach().cpu()
    here = here.resolve_neg() if hasattr(here, "resolve_neg") else here  # whose sign waits to be turned
    try:
        return here.numpy()
    except TypeError:  # bfloat16 and shorter, which NumPy does not have and float32 holds
        return here.float().numpy()


def is_masked(values: Any) -> bool:
    """Whether values are a masked array of NumPy's; where nobody has imported these, there are none."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(values, masked.MaskedArray)


def _require_unmasked(values: Any, name: str, instead: str) -> None:
    """Refuse masked arrays, also as rows of a list: NumPy would go on without the mask."""
    if is_masked(values) or (isinstance(values, (list, tuple)) and any(map(is_masked, values))):
        raise InvalidTypeError(name, f"must be a plain array, but is a masked one{instead and f'; {instead}'}")


def _require_dense(tensor: Any, name: str) -> None:
    """Refuse tensors that do not hold their numbers one after another."""
    if str(getattr(tensor, "layout", "torch.strided")) != "torch.strided" or getattr(tensor, "is_nested", False):
        raise InvalidTypeError(name, "must be dense, but is a sparse or nested tensor: give tensor.to_dense()")
    if getattr(tensor, "is_quantized", False):
        raise InvalidTypeError(name, "must hold plain numbers, but is a quantized tensor: give tensor.dequantize()")
    if getattr(tensor, "is_meta", False):
        raise InvalidTypeError(name, "must hold numbers, but is a tensor on the device 'meta', which has none")


def _from_frame(frame: Any, name: str) -> Array:
    """The columns of a data frame side by side; nullable ones too, as long as nothing is missing."""
    whole = np.asarray(frame)
    if whole.ndim != 2 or whole.dtype.kind not in "Of":
        return whole
    names, columns = list(getattr(frame, "column_names", frame.columns)), [*map(np.asarray, _columns(frame))]
    odd = next((place for place, column in enumerate(columns) if column.dtype.kind not in "biuf"), None)
    if odd is not None:
        came = f"column {names[odd]!r} has dtype {columns[odd].dtype}"
        raise InvalidTypeError(name, f"must hold real numbers and none missing, but {came}")
    wide = [place for place, column in enumerate(columns) if column.dtype.kind in "iu" and column.dtype.itemsize == 8]
    if whole.dtype.kind == "f" and not wide:
        return whole
    together = np.stack(columns, axis=1)
    for place in wide:
        _require_kept(together[:, place], columns[place].tolist(), name)
    return together


def _columns(frame: Any) -> Iterable[Any]:
    """The columns of a frame of polars, pyarrow or pandas."""
    for method in ("iter_columns", "itercolumns"):
        if hasattr(frame, method):
            return getattr(frame, method)()  # type: ignore[no-any-return]
    return (column for _, column in frame.items())


def _require_unrounded(array: Array, values: Any, name: str) -> None:
    """Refuse lists with integers that NumPy rounded, because other entries are floats or of the other sign."""
    if array.dtype.kind != "f" or array.ndim == 0:
        return
    doubtful = (np.abs(array) >= _EXACT).any(axis=tuple(range(1, array.ndim)))
    for row in np.flatnonzero(doubtful).tolist():
        _require_kept(array[row], np.array(values[row], dtype=object).ravel().tolist(), name)


def _require_kept(array: Array, given: list[Any], name: str) -> None:
    """Refuse numbers of Python's, or of NumPy's, that have become others in an array; NaN is for somebody else."""
    plain = [value.item() if isinstance(value, np.generic) else value for value in given]
    for value, kept in zip(plain, array.ravel().tolist(), strict=True):
        if isinstance(value, int) and value != kept:
            raise InvalidValueError(name, f"must fit one type, but {array.dtype} does not hold {value}")
