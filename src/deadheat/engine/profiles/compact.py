"""The tie groups of many queries in few bytes: nearly all of them are one relevant item alone.

Of such a group only `closer` is kept, 4 bytes; of the others, `tied` and `tied_relevant` too. The four arrays of
a profile, 32 bytes a group, are written out for as many queries at a time as somebody looks at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import deadheat._core as _core
from deadheat.support.arrays import Int32, Int64


class CompactGroups(NamedTuple):
    """The groups of query i, nearest first, are at the places from starts[i] on, as many as lengths[i].

    Examples
    --------
    Two queries with two groups each; the first group of the second one is two relevant items among three:

    >>> closer, others = np.array([0, 3, 1, 4], dtype=np.int32), np.array([[2], [3], [2]])
    >>> groups = CompactGroups(np.array([0, 2]), np.array([2, 2]), closer, others)
    >>> closer, closer_relevant, tied, tied_relevant = groups.arrays(slice(1, 2))
    >>> closer, closer_relevant, tied, tied_relevant
    (array([1, 4]), array([0, 2]), array([3, 1]), array([2, 1]))
    """

    starts: Int64
    lengths: Int64
    closer: Int32
    others: Int64  # (3, n), of groups that are more than a relevant item: places, ascending, tied and tied_relevant

    def arrays(self, queries: slice | Int64, out: Int64 | None = None) -> Int64:
        """`closer`, `closer_relevant`, `tied` and `tied_relevant` of some queries, (4, n_group); in `out` if given."""
        n_group = int(self.lengths[queries].sum())
        out = np.empty((4, n_group), dtype=np.int64) if out is None else out[:, :n_group]
        self.write(queries, *out)
        return out

    def write(self, queries: slice | Int64, *arrays: Int64) -> None:
        _core.expand_groups(self.starts[queries], self.lengths[queries], self.closer, self.others, *arrays)

    def ties(self) -> tuple[int, int, int]:
        """How many groups are mixed, the queries that have one, and the items in the largest."""
        places, tied, _ = self.others[:, self.others[1] != self.others[2]]
        queries = np.searchsorted(self.starts, places, side="right") - 1
        return len(places), int(np.count_nonzero(np.bincount(queries))), int(tied.max(initial=0))

    @classmethod
    def others_of(cls, places: Int64, tied: Int64, tied_relevant: Int64) -> Int64:
        """What `others` has of some groups at ascending places."""
        more = (tied != 1) | (tied_relevant != 1)
        return np.stack([places[more], tied[more], tied_relevant[more]])
