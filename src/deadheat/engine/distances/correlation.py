"""Pearson's correlation: the cosine of centred rows, where float64 holds them exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.engine.distances.cosine import Cosine
from deadheat.engine.distances.scaling import Derived
from deadheat.errors import InvalidValueError
from deadheat.inputs.source import Source
from deadheat.support.arrays import Float64


class Correlation(Cosine):
    """The cosine of the rows d x − Σx; a constant row has correlation 0 to everything."""

    name = "correlation"

    @classmethod
    def between(cls, query: Source, gallery: Source, exact_only: bool) -> Cosine:  # type: ignore[override]
        queries = Derived.of(query, centred, np.dtype(np.float64))
        items = queries if gallery is query else Derived.of(gallery, centred, queries.dtype)
        return Cosine.between(queries, items, exact_only)


def centred(rows: NDArray[Any]) -> Float64:
    """Return d x − Σx of each row, in units of the last bit that a number of the row has.

    Examples
    --------
    >>> centred(np.array([[0.5, 0.25, 0.0]]))
    array([[ 3.,  0., -3.]])
    """
    numbers, dim = rows.astype(np.float64), rows.shape[1]
    mantissa, exponent = np.frexp(numbers)
    digits = np.ldexp(mantissa, 53).astype(np.int64)
    last = np.where(digits == 0, 2**20, exponent - 53 + np.bitwise_count((digits & -digits) - 1)).min(axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.ldexp(numbers, -last[:, None])
        found: Float64 = dim * whole - whole.sum(axis=1, keepdims=True)
        if not max(dim * np.abs(whole).max(), np.abs(found).max()) <= 2.0**53:  # below which all sums are exact
            rule = "must have rows that float64 centres exactly, as d x - Σx, for distance 'correlation'"
            raise InvalidValueError("embeddings", f"{rule}: centre them yourself, and take 'cosine'")
    return found
