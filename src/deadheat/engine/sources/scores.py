"""`from_scores`: scores and relevance, as matrices, as lists of different lengths, or as flat columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deadheat.engine.evaluable import Origin
from deadheat.engine.literals import ScoreTiesName
from deadheat.engine.profiles.gains import leveled
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.sources.counted import CountedTask
from deadheat.engine.sources.keyed import BLOCK_ENTRIES, JUNK, KeyedGroups, assemble, count_keys, keyed
from deadheat.engine.sources.score_lists import ScoreLists, rows_of_lists
from deadheat.engine.ties.rule import Ties
from deadheat.engine.ties.scores import ScoreTies
from deadheat.errors import InvalidValueError
from deadheat.inputs import arrays, conversion
from deadheat.inputs.row_columns import ColumnMap
from deadheat.support import checks
from deadheat.support.arrays import Array, Bool, Float64, Int64, slices
from deadheat.support.floats import plain_floats
from deadheat.support.progress import Workers


@plain_floats
def from_scores(
    scores: Any = None,
    relevant: Any = None,
    *,
    groups: ArrayLike | None = None,
    columns: ColumnMap | None = None,
    order: Literal["descending", "ascending"] = "descending",
    junk: ArrayLike | None = None,
    ties: ScoreTiesName | Ties = "exact",
    threads: int | None = None,
) -> CountedTask:
    """Make a task of scores and relevance: matrices, lists of different lengths, or flat columns with groups.

    Parameters
    ----------
    scores : (n_query, n_gallery) array of floats, integers or bool; or lists; or a table
        Up to 64 bits, in any byte and memory order. Finite, of either sign; anything under `junk`. A list for each
        query, of any length and also empty; or a dictionary of these by query; or (n,) with `groups`. Without
        `relevant`, a frame or a dictionary of columns with score, relevance and query. By default `relevant` is in
        rank order, best first, and nothing ties.
    relevant : array, SciPy sparse matrix or lists of bool, integers or floats, in the form of `scores`
        The relevance of each item, whatever its score; numbers are gains, such as 2 or 0.25: 0 is irrelevant.
    groups : (n,) integers or strings, or sizes, optional
        For flat columns, the query of each entry, as scikit-learn and XGBoost's ``qid`` have it; or, as in LightGBM,
        the sizes of queries that lie one after another. As many integers as there are scores are ids.
    columns : dict, optional
        The columns of a table that have no usual names: ``{"score": ..., "relevance": ..., "query": ...}``.
    order : {"descending", "ascending"}
        Whether the best score is the highest, or, as for distances, the lowest.
    junk : (n_gallery,) or (n_query, n_gallery) array of bool, or in the form of `scores`, optional
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

    Verdicts on what was retrieved for two queries, best first:

    >>> from_scores(relevant=[[0, 1], [1, 1, 0]]).profile.closer
    array([1, 0, 1])

    Flat columns, with the sizes of two queries:

    >>> task = from_scores([0.5, 0.5, 0.9], [1, 0, 1], groups=[2, 1])
    >>> task.profile.tied, task.profile.n_ranked
    (array([2, 1]), array([2, 1]))
    """
    settings = {"order": order, "junk": junk, "ties": ties, "threads": threads}
    lists = _lists(scores, relevant, groups, columns)
    if lists is not None:
        return CountedTask("scores", lists, settings)
    matrix = arrays.scores(scores, "scores")
    return CountedTask("scores", _Scores(matrix, arrays.relevance(relevant, matrix.shape)), settings)


def _lists(scores: Any, relevant: Any, groups: Any, columns: Any) -> ScoreLists | None:
    """Return what is no matrix: lists, flat columns or a table; None for a matrix."""
    if relevant is None:
        held = (
            isinstance(scores, Mapping) or getattr(scores, "column_names", getattr(scores, "columns", None)) is not None
        )
        if not held or groups is not None:
            raise InvalidValueError(
                "relevant", "must be given, unless scores is a table with columns of relevance and query"
            )
        return ScoreLists.of_table(scores, columns)
    if columns is not None:
        raise InvalidValueError("columns", "must be left out unless scores is a table, and relevant is left out")
    if groups is not None:
        return ScoreLists.of_flat(scores, relevant, groups)
    lists = rows_of_lists(relevant if scores is None else scores)
    if lists is not None or scores is None or isinstance(scores, Mapping):
        return ScoreLists.of_lists(scores, relevant)
    if not isinstance(scores, (list, tuple)) and conversion.n_dim(scores) == 1:
        rule = "must be two-dimensional (n_query, n_gallery), but has one dimension"
        raise InvalidValueError("scores", f"{rule}: groups= says which query each belongs to, [scores] makes them one")
    return None


class _Scores(NamedTuple):
    scores: Array  # (n_query, n_gallery)
    grades: Any  # of the same shape, dense or sparse

    def counts(self, *, order: str, junk: Any, ties: Any, threads: int) -> tuple[TieProfile, Origin]:
        checks.choice(order, ("descending", "ascending"), "order")
        matrix, grades, gains, rule = self.scores, self.grades, None, ScoreTies.checked(ties)
        mask = arrays.junk_mask(junk, *matrix.shape)
        if grades.dtype.kind == "f":
            grades, gains = _leveled(grades, mask)
        grade_values = _grade_values(grades, mask)
        rule.require_ungraded(grade_values)

        def count_block(rows: slice) -> KeyedGroups:
            ignored = False if mask is None else mask if mask.ndim == 1 else mask[rows]
            arrays.require_counted(matrix[rows], "scores", ignored, rows.start)
            return count_keys(keyed(matrix[rows], order, rule), _block_of_grades(grades, mask, rows), grade_values)

        with Workers(threads) as workers:
            blocks = workers.each(count_block, _blocks(*matrix.shape))
        profile = assemble(blocks, grade_values, gains=gains, bounds_only=rule.bounds_only)
        return profile, Origin(tie_rule=rule.describe())


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
