"""The loop that turns sorted columns into ranked items."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from deadheat.support.compiling import kernel


@kernel
def expand(
    columns: NDArray[Any],
    group: NDArray[Any],
    by_column: NDArray[Any],
    starts: NDArray[Any],
    itself: NDArray[Any],
    items: NDArray[Any],
    numbers: NDArray[Any],
) -> None:
    """Write the items of each row nearest first, and their groups, leaving out the query itself.

    `columns` is farthest first, with a `group` of −1 in padding; the items of column c are
    ``by_column[starts[c]:starts[c + 1]]``. The items of one group are put into ascending order.
    """
    n_row, width = columns.shape
    for row in range(n_row):
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
                if by_column[k] != itself[row]:
                    items[row, place] = by_column[k]
                    numbers[row, place] = number
                    place += 1
        items[row, first:place].sort()
