"""What the numbers of the embeddings look like: in comes a source, read in pieces; out go counts and row numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deadheat.audits.submission import limits
from deadheat.distances.columns import Columns
from deadheat.inputs.sources import Source
from deadheat.support.arrays import Bool, Int64


@dataclass(frozen=True, eq=False)
class Dimensions:
    """The dimensions, (dim,) each; `levels` and `at_end` come from a sample of different rows.

    Attributes
    ----------
    dead : bool
        Whether all rows have one number.
    levels : int
        Distinct numbers other than zero.
    filled : int
        Rows of the sample with a number other than zero.
    at_end : float
        The larger share of the sample that has exactly the largest number, or the smallest; but not where that is zero.
    """

    dead: Bool
    levels: Int64
    filled: Int64
    at_end: NDArray[np.float64]
    n_sampled: int

    @property
    def few_levels(self) -> Bool:
        """Where numbers are so few that they came again and again."""
        seen_again = self.filled >= limits.SEEN_AGAIN * self.levels
        return np.asarray(~self.dead & seen_again & (self.levels < limits.FEW_LEVELS))


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one set of embeddings.

    Attributes
    ----------
    zero, faint, constant : (k,)
        The rows that are zero throughout; those that are not, but shorter than the precision of float32 times the mean
        length; and those that are one number throughout other than zero.
    across, inside : (k,)
        The rows that have an equal row of another class, or of their own; zero rows do not count.
    n_distinct : int
        Distinct rows.
    largest : int
        How many rows the most frequent one stands for.
    length : float
        The mean norm, to the nearest power of two: city block's norm or, for any other distance, Euclid's.
    """

    n: int
    dim: int
    zero: Int64
    faint: Int64
    constant: Int64
    across: Int64
    inside: Int64
    n_distinct: int
    largest: int
    length: float
    dimensions: Dimensions


def look_at(source: Source, codes: Int64, distance: str) -> Rows:
    """Look at all rows, which have classes by number; under cosine positive multiples are equal.

    Examples
    --------
    >>> from deadheat.inputs.sources import Array
    >>> points = Array(np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0], [1.0, 2.0]]))
    >>> rows = look_at(points, np.array([0, 1, 0, 1]), "euclidean")
    >>> rows.zero, rows.across, rows.inside
    (array([2]), array([0, 1, 3]), array([1, 3]))
    """
    columns = Columns.of(source, distance == "cosine")
    norms, constant, low, high = _scanned(source, 1 if distance == "cityblock" else 2)
    zero, mean = norms == 0, float(np.mean(norms))
    across, inside = _duplicates(columns.column_of_item, codes, zero)
    sizes = np.bincount(columns.column_of_item)
    return Rows(
        *source.shape, np.flatnonzero(zero), np.flatnonzero(~zero & (norms < limits.PRECISION * mean)),
        np.flatnonzero(constant & ~zero), across, inside, len(columns), int(sizes.max()),
        2.0 ** round(math.log2(mean)) if 0 < mean < math.inf else mean, _dimensions(source, columns, low == high),
    )  # fmt: skip


def _scanned(source: Source, order: int) -> tuple[NDArray[np.float64], Bool, NDArray[np.float64], NDArray[np.float64]]:
    """Norms of rows, and which are one number throughout, (n,); the least and largest number of each dimension."""
    n, dim = source.shape
    norms, constant = np.empty(n), np.empty(n, dtype=np.bool_)
    low, high = np.full(dim, np.inf), np.full(dim, -np.inf)
    for start, rows in source.pieces():
        part = slice(start, start + len(rows))
        peaks = np.abs(rows.astype(np.float64)).max(axis=1)  # no square overflows, or vanishes
        norms[part] = peaks * np.linalg.norm(rows / np.where(peaks, peaks, 1)[:, None], order, axis=1)
        constant[part] = (rows == rows[:, :1]).all(axis=1) if dim > 1 else False
        low, high = np.minimum(low, rows.min(axis=0)), np.maximum(high, rows.max(axis=0))
    return norms, constant, low, high


def _duplicates(column: Int64, codes: Int64, zero: Bool) -> tuple[Int64, Int64]:
    """The rows that are not alone in their column: with another class in it, and with others of their own class."""
    of_both, place = np.unique(column * (int(codes.max()) + 1) + codes, return_inverse=True)
    of_column = np.bincount(column)[column]
    of_own = np.bincount(place, minlength=len(of_both))[place]
    return np.flatnonzero((of_column > of_own) & ~zero), np.flatnonzero((of_own > 1) & ~zero)


def _dimensions(source: Source, columns: Columns, dead: Bool) -> Dimensions:
    """What a sample of different rows says of the dimensions."""
    most = max(1, limits.SAMPLE_NUMBERS // source.shape[1])
    n_sampled = min(most, len(columns))
    picked = columns.item_of_column[np.linspace(0, len(columns) - 1, n_sampled).astype(np.int64)]
    values = np.sort(source.take(np.sort(picked)), axis=0)
    first = np.vstack([np.ones((1, values.shape[1]), dtype=np.bool_), values[1:] != values[:-1]])
    filled = values != 0
    at_end = [np.where(end != 0, (values == end).mean(axis=0), 0.0) for end in (values[0], values[-1])]
    return Dimensions(dead, (first & filled).sum(axis=0), filled.sum(axis=0), np.maximum(*at_end), n_sampled)
