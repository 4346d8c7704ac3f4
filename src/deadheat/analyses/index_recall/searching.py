"""The exact search for some of the queries, and how much of what it finds each index has returned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from deadheat.counting.candidates import Candidates
from deadheat.counting.nearest import Nearest, nearest
from deadheat.distances import Distance
from deadheat.errors import InvalidValueError
from deadheat.inputs import neighbors
from deadheat.support.arrays import Float64, Int64
from deadheat.support.progress import Progress, Reporting


class Returned(NamedTuple):
    """What one index returned, as far as it counts."""

    query: Int64  # (n,), ascending
    item: Int64  # (n,)

    @classmethod
    def of(cls, candidates: Candidates, ids: Any, base_ids: Any, counts: Any, k: int, title: str) -> Returned:
        """Check what an index returned; no more than the first k items of each row count, and no query itself."""
        n_query = candidates.n_query
        rows = neighbors.id_rows(ids, title)
        if len(rows.lengths) != n_query:
            rule = f"must have a row for each query, but has {len(rows.lengths)} for {n_query} queries"
            raise InvalidValueError(title, rule)
        rows = rows.take(neighbors.filled(rows, counts, "counts"))
        items = neighbors.gallery_rows(rows, base_ids, len(candidates.ranked), title, ("base", "base_ids"))
        neighbors.require_distinct(rows, items, title)
        others = items != candidates.itself_of(np.arange(n_query))[rows.row]
        rows, items = rows.take(others), items[others]
        first = rows.place < k
        return cls(rows.row[first], items[first])


class Found(NamedTuple):
    """The recall of some queries."""

    by_id: Float64  # (n_index, 3, n_query): lower, expected, upper
    n_tied: int  # queries with a tie at the k-th place


class Search(NamedTuple):
    """A problem: queries and base, and what indexes returned."""

    distance: Distance
    candidates: Candidates
    k: int
    returned: Sequence[Returned]

    def of(self, queries: range, threads: int, progress: bool | Progress = False) -> Found:
        """Search for a range of the queries."""
        by_id, n_tied = np.full((len(self.returned), 3, len(queries)), np.nan), 0
        places, n_base = np.minimum(self.k, self.candidates.n_ranked()), self.distance.n_gallery
        with Reporting(progress, len(queries) * n_base, "searching") as report:
            for block in nearest(self.distance, self.candidates, self.k, threads, np.arange(*_ends(queries))):
                last, closer, tied = block.within(self.k)
                kept = places[block.queries] - closer  # of the tied items, by an exact search
                n_tied += int(np.count_nonzero(tied > kept))
                for values, ids in zip(by_id, self.returned, strict=True):
                    values[:, block.queries - queries.start] = self._recall(ids, block, last, tied, closer, kept)
                report(len(block.queries) * n_base)
        return Found(by_id, n_tied)

    def _recall(
        self, ids: Returned, block: Nearest, last: Int64, tied: Int64, closer: Int64, kept: Int64
    ) -> tuple[Float64, Float64, Float64]:
        """Lower, expected and upper value of the queries of a block, whose k-th nearest are in the group `last`."""
        here, n = slice(*np.searchsorted(ids.query, (block.queries[0], block.queries[-1] + 1))), len(block.queries)
        row, column = ids.query[here] - block.queries[0], self.distance.columns.column_of_item[ids.item[here]]
        group = block.groups_of(row, column)
        found = np.bincount(row[group < last[row]], minlength=n)
        of_tied = np.bincount(row[group == last[row]], minlength=n)
        with np.errstate(invalid="ignore", divide="ignore"):
            lower = (found + np.maximum(0, of_tied + kept - tied)) / (closer + kept)
            expected = (found + of_tied * kept / tied) / (closer + kept)
            return lower, expected, (found + np.minimum(of_tied, kept)) / (closer + kept)


def _ends(queries: range) -> tuple[int, int]:
    return queries.start, queries.stop
