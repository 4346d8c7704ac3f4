"""The relevant columns of a block of queries, with scores, and what of their content is counted by itself.

A column can hold items that do not count for a query (itself, junk) beside others that do. Such columns, and the
relevant ones, are left out of the tiles; what counts in them is placed singly. Junk can be half of all pairs, so it is
never listed as a whole: it is looked up tile by tile, and in the query's own class.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat import _core
from deadheat.counting.problem import RankingProblem
from deadheat.support.arrays import Bool, Float64, Int32, Int64
from deadheat.support.workers import go_on
from deadheat.ties import Groups, Member, Relevant

SMALL_CLASS = 256  # pairs below which a class is scored pair by pair
_SCORED_COLUMNS = 1024  # relevant columns that are scored at once
_FEW_OUTSIDE = 1 / 16  # of a class's columns: so few others cost less one by one than edges between all relevant ones


class Singles(NamedTuple):
    """Columns that are counted by themselves for some rows of a block, and how many items of each count."""

    row: Int64
    column: Int64
    weight: Int64


class RelevantItems(NamedTuple):
    """The relevant columns of a block, the columns that tiles leave out, ascending, and what counts in these.

    Junk outside the query's class is in none of the three: see `leave_out_junk` and `beside_junk`.
    """

    relevant: Relevant
    excluded_columns: Int32  # (n_row, most), padded with n_column
    singles: Singles


def relevant_items(problem: RankingProblem, queries: Int64) -> RelevantItems:
    """The relevant columns of some queries, once the items that do not count are taken out."""
    relevance, candidates = problem.relevance, problem.relevance.candidates
    classes = relevance.query_class[queries]
    columns, count, irrelevant = np.empty((3, len(queries), max(1, problem.width[queries].max())), dtype=np.int64)
    _core.relevant_columns(
        classes, problem.class_start, problem.class_keys, problem.class_count, problem.weight,
        columns, count, irrelevant,
    )  # fmt: skip
    row, items = candidates.ranked_itself(queries)
    column = problem.distance.columns.column_of_item[items]
    same_class = relevance.gallery_class[items] == classes[row]
    unlisted = np.empty(len(row), dtype=np.bool_)
    _core.take_out(row, column, same_class, columns, count, irrelevant, unlisted)
    if candidates.junk is not None:
        _core.take_out_junk(
            queries, candidates.junk, candidates.itself_of(queries), classes, relevance.gallery_class,
            *problem.items_of_columns, columns, count, irrelevant,
        )  # fmt: skip
    reduced = _reduced(problem, row[unlisted], column[unlisted])
    of_emptied = (np.empty(0, dtype=np.int64),) * 3
    if not problem.plain:  # where an item fills a column, nothing is beside it
        emptied = np.nonzero((count == 0) & (irrelevant > 0))
        of_emptied = emptied[0], columns[emptied], irrelevant[emptied]
        irrelevant[emptied] = 0
    score, bound = _relevant_scores(problem, queries, classes, columns, count > 0)
    singles = of_emptied if candidates.junk is not None else map(np.concatenate, zip(of_emptied, reduced, strict=True))
    return RelevantItems(
        Relevant(queries, columns, count, irrelevant, score, bound),
        _excluded_columns(columns, reduced, problem.n_column),
        Singles(*singles),
    )


def few_outside(problem: RankingProblem, queries: Int64, singles: Singles) -> Singles | None:
    """All columns outside the one class of some queries, if they are few, and nothing else is counted by itself."""
    classes = problem.relevance.query_class[queries]
    n_outside = problem.n_column - int(problem.width[queries[0]])
    if n_outside > _FEW_OUTSIDE * problem.n_column or len(singles.row) or (classes != classes[0]).any():
        return None
    if problem.relevance.candidates.junk is not None:
        return None
    start, stop = problem.class_start[classes[0] : classes[0] + 2]
    of_class = problem.class_keys[start:stop] - classes[0] * problem.n_column
    outside = np.delete(np.arange(problem.n_column), of_class)
    row, column = np.repeat(np.arange(len(queries)), n_outside), np.tile(outside, len(queries))
    return Singles(row, column, problem.weight[column].astype(np.int64))


def leave_out_junk(problem: RankingProblem, queries: Int64, columns: range, scores: NDArray[Any]) -> None:
    """Set to −infinity the scores of queries in a tile for the columns that hold what is junk to them."""
    junk = problem.relevance.candidates.junk
    if junk is None:
        return
    items, starts = problem.items_of_columns
    here = items[starts[columns.start] : starts[columns.stop]]
    _core.leave_out_junk(queries, junk, here, problem.distance.columns.column_of_item[here] - columns.start, scores)


def beside_junk(problem: RankingProblem, queries: Int64) -> Iterator[Singles]:
    """The columns outside a query's class that tiles left out for junk by pairs but that hold items that do count."""
    candidates = problem.relevance.candidates
    if candidates.junk is None or problem.weight.max(initial=0) < 2:
        return
    for some in candidates.pieces(queries):
        pointer, items = candidates.excluded(queries[some])
        row = np.repeat(np.arange(len(pointer) - 1), np.diff(pointer))
        column = problem.distance.columns.column_of_item[items]
        shared = problem.weight[column] > 1
        row, column = row[shared], column[shared]
        keys = problem.relevance.query_class[queries[some]][row] * problem.n_column + column
        place = np.minimum(np.searchsorted(problem.class_keys, keys), len(problem.class_keys) - 1)
        outside = problem.class_keys[place] != keys
        row, column, weight = _reduced(problem, row[outside], column[outside])
        yield Singles(row + some.start, column, weight)


def member_of(problem: RankingProblem, groups: Groups) -> Member:
    """The columns of members of groups, given their rows and numbers."""
    if groups.columns is not None:
        columns = groups.columns
        return lambda rows, numbers: columns[rows, numbers].astype(np.int64)
    queries = groups.rows
    ascending: dict[int, Int64] = {}  # the relevant columns of a row that was asked for, by score

    def members(rows: Int64, numbers: Int64) -> Int64:
        asked = np.unique(rows)
        unknown = asked[[row not in ascending for row in asked.tolist()]]
        if len(unknown):
            relevant = relevant_items(problem, queries[unknown]).relevant
            columns = relevant.columns[np.arange(len(unknown))[:, None], np.argsort(relevant.score, axis=1)]
            ascending.update(zip(unknown.tolist(), columns, strict=True))
        asked_for = zip(rows.tolist(), numbers.tolist(), strict=True)
        return np.array([ascending[row][number] for row, number in asked_for], dtype=np.int64)

    return members


def sharing(relevant: Relevant, groups: Groups) -> tuple[Int64, Int64, Int64, Int64]:
    """Irrelevant items that share a column with relevant ones: row, group, column, and how many."""
    if groups.of_entry is None:
        return (np.empty(0, dtype=np.int64),) * 4
    row, entry = np.nonzero(relevant.irrelevant > 0)
    return row, groups.of_entry[row, entry], relevant.columns[row, entry], relevant.irrelevant[row, entry]


def _reduced(problem: RankingProblem, row: Int64, column: Int64) -> Singles:
    """Columns outside a query's class that hold items that do not count, and how many in them do."""
    keys, taken = np.unique(row * problem.n_column + column, return_counts=True)
    row, column = np.divmod(keys, problem.n_column)
    return Singles(row, column, problem.weight[column] - taken)


def _excluded_columns(columns: Int64, reduced: Singles, n_column: int) -> Int32:
    """For each row the relevant and the reduced columns, ascending, padded with n_column."""
    row = reduced.row
    if not len(row):
        return columns.astype(np.int32)
    most = int(np.bincount(row).max())
    extra = np.full((len(columns), most), n_column)
    extra[row, np.arange(len(row)) - np.searchsorted(row, row)] = reduced.column
    return np.sort(np.concatenate([columns, extra], axis=1), axis=1).astype(np.int32)


def _relevant_scores(
    problem: RankingProblem, queries: Int64, classes: Int64, columns: Int64, valid: Bool
) -> tuple[Float64, Float64]:
    """Scores of the last level for the relevant columns, class by class, NaN in padding, and how much they err."""
    distance = problem.distance
    score, bound = np.empty((2, *columns.shape))
    last = len(distance.levels) - 1
    exact = distance.levels[last].exact
    heads = np.flatnonzero(np.diff(classes, prepend=-1, append=-1))
    small = np.zeros(len(queries), dtype=np.bool_)
    for begin, end in pairwise(heads.tolist()):
        width = int(problem.width[queries[begin]])
        if width * (end - begin) < SMALL_CLASS:
            small[begin:end] = True
            continue
        go_on()
        left = distance.query_rows(last, queries[begin:end])
        for start in range(0, width, _SCORED_COLUMNS):
            part = columns[begin, start : min(start + _SCORED_COLUMNS, width)]
            place = slice(begin, end), slice(start, start + len(part))
            score[place] = distance.tile(last, left, part)
            if not exact:
                bound[place] = distance.pair_bound(queries[begin:end, None], part[None, :], score[place])
    if small.any():
        row, entry = np.nonzero(valid & small[:, None])
        scores = distance.pair_scores(queries[row], columns[row, entry])
        score[row, entry] = scores
        if not exact:
            bound[row, entry] = distance.pair_bound(queries[row], columns[row, entry], scores)
    np.copyto(score, np.nan, where=~valid)
    if exact:
        bound[:] = 0
    else:
        np.copyto(bound, 0, where=~valid)
    return score, bound
