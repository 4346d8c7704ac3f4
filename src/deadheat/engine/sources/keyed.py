"""From integer keys to tie profiles: what all sources of scores share.

The scores of a query become integer keys (larger is nearer), the keys of the relevant items are sorted, and all other
items are counted between them. Numbers are compared exactly as they are given.

    matrix of scores and relevance (`scores`) ──> keys, grades of a block of rows ─┐
    run and qrels (`run`), neighbours, lists  ──> keys, grades of queries ─────────┴─> groups ─> profile
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import deadheat._core as _core
from deadheat.engine.profiles.gains import leveled
from deadheat.engine.profiles.profile import TieProfile, by_query
from deadheat.engine.ties.scores import EQUAL, ScoreTies
from deadheat.support.arrays import Float64, Int64, offsets_of, runs_joined, slices

BLOCK_ENTRIES = 1 << 18  # of the matrix in one block of rows: a few megabytes, whatever the matrix
JUNK = -1  # the grade of an item that is not ranked
_HIGHEST = np.iinfo(np.int64).max


class KeyedGroups(NamedTuple):
    n_group: Int64  # (n_query,)
    n_ranked: Int64  # (n_query,)
    groups: Int64  # (n_group, 4): closer, closer_relevant, tied, tied_relevant
    by_grade: Int64  # (n_group, n_grade): tied_relevant by grade


def keys_of(scores: NDArray[Any], order: str) -> Int64:
    """Return new int64 keys that compare as the scores do, the best score highest."""
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


def keyed(scores: NDArray[Any], order: str, rule: ScoreTies) -> Int64:
    """Return keys, (1, ...), or for a tolerance, (3, ...), also the lowest and the highest key that tie with each."""
    keys = keys_of(rule.rounded(scores), order)
    if not rule.bounds_only:
        return keys[None]
    ends = [keys_of(end, order) for end in rule.window(scores)]
    return np.stack([keys, *(ends if order == "descending" else ends[::-1])])


def count_keys(keys: Int64, grades: Int64, grade_values: Int64) -> KeyedGroups:
    """Count the tie groups of rows of keys, (1 or 3, n_query, n_item) as `keyed` has them, and of their grades."""
    if len(keys) > 1:
        return _count_within(keys, grades)
    keys = keys[0]
    n_query, most = len(keys), int(np.count_nonzero(grades > 0))
    n_group, n_ranked = np.empty((2, n_query), dtype=np.int64)
    groups, by_grade = np.zeros((most, 4), dtype=np.int64), np.zeros((most, len(grade_values)), dtype=np.int64)
    filled = _core.count_groups(keys, grades, grade_values, (n_group, n_ranked, groups, by_grade))
    return KeyedGroups(n_group, n_ranked, groups[:filled].copy(), by_grade[:filled].copy())


def _count_within(keys: Int64, grades: Int64) -> KeyedGroups:
    """Count, for each relevant item, the irrelevant ones of its row whose keys are above, or in, its window."""
    n_group, groups = [], [np.zeros((0, 4), dtype=np.int64)]
    for row, grade, least, most in zip(keys[0], grades, keys[1], keys[2], strict=True):
        relevant, others = np.flatnonzero(grade > 0), np.sort(row[grade == 0])
        _, first, m = np.unique(-1 - row[relevant], return_index=True, return_counts=True)  # the best first
        chosen = relevant[first]
        above = len(others) - np.searchsorted(others, most[chosen], "right")
        within = len(others) - np.searchsorted(others, least[chosen], "left") - above
        seen = np.cumsum(m) - m
        groups.append(np.stack([above + seen, seen, within + m, m], axis=1))
        n_group.append(len(m))
    joined = np.concatenate(groups)
    return KeyedGroups(np.array(n_group, dtype=np.int64), (grades >= 0).sum(axis=1), joined, joined[:, 3:])


def assemble(
    blocks: list[KeyedGroups],
    grade_values: Int64,
    relevant_by_grade: Int64 | None = None,
    query_ids: tuple[str, ...] | None = None,
    gains: Float64 | None = None,
    bounds_only: bool = False,
) -> TieProfile:
    """Join blocks into a profile; relevant items are those in the groups, unless their numbers are given."""
    n_group, n_ranked, groups, by_grade = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    offsets = offsets_of(n_group)
    if relevant_by_grade is None:
        relevant_by_grade = by_query(by_grade, np.repeat(np.arange(len(n_group)), n_group), len(n_group))
    graded = grade_values.tolist() != [1]
    closer, closer_relevant, tied, tied_relevant = groups.T
    return TieProfile(
        offsets, closer, closer_relevant, tied, tied_relevant, n_ranked, relevant_by_grade.sum(axis=1), grade_values,
        tied_by_grade=by_grade if graded else None,
        relevant_by_grade=relevant_by_grade if graded else None,
        query_ids=query_ids, gains=gains, bounds_only=bounds_only,
    )  # fmt: skip


def profile_lists(
    scores: NDArray[Any], grades: NDArray[Any], lengths: Int64, rule: ScoreTies = EQUAL, order: str = "descending"
) -> TieProfile:
    """Count, for every list and every score at which it has a relevant item, the items that score better or tie.

    Lists of about one length are counted together, padded with junk to less than twice their size.

    `scores` and `grades` (gains, of which 0 is irrelevant) have the items of the first list, then of the second, and so
    on; `lengths` has the number of items in each of at least one list. The profile has the lists in their order, with
    grades if there is one other than 1.

    Examples
    --------
    >>> profile = profile_lists(np.array([0.5, 0.5, 2.0]), np.array([1, 0, 1]), np.array([2, 1]))
    >>> profile.tied, profile.n_ranked
    (array([2, 1]), array([2, 1]))
    """
    keys, starts = keyed(scores, order, rule), offsets_of(lengths)
    grades, gains = leveled(np.repeat(np.arange(len(lengths)), lengths), grades, len(lengths))
    grade_values = np.unique(grades[grades > 0]) if (grades > 0).any() else np.ones(1, dtype=np.int64)
    rule.require_ungraded(grade_values)
    blocks, counted = [], []
    sizes = np.frexp(lengths.astype(np.float64))[1]  # a list is shorter than 2 ** size
    for size in np.unique(sizes).tolist():
        queries = np.flatnonzero(sizes == size)
        for block in (queries[some] for some in slices(len(queries), max(1, BLOCK_ENTRIES >> size))):
            filled = np.arange(max(1, lengths[block].max())) < lengths[block, None]
            items = runs_joined(starts[block], lengths[block])
            key = np.zeros((len(keys), *filled.shape), dtype=np.int64)
            grade = np.full(filled.shape, JUNK, dtype=np.int64)
            key[:, filled], grade[filled] = keys[:, items], grades[items]
            counted.append(count_keys(key, grade, grade_values))
            blocks.append(block)
    queries = np.concatenate(blocks)
    profile = assemble(
        counted, grade_values, gains=None if gains is None else gains[queries], bounds_only=rule.bounds_only
    )
    return profile[np.argsort(queries)]
