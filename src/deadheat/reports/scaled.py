"""A measure with each query's value times a factor of its own: for those who divide by something else than we do."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deadheat.reports.result import Result
from deadheat.support.triple import Triple

Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScaledResult(Result):
    """A result made by `scaled`."""

    _of: Result = field(repr=False)
    _factors: Float64 = field(repr=False)

    @cached_property
    def std_per_query(self) -> Float64:
        return self._of.std_per_query * self._factors


def over_min_of_k_and_relevant(result: Result, k: int) -> Result:
    """A measure that divides by R, the number of relevant items, as those define it who divide by min(k, R).

    So sentence-transformers has its ``map@k``, and MTEB and BEIR their capped recall.

    Examples
    --------
    Of three relevant items, one is found, at rank 1. AP@1 is 1/3, and 1 for those who divide by min(1, 3):

    >>> from deadheat import TieProfile, measure
    >>> profile = TieProfile.from_groups([[(0, 0, 1, 1)]], n_ranked=[9], n_relevant=[3])
    >>> over_min_of_k_and_relevant(measure(profile, "mAP@1")["mAP@1"], 1).lower
    1.0
    """
    n_relevant = result._profile.n_relevant
    return scaled(result, n_relevant / np.minimum(k, np.maximum(n_relevant, 1)), f"{result.name} over min(k, R)")


def scaled(result: Result, factors: Float64, name: str) -> Result:
    """The values of queries times factors, (n_query,), none of them above 1."""
    values = Triple(*(np.minimum(values * factors, 1.0) for values in result.per_query))
    return ScaledResult(
        name, values, result.n_query, result.n_undefined, result._profile, result._averaging, result, factors
    )
