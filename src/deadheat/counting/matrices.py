"""Tie profiles of matrices of scores: in come numbers and what is relevant, out goes a `TieProfile`."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat import inputs
from deadheat.counting.keyed import KeyedGroups, assemble, count_keys, keys_of
from deadheat.profiles import TieProfile
from deadheat.support import checks
from deadheat.support.workers import Workers

Int64 = NDArray[np.int64]

BLOCK_ENTRIES = 1 << 18  # of the matrix in one block of rows: a few megabytes, whatever the matrix
_JUNK = -1


def profile_scores(
    scores: ArrayLike,
    relevant: Any,
    *,
    order: Literal["descending", "ascending"] = "descending",
    junk: ArrayLike | None = None,
    threads: int | None = None,
) -> TieProfile:
    """Count, for every query and every score at which it has a relevant item, what scores better and what is tied.

    Parameters
    ----------
    scores : (n_query, n_gallery) array of floats, integers or bool
        Up to 64 bits, in any byte and memory order. Finite, of either sign.
    relevant : (n_query, n_gallery) array or SciPy sparse matrix, bool or integers
        What is relevant, whatever its score; as integers, grades: 0 is irrelevant.
    order : {"descending", "ascending"}
        Whether the best score is the highest, or, as for distances, the lowest.
    junk : (n_gallery,) or (n_query, n_gallery) bool, optional
        Items that are neither ranked nor relevant, for every query alike or pair by pair.
    threads : int, optional
        Worker threads, for this call alone; by default as many as there are processors.

    Returns
    -------
    TieProfile
        With `tied_by_grade` and `relevant_by_grade` if a grade other than 1 is given to an item that is not junk.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule; the message names the argument, the rule and what came.

    Notes
    -----
    Ties: items tie when their scores are the same number, compared in the type they came in: int64 and uint64 never
    go through floats, and -0.0 ties with 0.0.

    Undefined: a query without a relevant item is a singleton, `n_relevant` 0, with no tie group.

    Examples
    --------
    One item in front, then two tied of which both are relevant: every order of the tie gives the same, AP = 7/12.

    >>> profile = profile_scores([[2, 1, 1]], [[0, 1, 1]])
    >>> profile.closer, profile.tied, profile.tied_relevant
    (array([1]), array([2]), array([2]))
    >>> from deadheat.measures import per_query
    >>> print(*(f"{value[0]:.4f}" for value in per_query(profile, "AP")))
    0.5833 0.5833 0.5833
    """
    checks.choice(order, ("descending", "ascending"), "order")
    n_thread = checks.thread_count(threads)
    matrix = inputs.scores(scores, "scores")
    grades = inputs.relevance(relevant, matrix.shape)
    mask = inputs.junk_mask(junk, *matrix.shape)
    grade_values = _grade_values(grades, mask)

    def count_block(rows: slice) -> KeyedGroups:
        return count_keys(keys_of(matrix[rows], order), _block_of_grades(grades, mask, rows), grade_values)

    with Workers(n_thread) as workers:
        return assemble(workers.each(count_block, _blocks(*matrix.shape)), grade_values)


def _blocks(n_query: int, n_gallery: int) -> list[slice]:
    """Rows, a block at a time."""
    step = max(1, BLOCK_ENTRIES // n_gallery)
    return [slice(start, start + step) for start in range(0, n_query, step)]


def _block_of_grades(grades: Any, junk: NDArray[np.bool_] | None, rows: slice) -> Int64:
    """The grades of a block of rows, dense, and -1 for junk."""
    block = grades[rows]
    dense = block.toarray() if hasattr(block, "toarray") else block
    filled: Int64 = dense.astype(np.int64, order="C")
    if junk is not None:
        np.copyto(filled, _JUNK, where=junk if junk.ndim == 1 else junk[rows])
    return filled


def _grade_values(grades: Any, junk: NDArray[np.bool_] | None) -> Int64:
    """The positive grades that occur outside the junk, ascending; 1 if there is none."""
    if grades.dtype == np.bool_:
        return np.ones(1, dtype=np.int64)
    values: set[int] = set()
    for rows in _blocks(*grades.shape):
        block = _block_of_grades(grades, junk, rows)
        highest = int(block.max())
        values |= {highest} if highest <= 1 else set(np.unique(block).tolist())
    return np.array(sorted(grade for grade in values if grade > 0) or [1], dtype=np.int64)
