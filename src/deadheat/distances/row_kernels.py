"""The product of two rows, for loops that Numba compiles; distances/row_products.h has it for those of the core."""

from __future__ import annotations

import numpy as np

from deadheat.support.arrays import Array
from deadheat.support.compiling import inner
from deadheat.support.vector import LANES, products


@inner
def product_of_rows(a: Array, b: Array) -> float:
    """The product of two rows in float64, whatever their type."""
    whole = len(a) - len(a) % (2 * LANES)
    total: float = products(a, b, whole)
    for j in range(whole, len(a)):
        total += np.float64(a[j]) * np.float64(b[j])
    return total
