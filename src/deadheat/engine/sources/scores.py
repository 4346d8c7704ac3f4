"""`from_scores`: a matrix of scores and a matrix of relevance."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deadheat.engine.literals import ScoreTiesName
from deadheat.engine.profiles.gains import leveled
from deadheat.engine.sources.counted import CountedTask, SourceCounts
from deadheat.engine.sources.keyed import BLOCK_ENTRIES, JUNK, KeyedGroups, assemble, count_keys, keyed
from deadheat.engine.ties.rule import Ties
from deadheat.engine.ties.scores import ScoreTies
from deadheat.inputs import arrays
from deadheat.support import checks
from deadheat.support.arrays import Array, Bool, Float64, Int64, slices
from deadheat.support.floats import plain_floats
from deadheat.support.progress import Workers


@plain_floats
def from_scores(
    scores: ArrayLike,
    relevant: Any,
    *,
    order: Literal["descending", "ascending"] = "descending",
    junk: ArrayLike | None = None,
    ties: ScoreTiesName | Ties = "exact",
    threads: int | None = None,
) -> CountedTask:
    """Make a task of a matrix of scores and a matrix of relevance.

    Parameters
    ----------
    scores : (n_query, n_gallery) array of floats, integers or bool
        Up to 64 bits, in any byte and memory order. Finite, of either sign; anything under `junk`.
    relevant : (n_query, n_gallery) array or SciPy sparse matrix, bool, integers or floats
        The relevance of each item, whatever its score; numbers are gains, such as 2 or 0.25: 0 is irrelevant.
    order : {"descending", "ascending"}
        Whether the best score is the highest, or, as for distances, the lowest.
    junk : (n_gallery,) or (n_query, n_gallery) array of bool, optional
        Items that are neither ranked nor relevant: for every query, or pair by pair. By default there is none.
    ties : {"exact", "float16", "bfloat16", "float32", "float64"}, Rounded or Tolerance
        "exact": items tie if their scores are the same number. Otherwise each score is rounded to this type first,
        once, to nearest, or items tie within a `deadheat.Tolerance`, for bounds alone, in the unit of the scores.
    threads : int, optional
        Worker threads of every question. By default as many as this process may use.

    Returns
    -------
    CountedTask
        With `tied_by_grade` and `relevant_by_grade` if a grade other than 1 is given to an item that is not junk.

    Notes
    -----
    Ties: items tie when their scores are the same number, compared in the type they came in: int64 and uint64 never
    go through floats, and -0.0 ties with 0.0.

    Undefined: a query without a relevant item is a singleton, `n_relevant` 0, with no tie group.

    Examples
    --------
    One item in front, then two tied of which both are relevant: every order of the tie gives the same, AP = 7/12.

    >>> profile = from_scores([[2, 1, 1]], [[0, 1, 1]]).profile
    >>> profile.closer, profile.tied, profile.tied_relevant
    (array([1]), array([2]), array([2]))
    >>> from deadheat.measures import per_query
    >>> print(*(f"{value[0]:.4f}" for value in per_query(profile, "AP")))
    0.5833 0.5833 0.5833
    """
    settings = {"order": order, "junk": junk, "ties": ties, "threads": threads}
    matrix = arrays.scores(scores, "scores")
    return CountedTask("scores", _Scores(matrix, arrays.relevance(relevant, matrix.shape)), settings)


class _Scores(NamedTuple):
    scores: Array  # (n_query, n_gallery)
    grades: Any  # of the same shape, dense or sparse

    def counts(self, *, order: str, junk: Any, ties: Any, threads: int) -> SourceCounts:
        checks.choice(order, ("descending", "ascending"), "order")
        matrix, grades, gains, rule = self.scores, self.grades, None, ScoreTies.checked(ties)
        mask = arrays.junk_mask(junk, *matrix.shape)
        if grades.dtype.kind == "f":
            grades, gains = _leveled(grades, mask)
        grade_values = _grade_values(grades, mask)
        rule.require_ungraded(grade_values)

        def count_block(rows: slice) -> KeyedGroups:
            ignored = False if mask is None else mask if mask.ndim == 1 else mask[rows]
            arrays.require_counted(matrix[rows], ignored, "scores", rows.start)
            return count_keys(keyed(matrix[rows], order, rule), _block_of_grades(grades, mask, rows), grade_values)

        with Workers(threads) as workers:
            blocks = workers.each(count_block, _blocks(*matrix.shape))
        profile = assemble(blocks, grade_values, gains=gains, bounds_only=rule.bounds_only)
        return SourceCounts(profile, rule.describe())


def _blocks(n_query: int, n_gallery: int) -> list[slice]:
    return slices(n_query, max(1, BLOCK_ENTRIES // n_gallery))


def _leveled(gains: Any, junk: Bool | None) -> tuple[Any, Float64 | None]:
    """Return `leveled` of a matrix of gains, dense or sparse; those of junk are 0."""
    is_sparse = hasattr(gains, "tocoo")
    if is_sparse:
        entries = gains.tocoo()  # in the order of the data of `gains`
        query, item, given = entries.row, entries.col, entries.data.astype(np.float64)
    else:
        query, item = np.nonzero(gains)
        given = gains[query, item].astype(np.float64)
    if junk is not None:
        given[junk[item] if junk.ndim == 1 else junk[query, item]] = 0.0
    grade, table = leveled(query, given, gains.shape[0])
    grades: Any = gains.copy() if is_sparse else np.zeros(gains.shape, dtype=np.int64)
    if is_sparse:
        grades.data = grade
    else:
        grades[query, item] = grade
    return grades, table


def _block_of_grades(grades: Any, junk: Bool | None, rows: slice) -> Int64:
    """Return the grades of a block of rows, dense, and -1 for junk."""
    block = grades[rows]
    dense = block.toarray() if hasattr(block, "toarray") else block
    filled: Int64 = dense.astype(np.int64, order="C")
    if junk is not None:
        np.copyto(filled, JUNK, where=junk if junk.ndim == 1 else junk[rows])
    return filled


def _grade_values(grades: Any, junk: Bool | None) -> Int64:
    """Return the positive grades that occur outside the junk, ascending; 1 if there is none."""
    if grades.dtype == np.bool_:
        return np.ones(1, dtype=np.int64)
    values: set[int] = set()
    for rows in _blocks(*grades.shape):
        block = _block_of_grades(grades, junk, rows)
        highest = int(block.max())
        values |= {highest} if highest <= 1 else set(np.unique(block).tolist())
    return np.array(sorted(grade for grade in values if grade > 0) or [1], dtype=np.int64)
