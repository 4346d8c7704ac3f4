"""Tie groups of rankings that somebody else made: what `matrices` and `runs` have in common.

The scores of a query become integer keys (larger is nearer), the keys of the relevant items are sorted, and all other
items are counted between them. Numbers are compared exactly as they are given.

    matrix of scores, matrix of relevance ──> keys, grades of a block of rows ─┐
                                                                               ├─> groups ─> profile
    run and qrels: files or dictionaries  ──> keys, grades of one query ───────┘
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.counting.kernels.scores import count_groups
from deadheat.profiles import TieProfile

Int64 = NDArray[np.int64]

_HIGHEST = np.iinfo(np.int64).max


class KeyedGroups(NamedTuple):
    """The tie groups of some queries, nearest first."""

    n_group: Int64  # (n_query,)
    n_ranked: Int64  # (n_query,)
    groups: Int64  # (n_group, 4): closer, closer_relevant, tied, tied_relevant
    by_grade: Int64  # (n_group, n_grade): tied_relevant by grade


def keys_of(scores: NDArray[Any], order: str) -> Int64:
    """A new array of int64 that compare as the scores do, the best score highest."""
    if scores.dtype.kind == "f":
        values = scores.astype(np.float64, order="C")
        values += 0.0  # -0.0 + 0.0 is 0.0
        keys = values.view(np.int64)
        keys ^= (keys >> 63) & _HIGHEST  # of negative floats, a larger size is a lower key
    elif scores.dtype.kind == "u":
        keys = (scores.astype(np.uint64, order="C") ^ np.uint64(1 << 63)).view(np.int64)
    else:
        keys = scores.astype(np.int64, order="C")
    return keys if order == "descending" else ~keys


def count_keys(keys: Int64, grades: Int64, grade_values: Int64) -> KeyedGroups:
    """The tie groups of the rows of two (n_query, n_item) arrays."""
    n_query, most = len(keys), int(np.count_nonzero(grades > 0))
    n_group, n_ranked = np.empty((2, n_query), dtype=np.int64)
    groups, by_grade = np.zeros((most, 4), dtype=np.int64), np.zeros((most, len(grade_values)), dtype=np.int64)
    filled = count_groups(keys, grades, grade_values, n_group, n_ranked, groups, by_grade)
    return KeyedGroups(n_group, n_ranked, groups[:filled].copy(), by_grade[:filled].copy())


def assemble(
    blocks: list[KeyedGroups],
    grade_values: Int64,
    relevant_by_grade: Int64 | None = None,
    query_ids: tuple[str, ...] | None = None,
) -> TieProfile:
    """Put blocks together; what is relevant is what the groups hold, unless it is given."""
    n_group, n_ranked, groups, by_grade = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    offsets = np.concatenate([[0], np.cumsum(n_group)])
    if relevant_by_grade is None:
        running = np.concatenate([np.zeros((1, len(grade_values)), dtype=np.int64), np.cumsum(by_grade, axis=0)])
        relevant_by_grade = np.diff(running[offsets], axis=0)
    graded = grade_values.tolist() != [1]
    closer, closer_relevant, tied, tied_relevant = groups.T
    return TieProfile(
        offsets, closer, closer_relevant, tied, tied_relevant, n_ranked, relevant_by_grade.sum(axis=1), grade_values,
        tied_by_grade=by_grade if graded else None,
        relevant_by_grade=relevant_by_grade if graded else None,
        query_ids=query_ids,
    )  # fmt: skip
