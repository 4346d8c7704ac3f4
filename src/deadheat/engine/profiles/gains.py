"""Real-valued gains as levels: in come the gains of pairs, out go integers by query, and the gain of each level.

A query has as many levels as its relevant items have distinct gains, and the highest level of all queries is the same
number, so that counts by level stay a small table where every item of every query has a gain of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from deadheat.engine.profiles.profile import TieProfile, before_groups
from deadheat.support.arrays import Float64, Int64, offsets_of


def leveled(query: Int64, gains: Any, n_query: int) -> tuple[Int64, Float64 | None]:
    """Return the grade of each pair, and the gains of grades for each query; None if all gains are whole.

    Whole gains are their own grades. Others are numbered in each query, up to the same highest grade in all queries.

    `query` and `gains` have an entry for each pair; a gain that is not positive has grade 0. The table of gains is
    (n_query, n_grade), from grade 1 on, and 0 for a grade that a query does not have.

    Examples
    --------
    >>> leveled(np.array([0, 0, 1, 0]), [0.5, 2, 0.25, 0.5], 2)
    (array([1, 2, 2, 1]), array([[0.5 , 2.  ],
           [0.  , 0.25]]))
    >>> leveled(np.array([0, 0]), [0.0, 3.0], 1)
    (array([0, 3]), None)
    """
    given = np.asarray(gains)
    if given.dtype.kind != "f" or ((given == np.floor(given)) & (given < 2**53)).all():
        return np.maximum(given, 0).astype(np.int64), None
    some = np.flatnonzero(given > 0)
    some = some[np.lexsort((given[some], query[some]))]
    row, gain = query[some], given[some].astype(np.float64)
    new = np.ones(len(some), dtype=np.bool_)
    new[1:] = (np.diff(row) != 0) | (np.diff(gain) != 0)
    counts = np.bincount(row[new], minlength=n_query)
    column = np.cumsum(new) - 1 - offsets_of(counts)[1:][row] + counts.max()
    table = np.zeros((n_query, int(counts.max())))
    table[row[new], column[new]] = gain[new]
    grade = np.zeros(len(given), dtype=np.int64)
    grade[some] = column + 1
    return grade, table


def with_grades(
    profile: TieProfile, query: Int64, group: Int64, level: Int64, grades: Int64, n_relevant: Int64
) -> TieProfile:
    """Return a binary profile with the grades of its relevant pairs: query, group, and position in `grades`.

    `n_relevant` counts the relevant items of each query by grade, ranked or not.
    """
    by_grade = np.zeros((profile.n_group, len(grades)), dtype=np.int64)
    np.add.at(by_grade, (profile.offsets[query] + group, level), 1)
    return replace(profile, grades=grades, tied_by_grade=by_grade, relevant_by_grade=n_relevant)


def with_unjudged(profile: TieProfile, level: int, gain: float, gains: Float64 | None) -> TieProfile:
    """Return a profile whose relevant items of the grade `level`, above all others, are unjudged in place of that.

    `gain` is theirs if they are relevant, and `gains` are those of the other grades, if they are real.
    """
    (of_groups, of_queries), judged = profile.counts_by_grade, profile.grades != level
    unjudged, n_unjudged = (counts[:, ~judged].sum(axis=1) for counts in (of_groups, of_queries))
    of_groups, of_queries = of_groups[:, judged], of_queries[:, judged]
    grades = profile.grades[judged] if judged.any() else np.ones(1, dtype=np.int64)
    tied_relevant, graded = of_groups.sum(axis=1), grades.tolist() != [1]
    return replace(
        profile, closer_relevant=before_groups(tied_relevant, profile.offsets), grades=grades,
        tied_relevant=tied_relevant, n_relevant=of_queries.sum(axis=1), gains=gains,
        tied_by_grade=of_groups if graded else None, relevant_by_grade=of_queries if graded else None,
        unjudged=unjudged, n_unjudged=n_unjudged, unjudged_gain=np.full(profile.n_query, float(gain)),
    )  # fmt: skip
