"""Whole rankings with their exact ties: every gallery item of every query, nearest first, in tie groups.

In come embeddings; out come blocks of queries with all items in order and the number of the tie group of each. A
profile never needs this, and it costs a sort of the gallery for each query. What does need it looks at single items:
who collides with whom, what the order of the samples decides, who the k nearest are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import deadheat._core as _core
from deadheat.engine.counting.candidates import Relevance
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.problem import RankingProblem
from deadheat.engine.distances.distance import Distance
from deadheat.engine.ties.rule import Relevant, Ties
from deadheat.errors import InvalidValueError
from deadheat.inputs.samples import EmbeddingsLike
from deadheat.support import checks
from deadheat.support.arrays import Bool, Float64, Int64
from deadheat.support.floats import plain_floats
from deadheat.support.progress import Workers

BLOCK_ENTRIES = 1 << 20  # items of all rankings of a block


@dataclass(frozen=True)
class Ranked:
    """The rankings of some queries: gallery items nearest first, and those of one tie group by ascending index.

    Rows are as long as the gallery; they end with −1 for what is not ranked: itself (leave one out), and junk.
    """

    queries: Int64  # (n,)
    items: Int64  # (n, n_gallery)
    group: Int64  # (n, n_gallery), the number of each item's tie group, from 0 for the nearest


class Rankings:
    """Rankings of all queries, computed block by block when iterated.

    Parameters are those of `deadheat.profile`; but `ties` cannot be a tolerance, which has no tie groups, and `exclude`
    is rows of the gallery, (n_query,) int64, -1 for none.

    Examples
    --------
    Three points on a line; 1 and -1 are equally far from 0:

    >>> (block,) = Rankings([[0], [1], [-1]], distance="euclidean")
    >>> block.items[0], block.group[0]
    (array([ 1,  2, -1]), array([ 0,  0, -1]))
    >>> block.items[1], block.group[1]
    (array([ 0,  2, -1]), array([ 0,  1, -1]))
    """

    @plain_floats
    def __init__(
        self,
        embeddings: EmbeddingsLike,
        gallery: EmbeddingsLike | None = None,
        *,
        distance: str = "cosine",
        ties: str | Ties = "exact",
        junk: ArrayLike | None = None,
        exclude: Int64 | None = None,
        threads: int | None = None,
    ) -> None:
        options = CountingOptions.checked(distance=distance, ties=ties, junk=junk, exclude=exclude, threads=threads)
        if options.rule.bounds_only:
            raise InvalidValueError("ties", f"must have tie groups, but {ties!r} has none: its windows overlap")
        self.threads = options.threads
        self.metric = options.open(embeddings, gallery)
        self.n_query, self.n_gallery = self.metric.n_query, self.metric.n_gallery
        self.candidates = options.candidates(self.n_query, self.n_gallery, leave_one_out=gallery is None)
        of_query, of_item = (np.zeros(n, dtype=np.int64) for n in (self.n_query, self.n_gallery))
        # everything is relevant, so that everything is sorted
        self._problem = RankingProblem(self.metric, options.rule, Relevance(of_query, of_item, self.candidates))

    @cached_property
    def _pass(self) -> Any:
        return self._problem.in_core()

    def __iter__(self) -> Iterator[Ranked]:
        step = max(1, BLOCK_ENTRIES // self.n_gallery)
        blocks = [np.arange(i, min(i + step, self.n_query)) for i in range(0, self.n_query, step)]
        for start in range(0, len(blocks), self.threads):  # no more rankings at once than there are threads
            with Workers(self.threads) as workers:  # not while somebody else works on what is yielded
                ranked = workers.each(self._rank, blocks[start : start + self.threads])
            yield from ranked

    @plain_floats
    def _rank(self, queries: Int64) -> Ranked:
        relevant = Relevant(queries, *self._pass.relevant_items(queries))
        columns, group = sorted_columns(self.metric, self._problem.rule, relevant)
        items, numbers = np.full((2, len(queries), self.n_gallery), -1)
        excluded = self.candidates.excluded(queries)
        _core.expand(columns, group, *self._problem.items_of_columns, *excluded, items, numbers)
        return Ranked(queries, items, numbers)

    @plain_floats
    def closeness(self, ranked: Ranked) -> tuple[Float64, Float64]:
        """Bounds between which the exact closeness of every ranked item lies, NaN at the end of a row.

        Closeness is the cosine, the inner product, or minus the distance. The two bounds are one number for Hamming
        distance, and for city block and inner products of small multiples of a unit, such as integers.
        """
        metric = self._measuring
        valid = ranked.items >= 0
        rows = np.broadcast_to(ranked.queries[:, None], valid.shape)[valid]
        columns = metric.columns.column_of_item[ranked.items[valid]]
        score = metric.scores.pair_scores(rows, columns)
        exactly = metric.exact_values(score)
        low, high = np.full((2, *valid.shape), np.nan)
        if exactly is None:
            bound = metric.scores.pair_bounds(rows, columns, score)
            low[valid], high[valid] = metric.closeness(rows, score - bound, score + bound)
        else:
            low[valid] = high[valid] = exactly
        return low, high

    @cached_property
    def _measuring(self) -> Distance:
        return self.metric.measuring()


def sorted_columns(metric: Distance, rule: Ties, relevant: Relevant) -> tuple[Int64, Int64]:
    """The columns of each row, farthest first, and the number of each one's group, nearest 0; −1 in padding."""
    groups = rule.group(metric, relevant)
    columns, group = relevant.columns, groups.of_entry
    return columns, np.where(group >= 0, groups.n_group[:, None] - 1 - group, -1)


def nearest_groups(block: Ranked, k: int) -> Bool:
    """Which ranked items are at most as far as the k-th nearest of their row: at least k, and more where it ties.

    Where fewer than k are ranked, all of them are.

    Examples
    --------
    >>> import numpy as np
    >>> block = Ranked(np.array([0]), np.array([[3, 1, 2, 4]]), np.array([[0, 1, 1, 2]]))
    >>> nearest_groups(block, 2)
    array([[ True,  True,  True, False]])
    """
    checks.positive_integer(k, "k")
    n_ranked = (block.group >= 0).sum(axis=1)
    last = np.take_along_axis(block.group, np.minimum(k, n_ranked)[:, None] - 1, axis=1)
    return np.asarray((block.group >= 0) & (block.group <= last))
