"""Runs of consecutive numbers, as in CSR form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]


def spread(starts: Int64, lengths: Int64) -> Int64:
    """The numbers of all runs, one run after another.

    Examples
    --------
    >>> spread(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    ends = np.cumsum(lengths)
    return np.repeat(starts - ends + lengths, lengths) + np.arange(ends[-1] if len(ends) else 0)
