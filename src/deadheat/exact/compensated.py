"""Dot products in about twice the precision of float64."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.support.compiling import kernel
from deadheat.support.error_free import two_product, two_sum

Array = NDArray[Any]

SUMS = 32  # sums that run side by side, in vector instructions


@kernel
def compensated_dots(left: Array, rows: Array, right: Array, columns: Array) -> Array:
    """Dot products of row rows[p] on the left with row columns[p] on the right, as if summed in twice the precision.

    Dot2 of Ogita, Rump and Oishi (Accurate sum and dot product, 2005), as SUMS sums side by side: off by at most
    u·|product| + γ² Σ|a·b|, with γ for dim + 2 · SUMS roundings, where nothing overflows or underflows.
    """
    out = np.empty(len(rows))
    dim = left.shape[1]
    sums, rests = np.empty(SUMS), np.empty(SUMS)
    for p in range(len(rows)):
        first, second = left[rows[p]], right[columns[p]]
        sums[:] = 0
        rests[:] = 0
        for begin in range(0, dim, SUMS):
            for k in range(min(SUMS, dim - begin)):
                product, lost = two_product(np.float64(first[begin + k]), np.float64(second[begin + k]))
                sums[k], lost_in_sum = two_sum(sums[k], product)
                rests[k] += lost + lost_in_sum
        total, rest = 0.0, 0.0
        for k in range(SUMS):
            total, lost_in_sum = two_sum(total, sums[k])
            rest += rests[k] + lost_in_sum
        out[p] = total + rest
    return out
