"""Checks of embeddings, scores, grades and junk as NumPy matrices, to which `conversion` converts them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs.conversion import compressed_rows, plain
from deadheat.inputs.pair_rules import RuledMask
from deadheat.support import checks
from deadheat.support.arguments import VALUES, names_argument

_UNMASKED = "to leave items out, use junk"
_ROWS_AT_ONCE = 1 << 22  # elements checked in one go, so that a check needs little memory


@names_argument
def embeddings(values: ArrayLike) -> NDArray[Any]:
    """Check embeddings and return them, C-contiguous, as float32 or float64, whichever holds every value exactly.

    They are finite real numbers, (n, dim) with both positive. Integers of 64 bits are taken if float64 holds them.
    """
    array = matrix(values)
    require_filled(array.shape)
    target = float_type(array.dtype)
    require_exact(array)
    return np.ascontiguousarray(array, dtype=target)


def matrix(values: ArrayLike) -> NDArray[Any]:
    """Return values as an array of two dimensions, which may be empty."""
    array = plain(values, unmasked=_UNMASKED)
    if array.ndim != 2:
        raise InvalidValueError(VALUES, f"must be two-dimensional (n, dim), but has shape {array.shape}")
    return array


def require_filled(shape: tuple[int, ...]) -> None:
    """Refuse a matrix without rows or without columns."""
    if 0 in shape:
        raise InvalidValueError(VALUES, f"must have at least one row and one column, but has shape {shape}")


def float_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return float32 or float64, whichever holds every number of a type; 64-bit integers need `require_exact`."""
    kind, size = dtype.kind, dtype.itemsize
    if kind in "biuf" and size <= 8:
        return np.dtype(np.float32 if size <= (4 if kind == "f" else 2) else np.float64)
    is_void = kind == "V" and dtype.names is None and size <= 2  # a type that NumPy's own files do not keep
    hint = ", as bfloat16 and float8 have in NumPy's files: save them as float32" if is_void else ""
    raise InvalidTypeError(VALUES, f"must hold real numbers of at most 64 bits, but has dtype {dtype}{hint}")


@names_argument
def require_exact(rows: NDArray[Any], start: int = 0) -> None:
    """Refuse NaN, infinities, and integers that float64 cannot hold, in rows that are numbered from `start`."""
    if rows.dtype.kind == "f":
        _require_finite(rows, start)
    elif rows.dtype.itemsize == 8 and max(-int(rows.min()), int(rows.max())) > 2**53:
        row = start + int(np.argwhere((rows > 2**53) | (rows < -(2**53)))[0, 0])
        raise InvalidValueError(VALUES, f"must hold integers up to 2^53 in size, but holds a larger one in row {row}")


def require_same_dim(query: Any, gallery: Any) -> None:
    """Refuse two sets of embeddings that differ in dim."""
    if query.shape[1] != gallery.shape[1]:
        rule = f"must have the same dim, but have {query.shape[1]} and {gallery.shape[1]} columns"
        raise InvalidValueError("embeddings and gallery", rule)


def junk_mask(values: Any, n_query: int, n_gallery: int) -> Any:
    """Check the mask of items to ignore: bool, (n_gallery,) for all queries or (n_query, n_gallery), or by rules."""
    if values is None:
        return None
    ragged = "must be a mask, but its rows differ in length or kind"
    mask = values if isinstance(values, RuledMask) else plain(values, "junk", ragged=ragged)
    if mask.shape not in ((n_gallery,), (n_query, n_gallery)):
        rule = f"must have shape ({n_gallery},) or ({n_query}, {n_gallery})"
        raise InvalidValueError("junk", f"{rule}, but has shape {mask.shape}")
    if mask.dtype != np.bool_:
        raise InvalidTypeError("junk", f"must be bool, but has dtype {mask.dtype}")
    return mask.copy() if len(mask.shape) == 1 else mask


@names_argument
def scores(values: ArrayLike) -> NDArray[Any]:
    """Check a matrix of scores or distances, (n_query, n_gallery): any real type; `require_counted` checks for NaN."""
    array = matrix(values)
    require_filled(array.shape)
    float_type(array.dtype)
    return array


@names_argument
def finite_scores(values: ArrayLike) -> NDArray[Any]:
    """Check a matrix of scores or distances without NaN and infinities."""
    array = scores(values)
    if array.dtype.kind == "f":
        _require_finite(array)
    return array


@names_argument
def require_counted(values: NDArray[Any], ignored: Any, start: int = 0) -> None:
    """Refuse NaN and infinities among scores, except where they are ignored, in rows that are numbered from `start`.

    `ignored` is a mask that broadcasts to the scores: junk may have any score, such as the -inf of a mask.
    """
    if values.dtype.kind != "f":
        return
    finite = np.isfinite(values)
    for row, *column in [] if finite.all() else np.argwhere(~(finite | ignored))[:1]:
        where = f"row {start + row}" + "".join(f", column {index}" for index in column)
        rule = f"must be finite, but holds {values[(row, *column)]} in {where}"
        raise InvalidValueError(VALUES, rule + ("; to leave an item out, use junk" if column else ""))


def relevance(values: Any, shape: tuple[int, ...], matched: str = "scores") -> Any:
    """Check a relevance matrix: bool, or gains of 0 and more, as NumPy array or as SciPy sparse rows (CSR)."""
    matrix = entries = values if hasattr(values, "tocsr") else plain(values, "relevant")
    if matrix.shape != shape:
        raise InvalidValueError("relevant", f"must have the shape of {matched}, {shape}, but has shape {matrix.shape}")
    if matrix.dtype.kind not in "biuf" or matrix.dtype.itemsize > 8:
        raise InvalidTypeError("relevant", f"must be bool, or gains of at most 64 bits, but has dtype {matrix.dtype}")
    if hasattr(values, "tocsr"):
        matrix = compressed_rows(values, "relevant")  # entries that are given twice add up
        entries = matrix.data
    if entries.dtype.kind == "f":
        for wrong in entries[~gains_allowed(entries)][:1]:
            raise InvalidValueError("relevant", f"must hold gains of {GAIN}, but holds {wrong}")
    elif entries.size and entries.min() < 0:
        raise InvalidValueError("relevant", f"must hold grades of 0 and more, but holds {entries.min()}")
    if entries.dtype == np.uint64 and entries.size and entries.max() > np.iinfo(np.int64).max:
        raise InvalidValueError("relevant", f"must hold grades below 2^63, but holds {entries.max()}")
    return matrix


GAIN = "0, or from 1e-100 to 1e100"


def gains_allowed(values: Any) -> Any:
    """Return whether each number is a gain whose sums have the accuracy of others; NaN and infinities are none."""
    least, most = np.float64(1e-100), np.float64(1e100)  # which float32 cannot hold
    return (values == 0) | ((values >= least) & (values <= most))


@names_argument
def gain(value: Any) -> float:
    """Return a gain as a Python number, a whole one as an integer; a negative integer marks an irrelevant item."""
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, (int, float)):
        raise InvalidTypeError(VALUES, checks.no_number(value, f"of type {type(value).__name__}"))
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, float) and not gains_allowed(value):  # without the number, which may come from a file
        large = "a smaller one" if value < 1 else "a larger one" if value > 1 else "NaN"
        kind = "a negative one, with which nDCG is no fraction of an ideal" if value < 0 else large
        raise InvalidValueError(VALUES, f"must be an integer, or a gain of {GAIN}, but is {kind}")
    if value > np.iinfo(np.int64).max and isinstance(value, int):
        raise InvalidValueError(VALUES, "must be below 2^63, but is larger")
    return value


@names_argument
def least_gain(value: Any) -> float:
    """Return the least gain that is relevant as a Python number, a whole one as an integer."""
    if checks.real_number(value, VALUES) <= 0:
        raise InvalidValueError(VALUES, f"must be above 0, but is {value}")
    return gain(int(value) if isinstance(value, int) else value)  # not of a class of somebody else


def _require_finite(array: NDArray[Any], start: int = 0) -> None:
    step = max(1, _ROWS_AT_ONCE // array.shape[1])
    for first in range(0, len(array), step):
        bad = ~np.isfinite(array[first : first + step])
        if bad.any():
            row, column = np.argwhere(bad)[0] + (first, 0)
            where = f"row {start + row}, column {column}"
            raise InvalidValueError(VALUES, f"must be finite, but holds {array[row, column]} in {where}")
