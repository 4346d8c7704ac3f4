"""Types of arrays, and runs of consecutive indices: of equal length, or of any length as in CSR form."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Bool = NDArray[np.bool_]
Int8 = NDArray[np.int8]
UInt8 = NDArray[np.uint8]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]


def slices(n: int, step: int) -> list[slice]:
    """Cut the indices from 0 to before n into slices of `step`; the last slice may end beyond n."""
    return [slice(start, start + step) for start in range(0, n, step)]


def pieces(work: Int64, most: int = 2**22) -> list[slice]:
    """Return runs of items whose work adds up to about `most` each, so that a call for each run is short.

    Examples
    --------
    >>> pieces(np.array([2, 3, 1, 9, 1]), most=5)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    cuts = np.flatnonzero(np.diff((np.cumsum(work) - work) // most)) + 1
    return [slice(i, j) for i, j in pairwise((0, *cuts.tolist(), len(work))) if i < j]


def distinct(numbers: NDArray[Any]) -> tuple[Int64, Int64]:
    """Return the distinct values of some integers, ascending, and the index of each integer among them.

    Examples
    --------
    >>> distinct(np.array([7, 5, 7]))
    (array([5, 7]), array([1, 0, 1]))
    """
    low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    if high - low > 4 * len(numbers):
        values, places = np.unique(numbers, return_inverse=True)
        return values.astype(np.int64, copy=False), places
    present = np.zeros(high - low + 1, dtype=np.bool_)
    present[numbers - low] = True
    return np.flatnonzero(present) + low, (np.cumsum(present) - 1)[numbers - low]


def offsets_of(lengths: NDArray[Any]) -> Int64:
    """Return the starts of consecutive runs of these lengths, and the end of the last one.

    Examples
    --------
    >>> offsets_of(np.array([2, 3]))
    array([0, 2, 5])
    """
    return np.concatenate([[0], np.cumsum(lengths)])


def runs_joined(starts: Int64, lengths: Int64) -> Int64:
    """Return the indices in all runs, one run after another.

    Examples
    --------
    >>> runs_joined(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    ends = np.cumsum(lengths)
    return np.repeat(starts - ends + lengths, lengths) + np.arange(ends[-1] if len(ends) else 0)
