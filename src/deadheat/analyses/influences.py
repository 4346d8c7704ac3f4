"""Influences of the items of one pooled ranking on its AP and AUC, so that two rankings can be compared item by item.

In come keys and positives; out go the values of the measure without each item, and from these a value for each item.
Removing an item changes the counts of its own tie group and of all behind it, so that cumulative sums have every value.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from deadheat.support.arrays import Bool, Float64, Int64
from deadheat.support.triple import Triple


def influences(keys: Int64, positive: Bool, name: str) -> Triple[Float64]:
    """Return a value for each item whose mean is AP or AUC, and whose deviations are the effect of leaving it out.

    Parameters
    ----------
    keys, positive : (n,)
        The highest key is the best; two items of each class at least.
    name : {"AP", "AUC"}

    Returns
    -------
    Triple of (n,)
        v + (n − 1)(w − v_i), where v is the measure, v_i that without item i, and w the mean of all v_i. An item's
        lower value may be above its upper one; means are in order.

    References
    ----------
    B. Efron, The Jackknife, the Bootstrap and Other Resampling Plans, 1982, chapter 6. For AUC these are, up to the
    order of 1/n, the components of E. R. DeLong et al., Biometrics 44, 1988, and by groups those of N. A. Obuchowski,
    Biometrics 53, 1997.

    Examples
    --------
    AUC is 3/4. Without the positive that is behind a negative it is 1, and without the other one 1/2:

    >>> influences(np.array([4, 3, 2, 1]), np.array([True, False, True, False]), "AUC").lower
    array([1.5, 0. , 0. , 1.5])
    """
    ends = _without_each_ap(keys, positive) if name == "AP" else _without_each_auc(keys, positive)
    return Triple(*(whole + (len(keys) - 1) * (without.mean() - without) for whole, without in ends))


def _without_each_auc(keys: Int64, positive: Bool) -> list[tuple[float, Float64]]:
    """Return lower, expected and upper AUC, each with those without an item, (n,)."""
    behind = np.sort(keys[~positive]), np.sort(keys[positive])
    m, n = len(behind[1]), len(behind[0])
    ends = []
    for lost in (True, False):  # the ties
        first: Literal["left", "right"] = "left" if lost else "right"
        last: Literal["left", "right"] = "right" if lost else "left"
        of_negative = m - np.searchsorted(behind[1], keys, last)
        won = np.where(positive, np.searchsorted(behind[0], keys, first), of_negative)
        total = int(won[positive].sum())
        ends.append((total / (m * n), (total - won) / np.where(positive, (m - 1) * n, m * (n - 1))))
    (low, without_low), (high, without_high) = ends
    return [ends[0], ((low + high) / 2, (without_low + without_high) / 2), ends[1]]


def _without_each_ap(keys: Int64, positive: Bool) -> list[tuple[float, Float64]]:
    """Return lower, expected and upper AP, each with those without an item, (n,)."""
    best_first, of_positive = np.sort(-keys), np.sort(-keys[positive])
    level = np.unique(of_positive)
    closer, closer_relevant = np.searchsorted(best_first, level), np.searchsorted(of_positive, level)
    tied = np.searchsorted(best_first, level, "right") - closer
    relevant = np.searchsorted(of_positive, level, "right") - closer_relevant
    harmonic = np.append(0.0, np.cumsum(1 / np.arange(1, len(keys) + 1)))

    def sums(less: int, less_relevant: int, fewer: int, fewer_relevant: int) -> Float64:
        """Return the sum of precisions in each tie group, (3, n_level), with fewer items closer and in it."""
        c, cr, size, t = closer - less, closer_relevant - less_relevant, tied - fewer, relevant - fewer_relevant
        slope = (t - 1) / np.maximum(size - 1, 1)
        c, size = np.maximum(c, 0), np.maximum(size, 0)  # of the first group, which is never used
        last = c + size - t
        worst = t + (cr - last) * (harmonic[last + t] - harmonic[last])
        best = t + (cr - c) * (harmonic[c + t] - harmonic[c])
        mean = t / np.maximum(size, 1) * (
            slope * size + (cr + 1 - slope - slope * c) * (harmonic[c + size] - harmonic[c])
        )  # fmt: skip
        return np.stack([worst, mean, best])

    def up_to(rows: Float64) -> Float64:
        return np.concatenate([np.zeros((3, 1)), np.cumsum(rows, axis=1)], axis=1)

    whole, m = up_to(sums(0, 0, 0, 0)), len(of_positive)
    first, after = np.searchsorted(level, -keys), np.searchsorted(level, -keys, "right")
    without = whole[:, first]
    for relevant_one in (0, 1):
        chosen = positive == bool(relevant_one)
        later, own = up_to(sums(1, relevant_one, 0, 0)), up_to(sums(0, 0, 1, relevant_one))
        i, j = first[chosen], after[chosen]
        without[:, chosen] += own[:, j] - own[:, i] + later[:, -1:] - later[:, j]
    return [(float(total) / m, row / (m - positive)) for total, row in zip(whole[:, -1], without, strict=True)]
