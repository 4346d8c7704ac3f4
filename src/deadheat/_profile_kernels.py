"""The loop over the tie groups of a profile, compiled. Integers come in, integers go out."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from deadheat._compile import kernel

Array = NDArray[Any]


@kernel
def count_mixed(offsets: Array, tied: Array, by_grade: Array) -> tuple[int, int, int]:
    """How many groups are not of one grade alone, in how many queries, and how many items the largest of them has."""
    groups = queries = largest = 0
    for query in range(len(offsets) - 1):
        before = groups
        for group in range(offsets[query], offsets[query + 1]):
            size = tied[group]
            if size == 1:
                continue
            one_grade = False
            for grade in range(by_grade.shape[1]):
                one_grade |= by_grade[group, grade] == size
            if not one_grade:
                groups += 1
                largest = max(largest, size)
        queries += groups > before
    return groups, queries, largest
