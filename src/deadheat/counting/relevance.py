"""Which gallery items are ranked and which are relevant, for each query.

In come label codes, junk masks and whether it is leave one out; out goes a `Relevance`: the gallery's items by
class, from which each query's relevant items follow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Relevance:
    """Relevance by label.

    Parameters
    ----------
    query_class : (n_query,) int64
        The class of each query; −1 where no gallery item has its label.
    gallery_class : (n_gallery,) int64
    ranked : (n_gallery,) bool
        False for items that are junk to every query.
    junk : (n_query, n_gallery) bool, optional
        Items that are junk to one query.
    leave_one_out : bool
        Whether query i is gallery item i, and so is neither ranked nor relevant for itself.
    """

    query_class: Int64
    gallery_class: Int64
    ranked: NDArray[np.bool_]
    junk: NDArray[np.bool_] | None
    leave_one_out: bool

    @classmethod
    def by_label(
        cls, query_class: Int64, gallery_class: Int64, junk: NDArray[np.bool_] | None, leave_one_out: bool
    ) -> Relevance:
        """Relevant is what has the query's label; `junk` is a mask over the gallery, or over pairs."""
        everywhere = np.ones(len(gallery_class), dtype=np.bool_)
        ranked = ~junk if junk is not None and junk.ndim == 1 else everywhere
        return cls(
            query_class, gallery_class, ranked, junk if junk is not None and junk.ndim == 2 else None, leave_one_out
        )

    def excluded(self, queries: Int64) -> tuple[Int64, Int64]:
        """The ranked gallery items that do not count for each of these queries, in CSR form: itself, and its junk."""
        if self.junk is None:
            counts = self.ranked[queries] if self.leave_one_out else np.zeros(len(queries), dtype=np.bool_)
            return np.concatenate([[0], np.cumsum(counts)]), queries[counts]
        pairs = self.junk[queries]
        if self.leave_one_out:
            pairs[np.arange(len(queries)), queries] = True
        row, item = np.nonzero(pairs & self.ranked)
        return np.searchsorted(row, np.arange(len(queries) + 1)), item

    def n_ranked(self) -> Int64:
        """How many gallery items are ranked for each query, shape (n_query,)."""
        n_query, total = len(self.query_class), int(self.ranked.sum())
        counts = [np.diff(self.excluded(np.arange(i, min(i + 256, n_query)))[0]) for i in range(0, n_query, 256)]
        return np.asarray(total - np.concatenate(counts))
