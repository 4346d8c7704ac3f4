"""Pairs of embeddings: the rows that pairs of ids stand for, and the exact order of pairs by their closeness.

In come rows and their ids, or a matrix of scores and the people of its columns, perhaps several for one person, whose
maximum or mean counts; out go the rows of each pair of ids, or a score for each person. Pairs of rows get their ranks:
equal pairs are counted once, float64 with a proven error bound decides nearly all others, and pairs whose intervals
overlap form runs, which are compared as exact numbers with a pivot of their run, until only ties are left.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np

from deadheat.engine import exact
from deadheat.engine.distances.distance import Distance
from deadheat.engine.exact import Roots
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import conversion
from deadheat.inputs.labels import label_codes, labels
from deadheat.inputs.samples import open_rows
from deadheat.support import checks
from deadheat.support.arrays import Array, Float64, Int64, offsets_of, slices

_AT_ONCE = 1 << 15  # pairs

Templates = Literal["max", "mean"]


def templates_of(templates: Any) -> Templates | None:
    """Check the option; None refuses a person with several templates."""
    if templates is not None:
        checks.choice(templates, get_args(Templates), "templates")
    return templates  # type: ignore[no-any-return]


def rows_of_ids(embeddings: Any, ids: Any) -> tuple[Any, Array]:
    """Return embeddings and the id of each row; a dictionary has a row, or a matrix of rows, for each id."""
    if not isinstance(embeddings, Mapping):
        rows = open_rows(embeddings, "embeddings")
        return rows, labels(ids, len(rows), "ids", "embeddings")
    if ids is not None:
        raise InvalidValueError("ids", "must be left out where embeddings are a dictionary by id")
    parts = [np.atleast_2d(conversion.plain(each, f"embeddings[{key!r}]")) for key, each in embeddings.items()]
    if not parts or any(part.ndim != 2 or part.shape[1] != parts[0].shape[1] for part in parts):
        raise InvalidValueError("embeddings", "must have a row, or a matrix of rows, of one dim for each id")
    listed = [key for key, part in zip(embeddings, parts, strict=True) for _ in part]
    return np.concatenate(parts), labels(listed, len(listed), "embeddings", "embeddings")


class IdPairs:
    """The pairs of rows that pairs of ids stand for."""

    def __init__(self, embeddings: Any, ids: Array, wanted: Array, templates: Templates | None) -> None:
        try:
            code, own = label_codes(wanted, ids)
        except InvalidTypeError:
            rule = f"must have ids of the kind of the embeddings', but they have dtypes {wanted.dtype} and {ids.dtype}"
            raise InvalidTypeError("pairs", rule) from None
        lacking = list(dict.fromkeys(wanted[code < 0].tolist()))
        if lacking:
            rule = f"must hold ids of embeddings, but {checks.few(lacking)} have none"
            raise InvalidValueError("pairs", f"{rule}; an id that has one is {ids.tolist()[0]!r}")
        self.embeddings, order, count = embeddings, np.argsort(own, kind="stable"), np.bincount(own)
        if count.max() > 1 and templates is None:
            twice = ids.tolist()[np.argmax(count[own] > 1)]
            rule = f"must be 'max' or 'mean' where an id has several embeddings, as {twice!r} has {count.max()}"
            raise InvalidValueError("templates", rule)
        if templates == "mean":
            self.embeddings, order, count = _means(embeddings, order, count), np.arange(len(count)), np.ones_like(count)
        (left, right), starts = code.reshape(2, -1), offsets_of(count)
        n_pair = count[left] * count[right]
        self.offsets = offsets_of(n_pair)
        number = np.arange(self.offsets[-1]) - np.repeat(self.offsets[:-1], n_pair)
        across = np.repeat(count[right], n_pair)
        of_left, of_right = (np.repeat(starts[each], n_pair) for each in (left, right))
        self.rows = np.stack([order[of_left + number // across], order[of_right + number % across]], axis=1)

    def best(self, ranks: Int64) -> Int64:
        """Return the highest rank of the rows of each pair of ids."""
        return np.maximum.reduceat(ranks, self.offsets[:-1])


def _means(embeddings: Any, order: Int64, count: Int64) -> Array:
    """Return the mean of the rows of each id: sums that are rounded once, to float64, divided by their number."""
    rows = np.asarray(open_rows(embeddings, "embeddings").whole(), dtype=np.float64)
    ends = offsets_of(count).tolist()
    means = [
        rows[order[start]] if stop - start == 1
        else [math.fsum(column) / (stop - start) for column in rows[order[start:stop]].T.tolist()]
        for start, stop in pairwise(ends)
    ]  # fmt: skip
    return np.array(means)


def of_people(scores: Array, people: Int64, templates: Templates | None, order: str) -> Array:
    """Return the score of each person, (n_probe, n_person), from those of the person's images, (n_probe, n_gallery)."""
    count = np.bincount(people)
    if count.max() == 1:
        return scores[:, np.argsort(people)]
    if templates is None:
        rule = f"must be 'max' or 'mean' where a person has several columns, as one has {count.max()}"
        raise InvalidValueError("templates", rule)
    by_person, starts = scores[:, np.argsort(people, kind="stable")], offsets_of(count)
    if templates == "max":  # of the closest image, whatever the order
        return (np.maximum if order == "descending" else np.minimum).reduceat(by_person, starts[:-1], axis=1)
    ends = starts.tolist()
    return np.array([
        [math.fsum(row[start:stop]) / (stop - start) for start, stop in pairwise(ends)]
        for row in by_person.tolist()
    ])  # fmt: skip


def ranks_of_pairs(metric: Distance, pairs: Int64) -> tuple[Int64, Float64]:
    """Return the rank of each pair, (n_pair,), 0 for the farthest and equal for ties, and the closeness of each rank.

    The closeness is rounded down, so that a threshold there accepts the pairs of the rank.
    """
    columns = np.sort(metric.columns.column_of_item[pairs], axis=1)
    distinct, pair = np.unique(columns, axis=0, return_inverse=True)
    left, right = metric.columns.item_of_column[distinct[:, 0]], np.ascontiguousarray(distinct[:, 1])
    low, high = np.concatenate([_bounds(metric, left[some], right[some]) for some in slices(len(left), _AT_ONCE)], 1)
    order = np.argsort(low)
    starts = np.append(True, low[order][1:] > np.maximum.accumulate(high[order])[:-1])  # of runs that overlap
    run = np.empty(len(order), dtype=np.int64)
    run[order] = np.cumsum(starts) - 1
    shared = np.flatnonzero(np.bincount(run)[run] > 1)
    run *= len(run)
    if len(shared):
        run[shared] += _ranks_in_runs(metric.exact_closeness(left[shared], right[shared]), run[shared])
    _, first, rank = np.unique(run, return_index=True, return_inverse=True)
    closeness = metric.exact_closeness(left[first], right[first])
    return rank[pair.ravel()], exact.round_down(closeness, low[first], high[first])


def _bounds(metric: Distance, left: Int64, right: Int64) -> tuple[Float64, Float64]:
    score = metric.scores.pair_scores(left, right)
    known = metric.exact_values(score)
    bound = 0.0 if known is not None else metric.scores.pair_bounds(left, right, score)
    return (known, known) if known is not None else metric.closeness(left, score - bound, score + bound)


def _ranks_in_runs(roots: Roots, run: Int64) -> Int64:
    """Rank numbers by run and by size in each, equal for equal numbers: a quicksort of all runs at once."""
    rank, left = run, np.arange(len(run))
    while len(left):
        _, group, size = np.unique(rank[left], return_inverse=True, return_counts=True)
        pivot = left[np.argsort(group, kind="stable")[np.cumsum(size) - size // 2 - 1]]
        step = np.zeros(len(rank), dtype=np.int64)
        step[left] = order = roots.compare(left, roots, pivot[group])
        rank, left = np.unique(3 * rank + step, return_inverse=True)[1], left[order != 0]
    return rank
