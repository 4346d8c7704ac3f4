"""What distances between rows of numbers share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

import deadheat._core as _core
from deadheat.engine.distances import centring, scaling
from deadheat.engine.distances.distance import Distance
from deadheat.engine.distances.patterns import Patterns
from deadheat.engine.distances.scaling import Rows
from deadheat.inputs.source import Source, fingerprint

_Result = TypeVar("_Result")


class Dense(Distance):
    """Distances between rows of numbers: the rows as they came, and the same multiplied so that they stay small."""

    takes = "numbers"
    zero_if_apart = False  # whether the score of rows without a common place is 0
    differences = False  # whether the distance depends on the differences of numbers alone
    key_kind: ClassVar[str]
    queries: Rows
    items: Rows

    def __init__(self, query: Source, gallery: Source) -> None:
        self.query_raw, self.gallery_raw = query, gallery
        self._given = query, gallery
        self.n_query, self.dim = query.shape

    def fingerprint(self, of_query: bool) -> str:
        return fingerprint(self._given[0 if of_query else 1]).hex()

    @cached_property
    def patterns(self) -> Patterns | None:  # type: ignore[override]
        rows = self.query_raw, self.gallery_raw
        return None if self.levels[-1].exact else Patterns.of(*rows, self.zero_if_apart, self.differences)

    @cached_property
    def _nonnegative(self) -> bool:
        """Whether no number of any row is negative."""
        return all(self.for_both(lambda raw: all(bool(rows.min() >= 0) for _, rows in raw.pieces())))

    def for_both(self, work: Callable[[Source], _Result]) -> tuple[_Result, _Result]:
        """What some work makes of the queries and of the gallery; done once where they are the same."""
        of_query = work(self.query_raw)
        return of_query, of_query if self.gallery_raw is self.query_raw else work(self.gallery_raw)

    def take_off_centre(self) -> None:
        """Take off all rows what they have in common: exactly, and only if it makes them small."""
        centre = centring.common_centre(self.query_raw, self.gallery_raw)
        if centre is not None:
            self.query_raw, self.gallery_raw = self.for_both(lambda source: centring.less(source, centre))

    def scale(self, limit: float) -> float:
        """Divide everything by one number, `unit`: such that integers up to `limit` are left, else a power of two.

        Returns the largest of the integers, infinity where there are none.
        """
        self.unit, largest = scaling.common_unit(self.query_raw, self.gallery_raw, limit)
        if largest == np.inf:
            self.unit = scaling.power_of_two(self.query_raw, self.gallery_raw)
        self.queries, self.items = self.for_both(lambda raw: Rows.over(raw, np.array([self.unit])))
        return largest

    @cached_property
    def exact(self) -> Any:
        return _core.ExactPairs(self.key_kind, self.query_raw, self.gallery_raw)
