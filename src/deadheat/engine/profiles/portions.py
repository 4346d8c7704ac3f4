"""Portions of a tie profile, and their sum.

A portion has the tie groups of some queries: all of their relevant items, and the irrelevant items of some columns of
the gallery. Irrelevant items that are closer or tied add up over portions; these are integers, so their order does not
matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.engine.profiles.packed import AT_ONCE, PackedGroups
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.support import checks
from deadheat.support.arrays import Array, Bool, Int64, pieces


@dataclass(frozen=True, eq=False, repr=False)
class Portion:
    """Portion `number` of `n` of a tie profile, from `Task.portion`; `TieProfile.from_portions` adds them.

    It can be pickled.
    """

    number: int
    n: int
    n_query: int  # of the whole profile
    n_item: int
    bounds_only: bool
    queries: Int64  # that have groups here, ascending
    groups: PackedGroups  # of these queries
    n_ranked: Int64  # of all queries, (n_query,), in portion 0; empty in the others

    def arrays(self) -> dict[str, Array]:
        """Return all fields as arrays, for a file; ``Portion.of_arrays`` reads them."""
        fields = vars(self) | self.groups._asdict()
        return {name: np.asarray(value) for name, value in fields.items() if name not in ("groups", "file")}

    @classmethod
    def of_arrays(cls, arrays: dict[str, Array]) -> Portion:
        values: dict[str, Any] = {name: array if array.ndim else array.item() for name, array in arrays.items()}
        groups = PackedGroups(**{name: values.pop(name, -1) for name in PackedGroups._fields})  # not in a file
        return cls(groups=groups, **values)

    def __repr__(self) -> str:
        return f"Portion({self.number} of {self.n}: {len(self.queries):,} of {self.n_query:,} queries)"


class Sums:
    """The sum of portions. `most_groups` bounds the tie groups of each query, (n_query,)."""

    def __init__(self, most_groups: Int64, n_item: int, bounds_only: bool) -> None:
        self._n_item, self._bounds_only = n_item, bounds_only
        self._known: Bool = np.zeros(len(most_groups), dtype=np.bool_)
        self._n_ranked: Int64 | None = None
        self.groups = PackedGroups.with_room(most_groups, n_item, bounds_only)

    def add(self, portion: Portion) -> None:
        """Add a portion.

        Raises
        ------
        ValueError
            If it does not fit those before.
        """
        whole = len(self._known), self._n_item, self._bounds_only
        if (portion.n_query, portion.n_item, portion.bounds_only) != whole:
            raise InvalidValueError("portions", "must be of one task, but differ in their queries, items or ties")
        copied: Any = {name: np.array(array) for name, array in portion.groups._asdict().items() if name != "file"}
        self.add_groups(portion.queries, PackedGroups(**copied, file=-1))  # Ray's arrays are read-only
        if len(portion.n_ranked):
            self._n_ranked = portion.n_ranked

    def add_groups(self, queries: Int64, groups: PackedGroups) -> None:
        """Add the groups of these queries."""
        for some in pieces(groups.n_group, AT_ONCE):
            here, n_group, counts = queries[some], groups.n_group[some], groups.arrays(some)
            again = self._known[here]
            if again.any():
                before, both = self.groups.arrays(here[again]), np.repeat(again, n_group)
                if not np.array_equal(before[1::2], counts[1::2, both]):  # relevant items
                    raise InvalidValueError("portions", "must agree on the tie groups of a query, but two do not")
                counts[::2, both] += before[::2] - before[1::2]
            self.groups.pack(here, n_group, counts[0], counts[2], counts[3])
        self._known[queries] = True

    def portion(self, number: int, n: int, n_ranked: Int64) -> Portion:
        """Return this sum as a portion; there is room for its queries alone."""
        queries = np.flatnonzero(self._known)
        groups = self.groups.chosen(queries)._replace(packed=np.array(self.groups.packed), file=-1)
        return Portion(number, n, len(self._known), self._n_item, self._bounds_only, queries, groups, n_ranked)

    def total(self) -> tuple[PackedGroups, Int64, bool]:
        """Return the groups, `n_ranked` and `bounds_only` of the profile."""
        assert self._n_ranked is not None
        return self.groups, self._n_ranked, self._bounds_only


def add_up(portions: object) -> tuple[PackedGroups, Int64, bool]:
    """Return the total of all portions of a task."""
    given: list[Portion] = checks.listed(portions, "portions", "a list of portions")
    odd = [value for value in given if not isinstance(value, Portion)]
    if odd or not given:
        rule = "must be the portions of one task, from Task.portion(number, n)"
        raise InvalidTypeError("portions", f"{rule}, but has {checks.shown(odd[0]) if odd else 'none'}")
    first, numbers = given[0], [portion.number for portion in given]
    if any((portion.n, portion.n_query) != (first.n, first.n_query) for portion in given):
        problem = "were cut differently"
    elif sorted(numbers) == [*range(first.n)]:
        sums = Sums(_most_groups(given), first.n_item, first.bounds_only)
        for portion in given:
            sums.add(portion)
        return sums.total()
    else:
        problem = "one comes twice" if len({*numbers}) < len(numbers) else f"are {len(numbers)} of {first.n}"
    raise InvalidValueError("portions", f"must be all portions of one task, each once, but {problem}")


def _most_groups(portions: list[Portion]) -> Int64:
    most = np.zeros(portions[0].n_query, dtype=np.int64)
    for portion in portions:
        most[portion.queries] = portion.groups.n_group
    return most
