"""The tie profile of ranked lists of different lengths, given one after another, as torchmetrics hands them over.

Lists of about one length go through the loop for matrices together, padded with junk to less than twice their size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.engine.counting.scored import BLOCK_ENTRIES, KeyedGroups, assemble, count_keys, keys_of
from deadheat.engine.profiles.profile import TieProfile
from deadheat.support.arrays import Int64, offsets_of, slices, spread

_JUNK = -1


def profile_lists(scores: NDArray[Any], grades: Int64, lengths: Int64) -> TieProfile:
    """Count, for every list and every score at which it has a relevant item, what scores better and what is tied.

    Parameters
    ----------
    scores : (n_item,) array of floats or integers
        Of the items of the first list, then of the second, and so on; higher is better. No NaN.
    grades : (n_item,) int64
        What is relevant, 1 or a higher grade; 0 is irrelevant.
    lengths : (n_query,) int64
        How many items are in each list; at least one list.

    Returns
    -------
    TieProfile
        Of the lists in their order, with grades if there is one other than 1.

    Examples
    --------
    >>> profile = profile_lists(np.array([0.5, 0.5, 2.0]), np.array([1, 0, 1]), np.array([2, 1]))
    >>> profile.tied, profile.n_ranked
    (array([2, 1]), array([2, 1]))
    """
    keys, starts = keys_of(scores, "descending"), offsets_of(lengths)
    grade_values = np.unique(grades[grades > 0]) if (grades > 0).any() else np.ones(1, dtype=np.int64)
    blocks = _of_one_size(lengths)
    counted = [_count(keys, grades, starts[block], lengths[block], grade_values) for block in blocks]
    return assemble(counted, grade_values)[np.argsort(np.concatenate(blocks))]


def _of_one_size(lengths: Int64) -> list[Int64]:
    """The numbers of the lists, those together that are of one length but for a factor of two."""
    sizes = np.frexp(lengths.astype(np.float64))[1]  # a list is shorter than 2 ** size
    blocks = []
    for size in np.unique(sizes).tolist():
        queries = np.flatnonzero(sizes == size)
        blocks += [queries[some] for some in slices(len(queries), max(1, BLOCK_ENTRIES >> size))]
    return blocks


def _count(keys: Int64, grades: Int64, starts: Int64, lengths: Int64, grade_values: Int64) -> KeyedGroups:
    """The tie groups of some lists."""
    filled = np.arange(max(1, lengths.max())) < lengths[:, None]
    items = spread(starts, lengths)
    key, grade = np.zeros(filled.shape, dtype=np.int64), np.full(filled.shape, _JUNK, dtype=np.int64)
    key[filled], grade[filled] = keys[items], grades[items]
    return count_keys(key, grade, grade_values)
