"""Columns and the items in them: which columns hold what is relevant, and what items sorted columns hold."""

from __future__ import annotations

import numpy as np

from deadheat.support.arrays import Array
from deadheat.support.compiling import inner, kernel


@inner
def first_not_below(ascending: Array, number: int) -> int:
    """The place of the first number of an ascending list that is not below another."""
    left, right = 0, len(ascending)
    while left < right:
        middle = (left + right) >> 1
        if ascending[middle] < number:
            left = middle + 1
        else:
            right = middle
    return left


@kernel
def relevant_columns(
    classes: Array, starts: Array, keys: Array, sizes: Array, weight: Array,
    columns: Array, count: Array, irrelevant: Array,
) -> None:  # fmt: skip
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
def take_out(rows: Array, taken: Array, same_class: Array, columns: Array, count: Array, irrelevant: Array) -> Array:
    """Take single items out of the counts of their columns; returns which of them are in columns not listed."""
    unlisted = np.zeros(len(rows), np.bool_)
    for p in range(len(rows)):
        i = rows[p]
        place = first_not_below(columns[i], taken[p])
        if place == columns.shape[1] or columns[i, place] != taken[p]:
            unlisted[p] = True
        elif same_class[p]:
            count[i, place] -= 1
        else:
            irrelevant[i, place] -= 1
    return unlisted


@kernel
def expand(
    columns: Array, group: Array, by_column: Array, starts: Array, first_excluded: Array, excluded: Array,
    items: Array, numbers: Array,
) -> None:  # fmt: skip
    """Write the items of each row nearest first, and their groups, leaving out those that do not count for the row.

    `columns` is farthest first, with a `group` of −1 in padding; the items of column c are
    ``by_column[starts[c]:starts[c + 1]]``, and those that do not count for row i, ascending,
    ``excluded[first_excluded[i]:first_excluded[i + 1]]``. The items of one group are put into ascending order.
    """
    n_row, width = columns.shape
    for row in range(n_row):
        left_out = excluded[first_excluded[row] : first_excluded[row + 1]]
        place = first = 0
        last_group = -1
        for entry in range(width - 1, -1, -1):
            number = group[row, entry]
            if number < 0:
                continue
            if number != last_group:
                items[row, first:place].sort()
                first, last_group = place, number
            column = columns[row, entry]
            for k in range(starts[column], starts[column + 1]):
                at = first_not_below(left_out, by_column[k])
                if at == len(left_out) or left_out[at] != by_column[k]:
                    items[row, place] = by_column[k]
                    numbers[row, place] = number
                    place += 1
        items[row, first:place].sort()
