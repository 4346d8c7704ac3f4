"""Tie groups in few bytes: in come those of a query at a time, out go the arrays of a profile for some queries.

The core packs them (`src/core/counting/packed_groups.h`), most into one or two bytes; the arrays take 32 a group. Many
are in a temporary file, for which disk space is reserved before anything is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

import deadheat._core as _core
from deadheat.support import scratch
from deadheat.support.arrays import Int64, UInt8, offsets_of, pieces

AT_ONCE = 1 << 18  # groups that are unpacked at a time, and written or hashed


class PackedGroups(NamedTuple):
    """The tie groups of many queries: those of query i are in the bytes from `starts[i]` to `starts[i + 1]`.

    Examples
    --------
    Two queries with two groups each; the first group of the second one is two relevant items among three:

    >>> groups = PackedGroups.with_room(np.array([2, 2]), n_item=5)
    >>> groups.pack(np.array([0, 1]), np.array([2, 2]), *np.array([[0, 3, 1, 4], [1, 1, 3, 1], [1, 1, 2, 1]]))
    >>> closer, closer_relevant, tied, tied_relevant = groups.arrays(slice(1, 2))
    >>> closer, closer_relevant, tied, tied_relevant
    (array([1, 4]), array([0, 2]), array([3, 1]), array([2, 1]))
    >>> groups.ties()
    (1, 1, 3)
    """

    starts: Int64
    packed: UInt8
    n_group: Int64  # (n_query,), as are all below
    n_relevant: Int64  # relevant items in the groups
    n_mixed: Int64  # groups that hold relevant and irrelevant items
    largest: Int64  # items in the largest mixed group
    file: int  # that `packed` is mapped from, or −1

    @classmethod
    def with_room(cls, most_groups: Int64, n_item: int, overlapping: bool = False) -> PackedGroups:
        """Return no groups, and room for as many of each query, among so many ranked items.

        The groups of a tolerance are `overlapping`: an irrelevant item may be tied with all of them.

        Raises
        ------
        StorageError
            If there is no room for them.
        """
        starts = offsets_of(_most_bytes(most_groups, n_item, n_item * (most_groups if overlapping else 1)))
        (packed,) = scratch.arrays(1, int(starts[-1]), np.uint8)
        n_group, n_relevant, n_mixed, largest = np.zeros((4, len(most_groups)), dtype=np.int64)
        return cls(starts, packed, n_group, n_relevant, n_mixed, largest, scratch.descriptor_of(packed))

    @classmethod
    def joined(cls, parts: Sequence[PackedGroups]) -> PackedGroups:
        """Return the groups of the queries of several parts, one part after another, in memory."""
        begins = offsets_of(np.array([part.starts[-1] for part in parts]))
        starts = [part.starts[:-1] + begin for part, begin in zip(parts, begins[:-1], strict=True)]
        columns = (np.concatenate(column) for column in zip(*(part[1:6] for part in parts), strict=True))
        return cls._make([np.append(np.concatenate(starts), begins[-1]), *columns, -1])

    def parts(self, n: int) -> list[PackedGroups]:
        """Return the groups of n equal parts of the queries, once all are set."""
        parts, size = [], len(self.n_group) // n
        for queries in (slice(k * size, (k + 1) * size) for k in range(n)):
            starts = self.starts[queries.start : queries.stop + 1]
            own = [array[queries] for array in self[2:6]]
            parts.append(PackedGroups._make([starts - starts[0], self.packed[starts[0] : starts[-1]], *own, -1]))
        return parts

    def pack(self, queries: Int64, n_group: Int64, closer: Int64, tied: Int64, tied_relevant: Int64) -> None:
        """Set the groups of some queries, given one after another."""
        _core.pack_groups(self, queries, n_group, closer, tied, tied_relevant)

    def chosen(self, queries: Int64) -> PackedGroups:
        """Return the groups of some ascending queries, if there is room for these alone."""
        starts = np.append(self.starts[queries], self.starts[-1])
        n_group, n_relevant, n_mixed, largest = (array[queries] for array in self[2:6])
        return PackedGroups(starts, self.packed, n_group, n_relevant, n_mixed, largest, self.file)

    def arrays(self, queries: slice | Int64, out: Int64 | None = None) -> Int64:
        """Return closer, closer_relevant, tied and tied_relevant of some queries, (4, n_group); in `out` if given."""
        n_group = int(self.n_group[queries].sum())
        out = np.empty((4, n_group), dtype=np.int64) if out is None else out[:, :n_group]
        self.unpack(queries, out)
        return out

    def unpack(self, queries: slice | Int64, arrays: Sequence[Int64] | Int64) -> None:
        """Write these arrays."""
        numbers = np.arange(len(self.n_group))[queries]
        _core.unpack_groups(self, numbers, tuple(arrays))

    def column(self, number: int) -> Iterator[Int64]:
        """Yield one of these arrays of all queries, in pieces."""
        for queries in pieces(self.n_group, AT_ONCE):
            yield self.arrays(queries)[number]
            self.let_go(queries)

    def let_go(self, queries: slice) -> None:
        """Free the memory of groups that are on disk."""
        scratch.let_go(self.packed[self.starts[queries.start] : self.starts[queries.stop]])

    def ties(self) -> tuple[int, int, int]:
        """Count the mixed groups, the queries that have one, and the items in the largest."""
        return int(self.n_mixed.sum()), int(np.count_nonzero(self.n_mixed)), int(self.largest.max(initial=0))


def _most_bytes(n_group: Int64, n_item: int, n_tied: Int64 | int) -> Int64:
    """Bound the bytes of so many groups of each query: three numbers a group, of seven bits a byte.

    Numbers of more than j bytes are 2^7j at least, and their sums are bounded: of twice the irrelevant items between
    groups and one a group, of the irrelevant items tied with them, and of the relevant ones.
    """
    most = 3 * n_group
    for total in (2 * n_item + n_group, n_tied, n_item):
        for j in range(1, 5):
            most += np.minimum(n_group, total >> 7 * j)
    return most
