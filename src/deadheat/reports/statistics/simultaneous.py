"""Many paired tests on the same units at once: p-values adjusted by the joint distribution of all of them.

In come differences of the same independent units, a row a test; out go p-values. Holm's correction multiplies each
p-value, and a random permutation test has no small ones: for 16,000 pairs no difference could be significant. The
largest of all statistics under one and the same swap needs no such factor, and takes into account how much the tests
depend on each other.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]

_AT_ONCE = 1 << 22  # statistics computed in one go, so that memory stays flat


def step_down(differences: Float64, n_resamples: int, seed: int) -> Float64:
    """Two-sided p-values of the mean of each row, adjusted so that the chance of even one false finding is bounded.

    Parameters
    ----------
    differences : (n_test, n_unit)
        A swap changes the sign of a unit's differences in all tests. The statistic of a test is the sum of its
        differences, divided by their root sum of squares, which no swap changes.
    n_resamples : int
        Random swaps; every swap is tried instead where there are no more of them.
    seed : int

    Returns
    -------
    (n_test,)
        1 for a test whose differences are all 0.

    Notes
    -----
    The step-down procedure of the largest statistic. The bound is exact, for any number of units, if the differences of
    the tests whose hypothesis holds are jointly symmetric about 0.

    References
    ----------
    P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing, 1993, algorithm 4.1. J. P. Romano and M. Wolf,
    "Exact and Approximate Stepdown Methods for Multiple Hypothesis Testing", JASA 100(469), 2005.

    Examples
    --------
    Of the four pairs of opposite swaps of three units, one gives the first test's sum 3 √(1/3), and none the second's:

    >>> step_down(np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 0.0]]), 9999, 0)
    array([0.25, 1.  ])
    """
    n_test, n_unit = differences.shape
    sizes = np.sqrt((differences**2).sum(axis=1, keepdims=True))
    rows = np.divide(differences, sizes, out=np.zeros_like(differences), where=sizes > 0)
    observed = np.abs(rows.sum(axis=1))
    ascending = np.argsort(observed, kind="stable")
    rows, observed = rows[ascending], observed[ascending] - 2.0**-40 * np.sqrt(n_unit)  # equal, but for rounding
    exact = n_unit <= n_resamples.bit_length()  # a swap of all units changes no statistic
    n_swap = n_at_least = np.full(n_test, 0 if exact else 1)
    for signs in _every_swap(n_unit) if exact else _random_swaps(n_unit, n_resamples, max(1, _AT_ONCE // n_test), seed):
        largest = np.maximum.accumulate(np.abs(signs @ rows.T), axis=1)
        n_at_least = n_at_least + np.count_nonzero(largest >= observed, axis=0)
        n_swap = n_swap + len(signs)
    pvalues = np.empty(n_test)
    pvalues[ascending] = np.maximum.accumulate((n_at_least / n_swap)[::-1])[::-1]
    return pvalues


def _every_swap(n_unit: int) -> Iterator[Float64]:
    """The signs of the units, (64, n_unit) or fewer at once, the first of them always 1."""
    numbers = np.arange(1 << (n_unit - 1))
    for first in range(0, len(numbers), 64):
        bits = numbers[first : first + 64, None] >> np.arange(n_unit - 1) & 1
        yield np.concatenate([np.ones((len(bits), 1)), 1.0 - 2.0 * bits], axis=1)


def _random_swaps(n_unit: int, n_resamples: int, step: int, seed: int) -> Iterator[Float64]:
    rng = np.random.default_rng(seed)
    for first in range(0, n_resamples, step):
        size = min(step, n_resamples - first)
        bits = np.unpackbits(np.frombuffer(rng.bytes(-(-size * n_unit // 8)), np.uint8), count=size * n_unit)
        yield np.where(bits.reshape(size, n_unit), -1.0, 1.0)
