"""The loop that turns sorted columns into ranked items."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from deadheat.support.compiling import inner, kernel

Array = NDArray[Any]


@inner
def _holds(ascending: Array, item: int) -> bool:
    """Whether an item is in an ascending list."""
    left, right = 0, len(ascending)
    while left < right:
        middle = (left + right) >> 1
        if ascending[middle] < item:
            left = middle + 1
        else:
            right = middle
    return left < len(ascending) and ascending[left] == item


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
                if not _holds(left_out, by_column[k]):
                    items[row, place] = by_column[k]
                    numbers[row, place] = number
                    place += 1
        items[row, first:place].sort()
