"""Which columns hold what is relevant to a query, and what of it does not count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.support.compiling import kernel

Array = NDArray[Any]


@kernel
def relevant_columns(
    classes: Array,
    starts: Array,
    keys: Array,
    sizes: Array,
    weight: Array,
    columns: Array,
    count: Array,
    irrelevant: Array,
) -> None:
    """List the columns of each query's class, with the relevant and the irrelevant items in each; 0 in padding.

    The classes' columns are given in CSR form: `keys` holds class · n_column + column, ascending, `sizes` the items.
    """
    n_column = len(weight)
    for i in range(len(classes)):
        start = starts[classes[i]]
        n = starts[classes[i] + 1] - start
        for j in range(n):
            column = keys[start + j] - classes[i] * n_column
            columns[i, j], count[i, j] = column, sizes[start + j]
            irrelevant[i, j] = weight[column] - sizes[start + j]
        for j in range(n, columns.shape[1]):
            columns[i, j], count[i, j], irrelevant[i, j] = n_column, 0, 0


@kernel
def take_out(
    rows: Array,
    taken: Array,
    same_class: Array,
    columns: Array,
    count: Array,
    irrelevant: Array,
) -> Array:
    """Take single items out of the counts of their columns; returns which of them are in columns not listed."""
    unlisted = np.zeros(len(rows), np.bool_)
    for p in range(len(rows)):
        i = rows[p]
        left, right = 0, columns.shape[1]
        while left < right:
            middle = (left + right) >> 1
            if columns[i, middle] < taken[p]:
                left = middle + 1
            else:
                right = middle
        if left == columns.shape[1] or columns[i, left] != taken[p]:
            unlisted[p] = True
        elif same_class[p]:
            count[i, left] -= 1
        else:
            irrelevant[i, left] -= 1
    return unlisted
