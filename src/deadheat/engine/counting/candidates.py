"""Candidates of a query: the gallery items that are ranked for it, and those of them that are relevant.

For embeddings, junk and leave one out are decided here. Scores, links and neighbours of an index have no gallery rows;
their junk is masked where they are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.support.arrays import Array, Bool, Int64, slices
from deadheat.support.caching import cached_property

_PAIRS_AT_ONCE = 1 << 20  # of queries and items whose junk is examined together


class Candidates(NamedTuple):
    """The gallery items that are ranked for each query.

    Examples
    --------
    >>> candidates = Candidates.of(3, 3, junk=np.array([False, False, True]), leave_one_out=True)
    >>> candidates.n_ranked(), candidates.itself_of(np.array([2, 0]))
    (array([1, 1, 2]), array([2, 0]))
    """

    n_query: int
    ranked: Bool  # (n_gallery,), False for items that are junk to every query
    junk: Bool | None = None  # (n_query, n_gallery), items that are junk to one query
    itself: Int64 | None = None  # (n_query,), the gallery item that each query is, and that is not ranked for it, or −1
    symmetric: bool = False  # whether query i is gallery item i, so that all pairs come twice

    @classmethod
    def of(
        cls, n_query: int, n_gallery: int, junk: Bool | None = None, *, leave_one_out: bool, itself: Int64 | None = None
    ) -> Candidates:
        """Rank all items but `junk`, a mask over the gallery or over pairs, and under `leave_one_out` the query itself.

        With a separate gallery, `itself` is the gallery item that each query is, −1 for none.
        """
        of_all = junk is not None and junk.ndim == 1
        ranked = ~junk if of_all and junk is not None else np.ones(n_gallery, dtype=np.bool_)
        itself = np.arange(n_query) if leave_one_out else itself
        by_pair = None if of_all or junk is None else np.ascontiguousarray(junk)
        return cls(n_query, ranked, by_pair, itself, leave_one_out)

    def itself_of(self, queries: Int64) -> Int64:
        """Return the gallery item that each of these queries is, −1 for none."""
        return np.full(len(queries), -1) if self.itself is None else self.itself[queries]

    def left_out(self, queries: Int64, items: Int64) -> Bool:
        """Return which pairs of a query and an item are not ranked: the query itself, and junk."""
        left = (self.itself_of(queries) == items) | ~self.ranked[items]
        return left if self.junk is None else np.asarray(left | self.junk[queries, items])

    def ranked_itself(self, queries: Int64) -> tuple[Int64, Int64]:
        """Return the positions of the queries whose own item is ranked for other queries, and these items."""
        itself = self.itself_of(queries)
        position = np.flatnonzero((itself >= 0) & self.ranked[itself])
        return position, itself[position]

    def excluded(self, queries: Int64) -> tuple[Int64, Int64]:
        """Return the ranked items that do not count for each of these queries, ascending, in CSR form: itself and junk.

        With junk by pairs there can be many of them.
        """
        if self.junk is None:
            position, items = self.ranked_itself(queries)
            return np.searchsorted(position, np.arange(len(queries) + 1)), items
        itself, pairs = self.itself_of(queries), self.junk[queries]
        in_gallery = np.flatnonzero(itself >= 0)
        pairs[in_gallery, itself[in_gallery]] = True
        row, item = np.nonzero(pairs & self.ranked)
        return np.searchsorted(row, np.arange(len(queries) + 1)), np.ascontiguousarray(item)

    def excluded_pairs(self, queries: Int64) -> tuple[Int64, Int64]:
        """Return the same as pairs: positions in `queries`, and items."""
        starts, items = self.excluded(queries)
        return np.repeat(np.arange(len(queries)), np.diff(starts)), items

    def n_ranked(self) -> Int64:
        """Return the number of items ranked for each query, shape (n_query,)."""
        queries, n_ranked = np.arange(self.n_query), np.full(self.n_query, int(self.ranked.sum()))
        position, items = self.ranked_itself(queries)
        n_ranked[position] -= 1
        if self.junk is None:
            return n_ranked
        n_ranked[position] += self.junk[position, items]  # not twice
        for some in slices(self.n_query, max(1, _PAIRS_AT_ONCE // len(self.ranked))):
            n_ranked[some] -= np.count_nonzero(self.junk[some] & self.ranked, axis=1)
        return n_ranked


@dataclass(frozen=True)
class Relevance:
    """Relevance by label."""

    query_class: Int64  # (n_query,), −1 where no gallery item has the query's label
    gallery_class: Int64  # (n_gallery,)
    candidates: Candidates

    @property
    def sharing(self) -> Sharing | None:
        """This relevance, if it is by shared labels."""
        return None

    @property
    def n_class(self) -> int:
        return int(self.gallery_class.max()) + 1

    def members(self) -> tuple[Int64, Int64]:
        """Return the class of each ranked item: two arrays, the classes and the items."""
        items = np.flatnonzero(self.candidates.ranked)
        return self.gallery_class[items], items

    def with_relevant(self) -> Int64:
        """Return the queries that may have a relevant item."""
        return np.flatnonzero(self.query_class >= 0)

    def most_relevant(self) -> Int64:
        """Return the number of ranked items of each query's class, which bounds its tie groups."""
        size = np.bincount(self.members()[0], minlength=self.n_class)
        return np.where(self.query_class < 0, 0, size[self.query_class])

    def mean_relevant(self) -> float:
        """Estimate the mean number of relevant items over the queries queries."""
        asked = self.query_class[self.with_relevant()]
        return float(np.bincount(self.gallery_class)[asked].mean()) if len(asked) else 0.0

    @cached_property
    def class_size(self) -> Int64:
        """Gallery items, junk or not, in the class of each query; defined only if every query has a class."""
        return np.asarray(np.bincount(self.gallery_class)[self.query_class])


@dataclass(frozen=True)
class Judged(Relevance):
    """Relevance by judgement: each query has a class of its own, and an item may be in many of them or in none.

    `gallery_class` holds one class per item, so it is unused here and −1. No pair is one that is not ranked.
    """

    member_class: Int64  # (n_pair,), the query
    member_item: Int64  # (n_pair,), what is relevant to it

    @classmethod
    def of(cls, query: Int64, item: Int64, candidates: Candidates) -> Judged:
        """Return the relevance given by pairs of a query and an item, each pair listed once."""
        nobody = np.full(len(candidates.ranked), -1)
        return cls(np.arange(candidates.n_query), nobody, candidates, query, item)

    @property
    def n_class(self) -> int:
        return self.candidates.n_query

    def members(self) -> tuple[Int64, Int64]:
        ranked = self.candidates.ranked[self.member_item]
        return self.member_class[ranked], self.member_item[ranked]

    def with_relevant(self) -> Int64:
        return np.unique(self.member_class)

    def mean_relevant(self) -> float:
        return len(self.member_item) / max(1, len(self.with_relevant()))


@dataclass(frozen=True)
class Sharing(Relevance):
    """Relevance by a shared label, for passes that sort rows: the core looks at the labels of each pair.

    Classes are unused here.
    """

    labels: NDArray[np.uint64]  # (n_query, n_word), bits
    gallery_labels: NDArray[np.uint64]
    n_sharing: Int64  # (n_query,), items that share a label, ranked or not

    @classmethod
    def of(
        cls, labels: NDArray[np.uint64], gallery_labels: NDArray[np.uint64], n_sharing: Int64, candidates: Candidates
    ) -> Sharing:
        nobody = np.full(len(gallery_labels), -1)
        return cls(np.zeros(len(labels), dtype=np.int64), nobody, candidates, labels, gallery_labels, n_sharing)

    @property
    def sharing(self) -> Sharing:
        return self

    @property
    def n_class(self) -> int:
        return 1

    def members(self) -> tuple[Int64, Int64]:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)


def places_of(items: Array, index: Int64) -> Int64:
    """Return the position of each item in an ascending index, −1 for an item that is not in it."""
    position = np.minimum(np.searchsorted(index, items), len(index) - 1)
    return np.where(index[position] == items, position, -1)
