"""The loop for rankings that come with scores: sort what is relevant, count everything else.

In come integer keys, larger for nearer, and grades; out go tie groups. No row is ever sorted as a whole: for R relevant
of G items it costs O(R log R), and then O(1) an item where the scores are spread evenly, O(log R) at worst.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deadheat.support.arrays import Array
from deadheat.support.compiling import inner, kernel

# The columns of a table of tie groups
CLOSER, CLOSER_RELEVANT, TIED, TIED_RELEVANT = 0, 1, 2, 3
FEWEST_BINS, MOST_BINS = 1 << 10, 1 << 15


@inner
def _levels(keys: Array, grades: Array) -> Array:
    """The distinct keys of the relevant items of one row, ascending."""
    relevant = np.empty(len(keys), np.int64)
    n_relevant = 0
    for j in range(len(keys)):
        if grades[j] > 0:
            relevant[n_relevant] = keys[j]
            n_relevant += 1
    levels = np.sort(relevant[:n_relevant])
    n_level = 0
    for i in range(n_relevant):
        if n_level == 0 or levels[i] != levels[n_level - 1]:
            levels[n_level] = levels[i]
            n_level += 1
    return levels[:n_level]


@inner
def _bins(levels: Array) -> tuple[Any, Array]:
    """Cut the span of the levels into bins of 2^shift keys each, and count the levels below each bin."""
    shift = np.uint64(0)
    n_level = len(levels)
    if n_level == 0:
        return shift, np.zeros(0, np.int32)
    span = np.uint64(levels[-1]) - np.uint64(levels[0])  # modulo 2^64, so right whatever the signs
    n_bin = np.uint64(min(max(8 * n_level, FEWEST_BINS), MOST_BINS))
    while span >> shift >= n_bin:
        shift += np.uint64(1)
    below = np.empty(np.int64(span >> shift) + 2, np.int32)
    level = 0
    for b in range(len(below)):
        while level < n_level and (np.uint64(levels[level]) - np.uint64(levels[0])) >> shift < np.uint64(b):
            level += 1
        below[b] = level
    return shift, below


@inner
def _last_at_most(levels: Array, shift: Any, below: Array, key: int) -> Any:
    """The place of the last level that is not above the key; the first one must not be."""
    b = (np.uint64(min(key, levels[-1])) - np.uint64(levels[0])) >> shift
    place = np.int64(max(below[b] - 1, 0))
    size = np.int64(below[b + np.uint64(1)]) - place
    while size > 1:  # where a bin is crowded, halve it
        half = size >> 1
        place = place + half if levels[place + half] <= key else place
        size -= half
    return place


@kernel
def count_groups(
    keys: Array, grades: Array, grade_values: Array, n_group: Array, n_ranked: Array, groups: Array, by_grade: Array
) -> int:
    """Count the tie groups of each row, nearest first, and return how many there are in all.

    Of `keys`, larger is nearer and equal is tied; of `grades`, both (n_row, n_item), 0 is irrelevant and less is not
    ranked; `grade_values` are the positive ones, ascending. Filled are `n_group` and `n_ranked` (n_row,), and, zeros
    before and as long as there are relevant items, `groups` (·, 4), one row of groups after the other, and `by_grade`
    (·, n_grade), their relevant items by grade.
    """
    filled = 0
    for i in range(keys.shape[0]):
        levels = _levels(keys[i], grades[i])
        shift, below = _bins(levels)
        n_level = len(levels)
        here = groups[filled : filled + n_level]
        ranked = 0
        for j in range(keys.shape[1]):
            key, grade = keys[i, j], grades[i, j]
            ranked += grade >= 0
            if grade < 0 or n_level == 0 or key < levels[0]:
                continue
            level = _last_at_most(levels, shift, below, key)
            group = n_level - 1 - level
            if key > levels[level]:
                here[group, CLOSER] += 1  # closer than this group, and not than the next nearer one
                continue
            here[group, TIED] += 1
            if grade > 0:
                here[group, TIED_RELEVANT] += 1
                by_grade[filled + group, np.searchsorted(grade_values, grade)] += 1
        closer = closer_relevant = 0
        for group in range(n_level):
            closer += here[group, CLOSER]
            here[group, CLOSER], here[group, CLOSER_RELEVANT] = closer, closer_relevant
            closer += here[group, TIED]
            closer_relevant += here[group, TIED_RELEVANT]
        n_group[i], n_ranked[i] = n_level, ranked
        filled += n_level
    return filled
